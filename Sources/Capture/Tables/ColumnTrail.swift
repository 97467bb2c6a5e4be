import SatchelSQLite
import SatchelValues

/// Follows the columns of tables through a script, statement by statement. The end result does not show whether a
/// column was renamed, or removed and another one added.
public final class ColumnTrail {
  private let tables: [TrackedTable]
  private var columns: [Name: [Name]]
  public private(set) var mappings: [Name: ColumnMapping]
  /// For each table: the values that added columns got in existing rows. The table may declare another default at the
  /// end of the script, or none.
  public private(set) var newValues: [Name: [Name: Value]] = [:]

  public init(_ tables: [TrackedTable]) {
    self.tables = tables
    columns = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0.schema.columns) })
    mappings = columns.mapValues { ColumnMapping(from: $0, to: $0) }
  }

  /// Records the changes of the columns. The caller calls this after each statement. If a table is missing now, a
  /// later statement may create it again.
  public func look(at database: borrowing Database) throws {
    for tracked in tables {
      let table = tracked.name
      guard let known = columns[table], let now = try tracked.carriedColumns(in: database), now != known else {
        continue
      }
      columns[table] = now
      let step = ColumnMapping(from: known, to: now)
      mappings[table] = mappings[table]?.then(step)
      var values: [Name: Value] = [:]
      for (name, value) in newValues[table] ?? [:] { if let name = step.current(name) { values[name] = value } }
      for (name, value) in zip(step.new, try database.defaultValues(of: step.new, in: table)) { values[name] = value }
      newValues[table] = values
    }
  }
}
