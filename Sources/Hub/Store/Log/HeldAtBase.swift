import SatchelBundle
import SatchelRows
import SatchelSQLite
import SatchelValues

/// The rows that a device held when it made a bundle.
///
/// The sets are read only when they are needed. Most bundles change only rows that their user still sees.
final class HeldAtBase {
  private let store: HubStore
  private let device: ReplicaID
  /// The emission on which the bundle was made. nil if it is unknown.
  private let emission: EmissionNumber?
  private var known: [RowSet]??
  /// The hub's cursor when this instance was made. Later log entries may be rolled back.
  private let begun: Cursor
  /// For each row, whether the device wrote it up to `begun`. It is remembered, because very many changes may name one
  /// row.
  private var wrote: [StepMerger.RowReference: Bool] = [:]

  init(_ store: HubStore, device: ReplicaID, emission: EmissionNumber?) throws {
    (self.store, self.device, self.emission) = (store, device, emission)
    begun = try store.cursor()
  }

  /// Whether the device held the row, or wrote the row itself. True if the emission is unknown.
  func contains(_ key: RowKey, in place: Int) throws -> Bool {
    guard let sets = try sets() else { return true }
    guard let past = try store.past(of: key, in: place) else { return false }
    if sets[place].contains(past.number) { return true }
    if try hasWritten(past, after: begun) { return true }
    let row = StepMerger.RowReference(place: place, key: key)
    if let known = wrote[row] { return known }
    let isOwn = try hasWritten(past, after: .zero)
    wrote[row] = isOwn
    return isOwn
  }

  /// Whether the device wrote a row after this cursor.
  private func hasWritten(_ past: RowNumbers.Entry, after cursor: Cursor) throws -> Bool {
    var isOwn = false
    try store.eachChange(of: past, after: cursor) { entry in
      isOwn = entry.device == device.text
      return isOwn ? .enough : .more
    }
    return isOwn
  }

  /// Whether the hub had sent the row to the device by then. False if the emission is unknown.
  func hasSent(_ past: RowNumbers.Entry, in place: Int) throws -> Bool {
    try sets()?[place].contains(past.number) ?? false
  }

  /// The number of rows of a table that the device held. nil if the emission is unknown.
  func count(in place: Int) throws -> Int64? { try sets().map { Int64($0[place].count) } }

  private func sets() throws -> [RowSet]? {
    if let known { return known }
    let emissions = try store.emissions(of: device)
    let held = try emissions.firstIndex { $0.number == emission }.map {
      try store.heldSets(of: device, after: emissions)[$0]
    }
    known = .some(held)
    return held
  }
}
