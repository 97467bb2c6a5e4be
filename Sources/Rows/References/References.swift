import SatchelCapture
import SatchelSQLite
import SatchelValues

/// Finds rows along one foreign key. The statement is prepared at its first use, because the parent table may be
/// missing.
///
/// If the app's schema has no index for the lookup, each lookup reads the whole table. So after `lookupsBeforeIndex`
/// lookups in a transaction, a `ReferenceIndex` is made for the rest of the transaction.
public final class ReferenceLookup {
  public let key: ForeignKey
  /// The table with the foreign key.
  public let child: Name
  /// The part of the statement after its columns.
  private let source: String
  private var prepared: KeptStatement?
  /// nil if the table is not in the dataset. Its writes are not reported, so it can have no `ReferenceIndex`.
  private let lookup: LookupColumns?
  /// The row that each lookup leaves out.
  private let own: ReferenceIndex.OwnRow
  /// The transaction to which `lookups` and `index` belong; nil before the first lookup.
  private var transaction: Int?
  private var lookups = 0
  private var index: ReferenceIndex?

  /// The number of lookups in a transaction before the index is made. An index costs as much as some tens of lookups.
  public static let lookupsBeforeIndex = 50

  private init(
    _ key: ForeignKey, child: Name, from source: String, _ lookup: LookupColumns?, own: ReferenceIndex.OwnRow
  ) {
    self.key = key
    self.child = child
    self.source = source
    self.lookup = lookup
    self.own = own
  }

  /// A lookup of the parent of a row, by the values of the foreign key's columns.
  /// - Parameter parent: the schema of the parent table; nil if the table is not in the dataset.
  public static func parent(
    along key: ForeignKey, of child: TableSchema, to parent: TableSchema? = nil
  ) -> ReferenceLookup {
    let condition = key.parentColumns.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")
    let columns = key.parentColumns.compactMap { parent?.position(of: $0) }
    let lookup =
      columns.count == key.parentColumns.count
      ? parent.map { LookupColumns(table: $0, columns: columns, collations: columns.map { _ in nil }) } : nil
    return ReferenceLookup(
      key, child: child.name, from: "FROM \(quoted(key.parent)) WHERE \(condition)", lookup, own: .none)
  }

  /// A lookup of the rows that refer to a row. Its arguments are the values of the parent's columns. SQLite compares
  /// them by the parent's collation. If a table refers to itself, the row's primary key follows, and the lookup
  /// leaves this row out, because a row may refer to itself.
  public static func children(along key: ForeignKey, of child: TableSchema, to parent: TableInfo) -> ReferenceLookup {
    let lookup = LookupColumns(
      table: child, columns: key.columns, collations: key.parentColumns.map { collation(of: $0, in: parent) })
    let own: ReferenceIndex.OwnRow = key.parent == child.name ? .byKey : .none
    return ReferenceLookup(
      key, child: child.name,
      from: "FROM \(quoted(child.name)) WHERE \(lookup.condition(from: 1))"
        + (own == .byKey ? " AND NOT (\(lookup.isKey(from: key.columns.count + 1)))" : ""), lookup, own: own)
  }

  /// The collation of the UNIQUE index over a column; nil if the index compares bytes.
  private static func collation(of column: Name, in parent: TableInfo) -> String? {
    guard let position = parent.schema.position(of: column) else { return nil }
    let parts = parent.uniqueIndexes.flatMap(\.parts).filter { $0.column == position }
    return parts.map(\.collation).first { $0.uppercased() != "BINARY" }
  }

  private var sql: String { "SELECT 1 \(source)" }

  /// - Parameter values: the values of the columns, and then the key of the row to leave out, if there is one.
  public func exists(_ values: [Value], in database: borrowing Database) throws -> Bool {
    if let index = try index(in: database) {
      let count = key.columns.count
      return try index.contains(Array(values.prefix(count)), butNot: Array(values.dropFirst(count)))
    }
    let kept = try prepared ?? KeptStatement(database.prepare(sql))
    prepared = kept
    defer { kept.statement.reset() }
    try kept.statement.bind(values)
    return try kept.statement.step()
  }

  /// Whether any child with these values counts. This reads the table, or an index of the app's schema.
  /// - Parameters:
  ///   - values: the values of the columns, and then the key of the row to leave out, if there is one.
  ///   - counts: whether the child with a key counts.
  func isAnyChild(
    with values: [Value], in database: borrowing Database, where counts: (RowKey) throws -> Bool
  ) throws -> Bool {
    guard let table = lookup?.table else { return false }
    let rows = try database.prepare("SELECT \(quotedList(table.key.map { table.columns[$0] })) \(source)")
    try rows.bind(values)
    while try rows.step() {
      if try counts(RowKey(rows.values(from: 0, count: table.key.count))) { return true }
    }
    return false
  }

  /// The index for this lookup. nil if the app's schema has one, or if this transaction had only few lookups.
  private func index(in database: borrowing Database) throws -> ReferenceIndex? {
    guard let lookup, database.writes.isOn, let now = database.writes.transaction else { return nil }
    if now != transaction { (transaction, lookups, index) = (now, 0, nil) }
    lookups += 1
    if lookups == Self.lookupsBeforeIndex, try !isIndexed(in: database) {
      index = try ReferenceIndex(lookup, leavesOut: own, in: database)
    }
    return index
  }

  /// Whether SQLite itself has an index over all columns of the lookup.
  private func isIndexed(in database: borrowing Database) throws -> Bool {
    let plan = try database.all("EXPLAIN QUERY PLAN \(sql)") { $0.text(3) }.joined(separator: " ")
    let compared = plan.split(separator: " ").filter { $0.hasSuffix("=?") || $0.hasSuffix("=?)") }.count
    return plan.hasPrefix("SEARCH ") && compared >= key.columns.count
  }
}

/// The references of one table of the dataset, in both directions.
public struct References {
  public let parents: [ReferenceLookup]
  public let children: [ReferenceLookup]
  /// For each lookup in `children`, in the same order: the lookup of the parent of such a child.
  private let answers: [ReferenceLookup]

  public init(of table: TrackedTable, among tables: [TrackedTable]) {
    func parent(along key: ForeignKey, of child: TableSchema) -> ReferenceLookup {
      .parent(along: key, of: child, to: tables.first { $0.name == key.parent }?.schema)
    }
    parents = table.schema.foreignKeys.map { parent(along: $0, of: table.schema) }
    let referring = tables.flatMap { child in
      child.schema.foreignKeys.filter { $0.parent == table.name }.map { (key: $0, child: child.schema) }
    }
    children = referring.map { .children(along: $0.key, of: $0.child, to: table.info) }
    answers = referring.map { parent(along: $0.key, of: $0.child) }
  }

  /// The first table in which `row` refers to a missing row; nil if there is none.
  /// - Parameter before: the former row. References that the former row also had are not checked.
  public func missingParent(
    of row: Row, changedFrom before: Row?, in database: borrowing Database
  ) throws -> Name? {
    for parent in parents {
      let values = parent.key.columns.map { row[$0] }
      if let before, parent.key.columns.map({ before[$0] }) == values { continue }
      if values.contains(where: \.isNull) { continue }
      if try !parent.exists(values, in: database) { return parent.key.parent }
    }
    return nil
  }

  /// A table with rows that refer to `row` by values that `row` is about to lose; nil if there is none.
  /// - Parameters:
  ///   - row: a row of this table.
  ///   - after: the row after the change; nil if the change deletes it.
  public func tableWithChildren(
    of row: Row, becoming after: Row?, _ schema: TableSchema, in database: borrowing Database
  ) throws -> Name? {
    try table(referringTo: row, butNot: after, schema, in: database) { _, _, _, _ in true }
  }

  /// Like `tableWithChildren`, for the time after the row was written. A child does not count if it has found another
  /// parent, which spells the same value in another way.
  public func tableWithOrphans(
    of row: Row, becoming after: Row?, _ schema: TableSchema, in database: borrowing Database
  ) throws -> Name? {
    try table(referringTo: row, butNot: after, schema, in: database) { _, answer, values, _ in
      try !answer.exists(values, in: database)
    }
  }

  /// Whether a row still refers to values of `row` that no row has now.
  /// - Parameters:
  ///   - row: a row of this table, as it was before.
  ///   - counts: whether the referring row with a key counts.
  public func hasOrphan(
    of row: Row, _ schema: TableSchema, in database: borrowing Database,
    where counts: (_ child: Name, RowKey) throws -> Bool
  ) throws -> Bool {
    let table = try table(referringTo: row, butNot: nil, schema, in: database) { child, answer, values, own in
      try !answer.exists(values, in: database)
        && child.isAnyChild(with: values + own, in: database) { try counts(child.child, $0) }
    }
    return table != nil
  }

  private func table(
    referringTo row: Row, butNot after: Row?, _ schema: TableSchema, in database: borrowing Database,
    where counts: (_ child: ReferenceLookup, _ answer: ReferenceLookup, [Value], _ own: [Value]) throws -> Bool
  ) throws -> Name? {
    for (child, answer) in zip(children, answers) {
      let columns = child.key.parentColumns.compactMap { schema.position(of: $0) }
      let values = columns.map { row[$0] }
      guard values.count == child.key.parentColumns.count, !values.contains(where: \.isNull) else { continue }
      if let after, columns.map({ after[$0] }) == values { continue }
      let own = child.child == schema.name ? schema.key(of: row).values : []
      if try child.exists(values + own, in: database), try counts(child, answer, values, own) { return child.child }
    }
    return nil
  }
}
