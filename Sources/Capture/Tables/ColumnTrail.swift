import SatchelSQLite
import SatchelValues

/// Follows the columns of some tables through a script, statement by statement. The final state alone does not show
/// which columns were removed and which columns were renamed.
public final class ColumnTrail {
  private let tables: [TrackedTable]
  private var columns: [Name: [Name]]
  public private(set) var mappings: [Name: ColumnMapping]
  /// By table, the values of new columns in rows that existed before. The final table may declare another default, or
  /// none.
  public private(set) var newValues: [Name: [Name: Value]] = [:]

  public init(_ tables: [TrackedTable]) {
    self.tables = tables
    columns = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0.schema.columns) })
    mappings = columns.mapValues { ColumnMapping(from: $0, to: $0) }
  }

  /// Records the changes of the columns. It is called after each statement. A table that is missing at the moment may
  /// come back.
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
