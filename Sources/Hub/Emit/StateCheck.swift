import SatchelBundle
import SatchelCrypto
import SatchelJSON
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Compares a device's digests with the digests of the rows that the device should have. These are the rows that it
/// held at its emission, as they were then.
///
/// The hub computes these rows from its present rows, and undoes the log's changes since the emission. Changes of the
/// device itself are not undone if the hub has acknowledged them. If such a change was not accepted as sent, the hub
/// sends the row back with the acknowledgement.
struct StateCheck {
  let store: HubStore
  let device: EnrolledDevice
  let manifest: Manifest
  let changes: Manifest.Changes

  enum Result {
    /// Both sides have the same rows.
    case verified
    case differs([StateDifference])
    /// The hub does not know any more which rows the device should have. The text gives the reason.
    case unknown(String)
  }

  struct Outcome {
    let result: Result
    /// The rows that differ, in the tables that were compared row by row.
    var rows: [DifferentRow] = []
    var compared: [StateEntry.Question] = []
  }

  /// - Parameter asked: the sums whose rows the hub has requested.
  /// - Throws: a `BundleError` if an answer names a row that cannot belong to the requested sums.
  func run(_ entry: StateEntry, asked: [StateEntry.Question]) throws -> Outcome {
    guard let emission = try store.emission(changes, of: device.id), changes.epoch == store.identity.epoch else {
      return Outcome(result: .unknown("the hub no longer knows which rows the device has"))
    }
    guard changes.base == emission.acknowledged else {
      return Outcome(
        result: .unknown("the device has newer acknowledgements than its last bundle from here contained"))
    }
    guard emission.cursor >= store.identity.logFrom else {
      return Outcome(result: .unknown("the changes since then are forgotten"))
    }
    guard emission.version == store.dataset.version, manifest.version == store.dataset.version else {
      return Outcome(result: .unknown("the dataset has another version by now"))
    }
    guard entry.tables.map(\.name) == store.tables.map(\.name).sorted() else {
      return Outcome(result: .unknown("the device has other tables"))
    }
    for answer in entry.answers { try check(answer) }
    let emissions = try store.emissions(of: device.id)
    guard let number = emissions.firstIndex(where: { $0.number == emission.number }) else {
      return Outcome(result: .unknown("the hub no longer knows which rows the device has"))
    }
    let held = try store.heldSets(of: device.id, after: emissions)[number]
    let changed = try store.changed(after: emission.cursor, device: device.id)
    return try compare(entry, held: held, changed: changed.map { $0.all }, at: emission.cursor, asked)
  }

  private func check(_ answer: StateEntry.Answer) throws {
    let (table, sums) = (answer.question.table, Set(answer.question.sums))
    guard let place = store.place(of: table) else { return }
    for row in answer.rows {
      guard row.key.values.count == store.tables[place].schema.key.count else {
        throw BundleError.entry("state.json", "has a key in its answer about \(table) that is no key of the table")
      }
      guard sums.contains(StateEntry.Table.sum(of: Digest256.of(canonicalKey(row.key)))) else {
        throw BundleError.entry("state.json", "has a row in its answer about \(table) that is in none of its sums")
      }
    }
  }

  private func compare(
    _ entry: StateEntry, held: [RowSet], changed: [RowSet], at cursor: Cursor, _ asked: [StateEntry.Question]
  ) throws -> Outcome {
    var differences: [StateDifference] = []
    var outcome = Outcome(result: .verified)
    for theirs in entry.tables {
      guard let place = store.place(of: theirs.name) else { continue }
      let schema = store.tables[place].schema
      guard theirs.columns.allSatisfy({ schema.position(of: $0) != nil }) else {
        return Outcome(result: .unknown("\(theirs.name) has other columns on the device"))
      }
      let answer = entry.answers.first { $0.question.table == theirs.name && $0.question.isPart(of: asked) }
      let expected = ExpectedRows(
        store: store, place: place, held: held[place], changed: changed[place], cursor: cursor)
      let ours = try expected.tally(beside: theirs, asked: answer?.question.sums ?? [])
      let sums = ours.table.differences(from: theirs)
      if !sums.isEmpty || ours.table.rows != theirs.rows {
        differences.append(
          StateDifference(table: theirs.name, sums: sums, rowsHere: ours.table.rows, rowsThere: theirs.rows))
      }
      guard let answer, ours.rows.count == answer.question.sums.count else { continue }
      outcome.compared.append(answer.question)
      let known = ours.rows.values.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
      outcome.rows += Self.differences(known, answer, in: theirs.name)
    }
    return differences.isEmpty
      ? outcome : Outcome(result: .differs(differences), rows: outcome.rows, compared: outcome.compared)
  }

  private static func differences(
    _ known: [RowKey: Digest256], _ answer: StateEntry.Answer, in table: Name
  ) -> [DifferentRow] {
    var rest = known
    var rows: [DifferentRow] = []
    for row in answer.rows {
      switch rest.removeValue(forKey: row.key) {
      case nil: rows.append(DifferentRow(table: table, key: row.key, kind: .onlyOnDevice))
      case row.digest: break
      default: rows.append(DifferentRow(table: table, key: row.key, kind: .different))
      }
    }
    rows += rest.keys.map { DifferentRow(table: table, key: $0, kind: .onlyAtHub) }
    return rows.sorted { $0.key.isBeforeInSQL($1.key) }
  }
}

extension StateEntry.Question {
  /// Whether the hub requested all sums of this question. A device may answer for fewer sums than the hub requested,
  /// because the answer must fit into a bundle.
  fileprivate func isPart(of asked: [StateEntry.Question]) -> Bool {
    asked.contains { $0.table == table && Set(sums).isSubset(of: $0.sums) }
  }
}

/// A table whose rows on a device differ from the rows that the hub expects there.
public struct StateDifference: Hashable, Sendable {
  public let table: Name
  /// The sums that differ.
  public let sums: [Int]
  /// The number of rows that the device should have, and the number of rows that it has.
  public let rowsHere: Int64
  public let rowsThere: Int64
}

/// A row on a device that differs from the row that the hub expects there.
public struct DifferentRow: Hashable, Sendable {
  public enum Kind: String, Sendable, CaseIterable {
    case onlyAtHub = "only-at-hub"
    case onlyOnDevice = "only-on-device"
    case different
  }

  public let table: Name
  public let key: RowKey
  public let kind: Kind
}

extension HubStore {
  /// A row at an earlier cursor of the hub. nil if it did not exist then. The log must reach back to this cursor.
  func row(_ key: RowKey, in place: Int, at cursor: Cursor) throws -> Row? {
    try rows(key, in: place, at: [cursor])[0]
  }

  /// A row at several earlier cursors, which are sorted with the newest first. Reads the row's log once.
  func rows(_ key: RowKey, in place: Int, at cursors: [Cursor]) throws -> [Row?] {
    guard let oldest = cursors.last else { return [] }
    var row = try rows[place].row(key)
    var found: [Row?] = []
    try eachChange(of: past(of: key, in: place), after: oldest) { entry in
      while cursors[found.count] >= entry.cursor { found.append(row) }
      row = try self.row(before: entry, row, in: place)
      return .more
    }
    return found + Array(repeating: row, count: cursors.count - found.count)
  }

  /// A row as it was before one change.
  /// - Parameter after: the row after the change.
  func row(before entry: LogEntry, _ after: Row?, in place: Int) throws -> Row? {
    let schema = rows[place].schema
    switch entry.operation {
    case .insert: return nil
    case .delete: return try schema.row(kept: entry.was ?? [], in: database)
    case .update:
      var row = after
      row?.write(entry.was ?? [], in: schema)
      return row
    }
  }
}
