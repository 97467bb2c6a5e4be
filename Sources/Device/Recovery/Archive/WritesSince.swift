import SatchelBundle
import SatchelMerge
import SatchelValues

/// The writes of others to certain rows, as the hub's bundles after one emission report them.
struct WritesSince {
  /// The present emission of the device when it wrote these rows.
  private let base: EmissionNumber
  private let rows: [Name: Set<RowKey>]
  private var reports: [RowInTable: Report] = [:]

  private struct Report {
    /// The newest stamp of the row.
    var newest: Stamp
    /// The newest stamp of each column that others wrote.
    var columns: [Int: Stamp] = [:]
    /// Whether a bundle did not say which columns others wrote.
    var isVague = false
  }

  init(_ base: EmissionNumber, about rows: [Name: Set<RowKey>]) {
    self.base = base
    self.rows = rows
  }

  func keys(in table: Name) -> Set<RowKey> { rows[table] ?? [] }

  /// Records what a bundle says about a row.
  mutating func note(
    _ key: RowKey, at stamp: Stamp, _ others: [OthersWrite]?, by number: EmissionNumber, in schema: TableSchema
  ) {
    guard number > base, rows[schema.name]?.contains(key) == true else { return }
    var report = reports[RowInTable(table: schema.name, key: key)] ?? Report(newest: stamp)
    report.newest = max(report.newest, stamp)
    if let others {
      let told = ToldWrites(others, in: schema, beside: stamp, on: base, isWhole: false)
      report.columns.merge(told.columns) { max($0, $1) }
    } else {
      report.isVague = true
    }
    reports[RowInTable(table: schema.name, key: key)] = report
  }

  /// The stamps that a write of the row is compared with; nil: no bundle has the row.
  /// - Parameters:
  ///   - own: the stamp of the device's own exported changes, for the columns that no other writer wrote.
  ///   - isThere: whether the row exists.
  func report(of row: RowInTable, ownAt own: Stamp, isThere: Bool) -> (stamp: Stamp, told: ToldWrites)? {
    guard let report = reports[row] else { return nil }
    let stamp = report.isVague || !isThere ? max(report.newest, own) : own
    return (stamp, ToldWrites(columns: report.columns, isWhole: false))
  }
}
