import SatchelCapture
import SatchelSQLite
import SatchelValues

/// Finds the rows that refer to other rows, at any depth. Values are compared as SQLite compares a reference with its
/// parent. Each row is visited once.
public struct RowsBelow {
  private struct Reference: Hashable {
    let child: Name
    let key: ForeignKey
    /// The values are folded, because a reference may spell them differently.
    let values: [Value]
  }

  private let schemas: [Name: TableSchema]
  private let comparisons: [ForeignKey: [Comparison]]
  private var rows: [(row: Row, table: Name)] = []
  private var children: [Reference: [Int]] = [:]

  public init(among tables: [TrackedTable], in database: borrowing Database) {
    schemas = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0.schema) })
    var comparisons: [ForeignKey: [Comparison]] = [:]
    for key in tables.flatMap(\.schema.foreignKeys) { comparisons[key] = database.comparisons(ofParentIn: key) }
    self.comparisons = comparisons
  }

  /// Adds a row that may be found. Its number is the count of rows added before.
  public mutating func add(_ row: Row, of table: Name) {
    for key in schemas[table]?.foreignKeys ?? [] {
      if let reference = reference(of: table, along: key, key.columns.map { row[$0] }) {
        children[reference, default: []].append(rows.count)
      }
    }
    rows.append((row, table))
  }

  /// The numbers of the rows that refer to one of `parents`, at any depth. Parents come before their children.
  public func find(below parents: [(row: Row, table: Name)]) -> [Int] {
    var found: [Int] = []
    var seen: Set<Int> = []
    var next = parents
    while !next.isEmpty {
      let new = next.flatMap { children(of: $0) }.filter { seen.insert($0).inserted }
      found += new
      next = new.map { rows[$0] }
    }
    return found
  }

  private func children(of parent: (row: Row, table: Name)) -> [Int] {
    guard let schema = schemas[parent.table] else { return [] }
    return schemas.flatMap { table, child in
      child.foreignKeys.filter { $0.parent == parent.table }.flatMap { key -> [Int] in
        let positions = key.parentColumns.compactMap { schema.position(of: $0) }
        guard positions.count == key.parentColumns.count,
          let reference = reference(of: table, along: key, positions.map { parent.row[$0] })
        else { return [] }
        return children[reference] ?? []
      }
    }
  }

  /// nil: a value is NULL, which refers to nothing.
  private func reference(of child: Name, along key: ForeignKey, _ values: [Value]) -> Reference? {
    if values.contains(where: \.isNull) { return nil }
    return Reference(
      child: child, key: key, values: zip(comparisons[key] ?? [], values).map { $0.folded($1) })
  }
}
