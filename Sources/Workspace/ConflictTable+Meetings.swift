import SatchelBundle
import SatchelSQLite
import SatchelValues

/// One change may meet one value on its device, when a bundle of the hub's comes, and another one at the hub.
extension ConflictTable {
  /// What was made of a record.
  public enum Addition {
    case new
    /// The disagreement is known, with these words.
    case known(ConflictRecord)
  }

  /// Adds a conflict. If the same change is known to have met something else, and takes the place of both, each of them
  /// is kept: the second one under an id of its own, which follows from what it met.
  public static func addMeeting(
    _ record: ConflictRecord, bundle: BundleID?, noted: Int64, since: Cursor? = nil, told: Int64? = nil,
    hidden: HiddenPart = .nothing,
    in database: borrowing Database
  ) throws -> Addition {
    func add(_ record: ConflictRecord) throws -> Bool {
      try self.add(record, bundle: bundle, noted: noted, since: since, told: told, hidden: hidden, in: database)
    }
    if try add(record) { return .new }
    let known = try find(record.id.text, in: database).record
    guard record.replacesMore(than: known) else { return .known(known) }
    var second = record
    second.id = record.id.meeting(record.hubValues ?? [])
    return try add(second) ? .new : .known(try find(second.id.text, in: database).record)
  }
}

extension ConflictRecord {
  /// Whether the device's change takes the place of a value that the record of the same change does not hold.
  fileprivate func replacesMore(than known: ConflictRecord) -> Bool {
    let replaced = (hubValues ?? []).filter { field in
      winners.isEmpty
        ? rowWinner == .device : winners.contains { $0.name == field.name && $0.winner == .device }
    }
    let held = Set(known.hubValues ?? [])
    return replaced.contains { !held.contains($0) }
  }
}
