import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelSQLite
import SatchelValues

/// Histories with the same beginning. They come from copies of one device's folder.
extension HubStore {
  /// A history that has the same beginning as the history of a given device.
  struct RelatedHistory {
    let id: ReplicaID
    /// The device name in the bundles of this history.
    let name: String
    /// The highest merged export of this history.
    let merged: SequenceNumber
  }

  func relatedHistories(of device: EnrolledDevice) throws -> [RelatedHistory] {
    var found = try branches(of: device.id).map { RelatedHistory(id: $0.id, name: device.name, merged: $0.merged) }
    found += try heirs(of: device.id).map { RelatedHistory(id: $0.id, name: $0.name, merged: $0.merged) }
    guard let former = try device.continues.flatMap({ try self.device($0) }) else { return found }
    found.append(RelatedHistory(id: former.id, name: former.name, merged: former.merged))
    found += try branches(of: former.id).map { RelatedHistory(id: $0.id, name: former.name, merged: $0.merged) }
    found += try heirs(of: former.id).filter { $0.id != device.id }.map {
      RelatedHistory(id: $0.id, name: $0.name, merged: $0.merged)
    }
    return found
  }

  /// The first export in which two histories differ. nil if the exports that are known of both histories are the same.
  /// - Parameter links: exports of the device from a bundle, in addition to the recorded exports.
  func parting(of device: ReplicaID, _ links: [Manifest.Changes.Link], from other: ReplicaID) throws -> SequenceNumber?
  {
    let known =
      try database.first(
        """
        SELECT min(own.sequence)
        FROM satchel_chain AS own JOIN satchel_chain AS other ON other.sequence = own.sequence
        WHERE own.device = :device AND other.device = :other AND other.digest <> own.digest
        """, ["device": .string(device.text), "other": .string(other.text)]
      ) { $0.optionalInteger(0).map { SequenceNumber($0) } } ?? nil
    let told = try links.first { link in try digest(of: link.sequence, in: other).map { $0 != link.digest } ?? false }?
      .sequence
    return [known, told].compactMap(\.self).min()
  }

  /// Whether all changes of a bundle were in the hub's rows at a cursor.
  func isMerged(_ bundle: BundleID, before cursor: Cursor) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_log WHERE bundle = :bundle AND cursor > :cursor LIMIT 1",
      ["bundle": .string(bundle.text), "cursor": .integer(cursor.rawValue)]
    ) { _ in false } ?? true
  }

  /// The old and the new key, if this line of a device gives a new key to one of the device's rows. Otherwise nil.
  func renaming(in line: ChangeLine) -> (old: Value, new: KeyedRow)? {
    guard case .rekey(let to, _) = line.content, let place = place(of: line.table),
      let old = tables[place].singleKey(line.key), let new = tables[place].singleKey(to)
    else { return nil }
    return (old, KeyedRow(place: place, key: new))
  }

  /// The newest key that the hub gave to a row of a history. nil if the hub gave the row no other key.
  /// - Parameter key: the row's key in this history.
  func latestKey(of key: Value, in place: Int, of history: ReplicaID) throws -> Value? {
    try database.first(
      """
      SELECT new_key
      FROM satchel_rekeyed
      WHERE device = :history AND table_name = :table AND old_key = :key
      ORDER BY entry DESC
      """, ["history": .string(history.text), "table": .string(tables[place].name.text), "key": key]
    ) { $0.value(0) }
  }
}
