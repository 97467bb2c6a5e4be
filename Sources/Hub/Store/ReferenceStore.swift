import SatchelCapture
import SatchelSQLite
import SatchelValues

/// Looks for rows along one foreign key, with one statement. That is prepared at its first use: the table that is referred to may be one
/// that is not there.
final class ReferenceLookup {
  let key: ForeignKey
  /// The table that refers.
  let child: Name
  private let sql: String
  private var prepared: KeptStatement?

  private init(_ key: ForeignKey, child: Name, sql: String) {
    self.key = key
    self.child = child
    self.sql = sql
  }

  /// Finds what a row refers to, by the values of the key's columns.
  static func parent(along key: ForeignKey, of child: TableSchema) -> ReferenceLookup {
    let condition = key.parentColumns.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")
    return ReferenceLookup(key, child: child.name, sql: "SELECT 1 FROM \(quoted(key.parent)) WHERE \(condition)")
  }

  /// Finds what refers to a row, by the values of the parent's columns; where a table refers to itself, behind them those of the row's
  /// own key, because a row may be its own parent.
  static func children(along key: ForeignKey, of child: TableSchema) -> ReferenceLookup {
    let condition = key.columns.map { "\(quoted(child.columns[$0])) = ?" }.joined(separator: " AND ")
    let own = child.key.map { "\(quoted(child.columns[$0])) IS ?" }.joined(separator: " AND ")
    return ReferenceLookup(
      key, child: child.name,
      sql: "SELECT 1 FROM \(quoted(child.name)) WHERE \(condition)" + (key.parent == child.name ? " AND NOT (\(own))" : ""))
  }

  func exists(_ values: [Value], in database: borrowing Database) throws -> Bool {
    let kept = try prepared ?? KeptStatement(database.prepare(sql))
    prepared = kept
    defer { kept.statement.reset() }
    try kept.statement.bind(values)
    return try kept.statement.step()
  }
}

/// The references of one table of the dataset, in both directions.
struct References {
  let parents: [ReferenceLookup]
  let children: [ReferenceLookup]

  init(of table: TrackedTable, among tables: [TrackedTable]) {
    parents = table.schema.foreignKeys.map { .parent(along: $0, of: table.schema) }
    children = tables.flatMap { child in
      child.schema.foreignKeys.filter { $0.parent == table.name }.map { .children(along: $0, of: child.schema) }
    }
  }
}

/// Parents that are known to be there: most rows of a bundle refer to a few.
///
/// Whoever keeps it forgets it when any row is deleted or changed to which another may refer.
struct FoundParents {
  struct Reference: Hashable {
    /// The table that refers, and which of its foreign keys it is.
    let place: Int
    let number: Int
    let values: [Value]
  }

  private var references: Set<Reference> = []
  private static let limit = 10_000

  func contains(_ reference: Reference) -> Bool { references.contains(reference) }

  mutating func insert(_ reference: Reference) {
    if references.count >= Self.limit { references = [] }
    references.insert(reference)
  }

  mutating func forget() { references = [] }
}

extension HubStore {
  /// The first foreign key of `row` whose parent is not there; nil where all are. What `before` referred to already is passed over:
  /// if that was wrong, it was so before.
  func missingParent(of row: Row, changedFrom before: Row? = nil, in place: Int) throws -> ForeignKey? {
    var found = FoundParents()
    return try missingParent(of: row, changedFrom: before, in: place, besides: &found)
  }

  /// - Parameter found: the parents that were there a moment ago, and to which those are added that are there now.
  func missingParent(
    of row: Row, changedFrom before: Row?, in place: Int, besides found: inout FoundParents
  ) throws -> ForeignKey? {
    for (number, parent) in references[place].parents.enumerated() {
      let key = parent.key
      if let before, key.columns.allSatisfy({ before[$0] == row[$0] }) { continue }
      let values = key.columns.map { row[$0] }
      if values.contains(where: \.isNull) { continue }
      // A row may be its own parent.
      if key.parent == rows[place].schema.name, isOwnParent(row, key, in: place) { continue }
      let reference = FoundParents.Reference(place: place, number: number, values: values)
      if found.contains(reference) { continue }
      if try !parent.exists(values, in: database) { return key }
      found.insert(reference)
    }
    return nil
  }

  private func isOwnParent(_ row: Row, _ key: ForeignKey, in place: Int) -> Bool {
    let schema = rows[place].schema
    return zip(key.columns, key.parentColumns).allSatisfy { column, parent in
      schema.position(of: parent).map { row[$0] == row[column] } ?? false
    }
  }

  /// A table that still has rows that refer to `row`; nil where none has.
  func tableWithChildren(of row: Row, in place: Int) throws -> Name? {
    let schema = rows[place].schema
    for child in references[place].children {
      let values = child.key.parentColumns.compactMap { schema.position(of: $0).map { row[$0] } }
      guard values.count == child.key.parentColumns.count, !values.contains(where: \.isNull) else { continue }
      let own = child.child == schema.name ? schema.key(of: row).values : []
      if try child.exists(values + own, in: database) { return child.child }
    }
    return nil
  }
}
