import SatchelBundle
import SatchelSQLite
import SatchelValues

/// Handles a change that disagrees with two values: one value on its device when a bundle from the hub comes, and
/// another value at the hub.
extension ConflictTable {
  /// The result of `addMeeting`.
  public enum Addition {
    case new
    /// The table already had this record of the conflict.
    case known(ConflictRecord)
  }

  /// Adds a conflict. The table may already have a conflict about the same change, which disagreed with another value.
  /// If the change replaces both values, both conflicts stay. The id of the second is computed from the values that it
  /// met.
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
  /// Whether the device's change replaces a value that is not in the known record of the same change.
  fileprivate func replacesMore(than known: ConflictRecord) -> Bool {
    let replaced = (hubValues ?? []).filter { field in
      winners.isEmpty
        ? rowWinner == .device : winners.contains { $0.name == field.name && $0.winner == .device }
    }
    let held = Set(known.hubValues ?? [])
    return replaced.contains { !held.contains($0) }
  }
}
