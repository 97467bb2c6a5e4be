import SatchelBundle
import SatchelCapture
import SatchelDataset
import SatchelRows
import SatchelSQLite
import SatchelValues

/// How a device handles a bundle that removes very many of its rows.
public enum BroughtRemovals: Sendable {
  /// The dataset's limits count. A bundle beyond them waits, and nothing is changed.
  case withinLimits
  /// A person accepted the bundle.
  case accepted
}

/// Compares the rows that a bundle from the hub removes with the dataset's limits. A wrong rule at the hub could take
/// all rows from a device, also those that its user needs today.
///
/// If a hub was set back, it lacks the rows of the lost time, and its first bundle removes them. These rows count too,
/// because a bundle with a row does not prove that the hub lacks the row. But the message says that the rows may come
/// back.
struct ScopeBrake {
  /// The limits of each table as they were before the bundle. The bundle may bring other limits.
  private let limits: [(table: TrackedTable, brake: Brake)]
  /// The number of changes of this device, by table, that the bundle acknowledges. Rows that leave because of these
  /// changes do not count.
  var own: [Name: Int64] = [:]

  /// Tables whose rows leave the scope as the days pass have no limits, nor have the tables below them. Otherwise a
  /// device that was away for long would have to wait for a person each time.
  init(_ tables: [TrackedTable], of dataset: DatasetDefinition) {
    let byDay = Self.tablesByDay(tables, of: dataset)
    limits = tables.filter { !byDay.contains($0.name) }.map { ($0, $0.rules.brake) }
  }

  private static func tablesByDay(_ tables: [TrackedTable], of dataset: DatasetDefinition) -> Set<Name> {
    var found = Set(tables.filter { dataset.rowsLeaveByDay($0.rules) }.map(\.name))
    var isChanged = !found.isEmpty
    while isChanged {
      let below = tables.filter { table in
        !found.contains(table.name) && table.parentKeys(in: dataset).contains { found.contains($0.parent) }
      }
      found.formUnion(below.map(\.name))
      isChanged = !below.isEmpty
    }
    return found
  }

  /// Throws a `Refusal` if the bundle is beyond the limits of a table. The caller's transaction then ends without
  /// effect.
  /// - Parameters:
  ///   - tally: the numbers of rows that the bundle changed.
  ///   - countLost: returns the number of removed rows that may come back, because the hub was set back. nil: the
  ///     bundle begins no epoch. Called only if the bundle is beyond the limits.
  func check(
    _ tally: RowTally, _ manifest: Manifest, in database: borrowing Database, countLost: () throws -> Int64?
  ) throws {
    let words = try excess(of: tally, in: database)
    if words.isEmpty { return }
    let lost = try countLost()
    let removed = words.joined(separator: ", and ")
    var message = "The hub's bundle \(manifest.wholeNumber) removes \(removed) from this device."
    if let lost, lost > 0 {
      message +=
        " Up to \(lost) of these rows may come back: the hub was set back, and this device has the lost bundles."
    }
    throw Refusal(
      .brake, message,
      hint:
        """
        Nothing was changed: continue to work and export. The bundle waits. Ask the office whether that is meant. If \
        it is: satchel apply --accept
        """ + (lost == nil ? "" : ". The recovery of the hub waits for that."),
      keeping: .unnoted)
  }

  /// Describes the tables that are beyond their limits.
  private func excess(of tally: RowTally, in database: borrowing Database) throws -> [String] {
    var words: [String] = []
    for (table, counts) in tally.tables {
      guard let (tracked, brake) = limits.first(where: { $0.table.name == table }) else { continue }
      let removed = Int64(counts.deleted) - (own[table] ?? 0)
      // This check comes first, because counting a table reads the whole table.
      guard brake.deletePercent < 100, removed > brake.rows else { continue }
      let all = try tracked.count(in: database) + Int64(counts.deleted) - Int64(counts.inserted)
      if brake.isBeyond(removed, of: all, percent: brake.deletePercent) {
        words.append("\(removed) of the \(all) rows of \(table)")
      }
    }
    return words
  }
}
