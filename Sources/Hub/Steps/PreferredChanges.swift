import SatchelMerge
import SatchelValues

/// Changes that a device replayed on the hub's rows and preferred to the hub's values, by stamps that do not show the
/// order of changes. The device has seen these values, so the hub's log alone shows no concurrent change.
struct PreferredChanges {
  /// The columns that the device's stamps decided, for each change. Empty if they decided about the whole row.
  private var columns: [UnknownResults.ReportedChange: Set<Int>] = [:]

  /// - Parameter compared: the columns that stamps decided.
  mutating func add(_ record: ConflictRecord, _ compared: [ColumnWinner], in schema: TableSchema) {
    columns[.init(record), default: []].formUnion(compared.compactMap { schema.position(of: $0.name) })
  }

  /// Counts the values that the device replaced as changes of others, so that the hub's own merge decides.
  /// - Parameter stamp: the newest stamp of the row.
  func contest(_ step: Step, at stamp: Stamp, _ others: inout OthersChanges, in schema: TableSchema) {
    guard !columns.isEmpty, let columns = columns[.init(step)] else { return }
    for column in columns.isEmpty ? Set(schema.columns.indices) : columns where others.columns[column] == nil {
      others.columns[column] = stamp
    }
  }
}
