import SatchelCapture
import SatchelSQLite
import SatchelValues

/// Looks for rows along one foreign key, with one statement. The statement is prepared at its first use, because the
/// parent table may not exist.
public final class ReferenceLookup {
  public let key: ForeignKey
  /// The table with the foreign key.
  public let child: Name
  private let sql: String
  private var prepared: KeptStatement?

  private init(_ key: ForeignKey, child: Name, sql: String) {
    self.key = key
    self.child = child
    self.sql = sql
  }

  /// Finds the parent of a row, by the values of the key's columns.
  public static func parent(along key: ForeignKey, of child: TableSchema) -> ReferenceLookup {
    let condition = key.parentColumns.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")
    return ReferenceLookup(key, child: child.name, sql: "SELECT 1 FROM \(quoted(key.parent)) WHERE \(condition)")
  }

  /// Finds the rows that refer to a row, by the values of the parent's columns. If a table refers to itself, the values
  /// of the row's own key follow, because a row may be its own parent. SQLite compares the values by the parent's
  /// collation.
  public static func children(along key: ForeignKey, of child: TableSchema, to parent: TableInfo) -> ReferenceLookup {
    let condition = zip(key.columns, key.parentColumns).map { column, parentColumn in
      "\(quoted(child.columns[column])) = ?" + (collation(of: parentColumn, in: parent).map { " COLLATE \($0)" } ?? "")
    }.joined(separator: " AND ")
    let own = child.key.map { "\(quoted(child.columns[$0])) IS ?" }.joined(separator: " AND ")
    return ReferenceLookup(
      key, child: child.name,
      sql: "SELECT 1 FROM \(quoted(child.name)) WHERE \(condition)"
        + (key.parent == child.name ? " AND NOT (\(own))" : ""))
  }

  /// The collation of a column's UNIQUE index; nil: the index compares bytes.
  private static func collation(of column: Name, in parent: TableInfo) -> String? {
    guard let position = parent.schema.position(of: column) else { return nil }
    let parts = parent.uniqueIndexes.flatMap(\.parts).filter { $0.column == position }
    return parts.map(\.collation).first { $0.uppercased() != "BINARY" }.map { quoted($0) }
  }

  public func exists(_ values: [Value], in database: borrowing Database) throws -> Bool {
    let kept = try prepared ?? KeptStatement(database.prepare(sql))
    prepared = kept
    defer { kept.statement.reset() }
    try kept.statement.bind(values)
    return try kept.statement.step()
  }
}

/// The references of one table of the dataset, in both directions.
public struct References {
  public let parents: [ReferenceLookup]
  public let children: [ReferenceLookup]
  /// For each lookup in `children`, in the same order: the lookup of the row to which a child refers.
  private let answers: [ReferenceLookup]

  public init(of table: TrackedTable, among tables: [TrackedTable]) {
    parents = table.schema.foreignKeys.map { .parent(along: $0, of: table.schema) }
    let referring = tables.flatMap { child in
      child.schema.foreignKeys.filter { $0.parent == table.name }.map { (key: $0, child: child.schema) }
    }
    children = referring.map { .children(along: $0.key, of: $0.child, to: table.info) }
    answers = referring.map { .parent(along: $0.key, of: $0.child) }
  }

  /// Returns the first table in which `row` refers to a missing row; nil: there is none.
  /// - Parameter before: the former row. References that the former row had already are skipped.
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

  /// Returns a table with rows that refer to `row` by values that `row` loses; nil: there is none.
  /// - Parameters:
  ///   - row: a row of this table.
  ///   - after: the row after the change; nil: it is deleted.
  public func tableWithChildren(
    of row: Row, becoming after: Row?, _ schema: TableSchema, in database: borrowing Database
  ) throws -> Name? {
    try table(referringTo: row, butNot: after, schema, in: database) { _, _ in true }
  }

  /// Returns the same as `tableWithChildren`, but after the row was written. Children that find another parent do not
  /// count. Such a parent spells the same value differently.
  public func tableWithOrphans(
    of row: Row, becoming after: Row?, _ schema: TableSchema, in database: borrowing Database
  ) throws -> Name? {
    try table(referringTo: row, butNot: after, schema, in: database) { answer, values in
      try !answer.exists(values, in: database)
    }
  }

  private func table(
    referringTo row: Row, butNot after: Row?, _ schema: TableSchema, in database: borrowing Database,
    where counts: (_ answer: ReferenceLookup, [Value]) throws -> Bool
  ) throws -> Name? {
    for (child, answer) in zip(children, answers) {
      let columns = child.key.parentColumns.compactMap { schema.position(of: $0) }
      let values = columns.map { row[$0] }
      guard values.count == child.key.parentColumns.count, !values.contains(where: \.isNull) else { continue }
      if let after, columns.map({ after[$0] }) == values { continue }
      let own = child.child == schema.name ? schema.key(of: row).values : []
      if try child.exists(values + own, in: database), try counts(answer, values) { return child.child }
    }
    return nil
  }
}
