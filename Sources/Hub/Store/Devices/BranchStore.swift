import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A history that a copy of a device's folder wrote. It begins with exports that are also in the device's own history.
struct Branch {
  /// The id of the history in the chain, in the log and in conflicts, until the copy gets its own name.
  let id: ReplicaID
  /// The last export that is in both histories.
  let parted: SequenceNumber
  /// The highest merged export of this history.
  let merged: SequenceNumber
}

extension HubStore {
  /// The histories that copies of a device wrote, and that no device continues yet.
  func branches(of device: ReplicaID) throws -> [Branch] {
    try database.all(
      "SELECT id, parted, merged FROM satchel_branches WHERE device = :device ORDER BY at, id",
      ["device": .string(device.text)]
    ) {
      Branch(
        id: ReplicaID(unchecked: $0.text(0)), parted: SequenceNumber($0.integer(1)),
        merged: SequenceNumber($0.integer(2)))
    }
  }

  /// Whether this is the id of a history that a copy of a device wrote.
  func isBranch(_ id: ReplicaID) throws -> Bool {
    try database.first("SELECT 1 FROM satchel_branches WHERE id = :id", ["id": .string(id.text)]) { _ in true } ?? false
  }

  /// The devices that continue this device's history. Each was a copy of this device.
  func heirs(of device: ReplicaID) throws -> [EnrolledDevice] { try devices().filter { $0.continues == device } }

  /// The known history of a copy to which a bundle belongs. nil if none is known. If several histories have exports of
  /// the bundle, it belongs to the history with the most of them.
  /// - Parameter links: the exports that the bundle names, and the bundle itself.
  func partedHistory(
    of device: ReplicaID, with found: ChainContradiction, in links: [Manifest.Changes.Link]
  ) throws -> PartedHistory? {
    let claimed = try heirs(of: device).map { ($0.id, PartedHistory.claimed(by: $0.name)) }
    let unclaimed = try branches(of: device).map { ($0.id, PartedHistory.unclaimed($0.id)) }
    var best: (history: PartedHistory, common: Int)?
    for (id, history) in claimed + unclaimed where try digest(of: found.sequence, in: id) == found.digest {
      let common = try links.count { try digest(of: $0.sequence, in: id) == $0.digest }
      if common > best?.common ?? 0 { best = (history, common) }
    }
    return best?.history
  }

  enum PartedHistory {
    /// No device continues the history yet. The history has this id until the copy's request comes.
    case unclaimed(ReplicaID)
    /// The device with this name continues the history.
    case claimed(by: String)
  }

  /// Records a history that a copy wrote. `parted` is the last export in both histories. No later export of the new
  /// history is merged yet.
  func add(
    _ links: [Manifest.Changes.Link], partedAfter parted: SequenceNumber, from device: ReplicaID, as id: ReplicaID,
    at now: Int64
  )
    throws
  {
    try insert(Branch(id: id, parted: parted, merged: parted), of: device, at: now)
    try keep(links, in: id)
  }

  /// Moves a device's merged bundles after `parted` to another history. For the device, their changes now count as
  /// changes of others.
  func part(_ device: inout EnrolledDevice, after parted: SequenceNumber, as id: ReplicaID, at now: Int64) throws {
    try moveParting(of: device.id, to: parted)
    try insert(Branch(id: id, parted: parted, merged: device.merged), of: device.id, at: now)
    let values: KeyValuePairs<String, Value> = [
      "id": .string(id.text), "device": .string(device.id.text), "name": .string(device.name),
      "parted": .integer(parted.rawValue),
    ]
    // The device may lack rows of these bundles, or may have them only in part. So their true state is sent.
    try database.run(
      """
      INSERT INTO satchel_owed (device, table_name, row, emission, if_visible)
      SELECT DISTINCT :device, table_name, row, NULL, 0
      FROM satchel_log
      WHERE device = :device AND bundle IN (SELECT bundle \(Self.merged))
      ON CONFLICT DO UPDATE SET emission = NULL, if_visible = 0
      """, values)
    // The hub may have recorded that the device brought equal rows. Perhaps the other history brought them, so the hub
    // forgets these records.
    try database.run(
      "UPDATE satchel_owed SET equal_at = NULL WHERE device = :device", ["device": .string(device.id.text)])
    try database.run(
      "UPDATE satchel_log SET device = :id WHERE device = :device AND bundle IN (SELECT bundle \(Self.merged))", values)
    try database.run(
      """
      UPDATE satchel_conflicts SET device = :id, told = NULL WHERE device = :device AND bundle IN (SELECT bundle \
      \(Self.merged))
      """,
      values)
    try database.run(
      "UPDATE satchel_rekeyed SET device = :id WHERE device = :device AND bundle IN (SELECT bundle \(Self.merged))",
      values)
    try database.run(
      "UPDATE satchel_chain SET device = :id WHERE device = :device AND sequence > :parted",
      ["id": .string(id.text), "device": .string(device.id.text), "parted": .integer(parted.rawValue)])
    try partFiles(of: device.id, after: parted, as: id)
    // Emissions that acknowledge exports of the other history do not fit the device any more. So the next emission is
    // made even without other news.
    try database.run(
      "UPDATE satchel_emissions SET written = 0 WHERE device = :device AND acknowledged > :parted",
      ["device": .string(device.id.text), "parted": .integer(parted.rawValue)])
    // The hub may know exports after `merged` by their digests alone, so `parted` may be higher.
    device.merged = min(device.merged, parted)
    // A backup may contain exports of the other history, but the device will use their numbers again.
    device.backedUp = min(device.backedUp, parted)
    // The hub does not know which emission the device has, until the device's next bundle comes.
    device.proved = .zero
    try save(device)
  }

  /// Makes sure that other histories stay complete when a device gives up its exports after `parted`. A history that
  /// parted later contains some of these exports too. Their digests are only in the device's own history so far.
  private func moveParting(of device: ReplicaID, to parted: SequenceNumber) throws {
    for branch in try branches(of: device) where branch.parted > parted {
      try copyChain(of: device, parted.next...branch.parted, to: branch.id)
      try database.run(
        "UPDATE satchel_branches SET parted = :parted WHERE id = :id",
        ["parted": .integer(parted.rawValue), "id": .string(branch.id.text)])
    }
  }

  /// Copies the digests of known exports to another history that contains the same exports.
  private func copyChain(
    of history: ReplicaID, _ sequences: ClosedRange<SequenceNumber>, to other: ReplicaID
  ) throws {
    try database.run(
      """
      INSERT OR IGNORE INTO satchel_chain (device, sequence, digest)
      SELECT :other, sequence, digest FROM satchel_chain
      WHERE device = :history AND sequence BETWEEN :first AND :last
      """,
      [
        "other": .string(other.text), "history": .string(history.text),
        "first": .integer(sequences.lowerBound.rawValue), "last": .integer(sequences.upperBound.rawValue),
      ])
  }

  /// Moves the files that came after `parted` to another history. The device may lack these files, and its own files
  /// are not newer versions of them.
  private func partFiles(of device: ReplicaID, after parted: SequenceNumber, as id: ReplicaID) throws {
    try database.run(
      "UPDATE satchel_received SET device = :id WHERE device = :device AND sequence > :parted",
      ["id": .string(id.text), "device": .string(device.text), "parted": .integer(parted.rawValue)])
    try database.run(
      """
      UPDATE satchel_attachments SET state = 'owed', sent = 0
      WHERE device = :device AND state = 'held' AND path IN (SELECT path FROM satchel_received WHERE device = :id)
      """, ["id": .string(id.text), "device": .string(device.text)])
  }

  /// Makes a copy's history the device's own history again. Before that, the device's history must end at the last
  /// export that both have in common.
  func rejoin(_ branch: Branch, _ device: inout EnrolledDevice) throws {
    try takeOver(branch, by: device.id)
    device.merged = branch.merged
    try save(device)
  }

  /// The ledger entries of a device's bundles that were merged after `:parted`.
  private static let merged = """
    FROM satchel_ledger
    WHERE peer = :name AND direction = 'in' AND kind = 'changes' AND verdict = 'imported' AND number > :parted
    """

  private func insert(_ branch: Branch, of device: ReplicaID, at now: Int64) throws {
    try database.run(
      "INSERT INTO satchel_branches (id, device, parted, merged, at) VALUES (:id, :device, :parted, :merged, :at)",
      [
        "id": .string(branch.id.text), "device": .string(device.text), "parted": .integer(branch.parted.rawValue),
        "merged": .integer(branch.merged.rawValue), "at": .integer(now),
      ])
  }
}

// MARK: a copy gets its own name

extension HubStore {
  /// Lets a new device continue the history of another device. Changes of that history that are merged already are not
  /// merged again.
  func goOn(_ device: inout EnrolledDevice, with continuation: Manifest.Continuation) throws {
    device.emitted = continuation.received
    guard let former = try self.device(continuation.device) else { return }
    device.continues = former.id
    // If the former device is on hold, the new device is on hold too.
    device.hold = former.hold
    // The device already has an emission with one of the former device's numbers.
    device.emitted = max(former.emitted, continuation.received)
    let branches = try branches(of: former.id)
    let own = Branch(id: former.id, parted: former.merged, merged: former.merged)
    let known = try ([own] + branches).map { ($0, try common(continuation.chain, with: $0.id)) }
    let (branch, highest) = known.max { $0.1 ?? .zero < $1.1 ?? .zero } ?? (own, nil)
    device.merged = try min(highest ?? reach(of: continuation, into: branch.id), branch.merged)
    try save(device)
    if branch.id != former.id { try takeOver(branch, by: device.id) }
    try inherit(from: former, upTo: min(device.merged, branch.parted), by: device.id, at: continuation.received)
  }

  /// The highest export that a chain and a history have in common. nil if they have none.
  private func common(_ chain: [Manifest.Changes.Link], with history: ReplicaID) throws -> SequenceNumber? {
    try chain.last { try digest(of: $0.sequence, in: history) == $0.digest }?.sequence
  }

  /// The last export that a device's history and `history` may have in common, if no common export is known.
  private func reach(of continuation: Manifest.Continuation, into history: ReplicaID) throws -> SequenceNumber {
    let other = try continuation.chain.first { link in
      try digest(of: link.sequence, in: history).map { $0 != link.digest } ?? false
    }
    return other.map { min(SequenceNumber($0.sequence.rawValue - 1), continuation.acknowledged) }
      ?? continuation.acknowledged
  }

  private func takeOver(_ branch: Branch, by device: ReplicaID) throws {
    for table in ["satchel_log", "satchel_conflicts", "satchel_rekeyed", "satchel_chain", "satchel_received"] {
      // Earlier releases recorded exports that both histories have under both ids. So `UPDATE` may meet existing rows.
      try database.run(
        "UPDATE OR REPLACE \(quoted(table)) SET device = :device WHERE device = :branch",
        ["device": .string(device.text), "branch": .string(branch.id.text)])
    }
    try database.run("DELETE FROM satchel_branches WHERE id = :branch", ["branch": .string(branch.id.text)])
  }

  /// Copies the digests of the exports that both devices have in common. Also copies the keys that the hub gave to rows
  /// of these exports.
  private func inherit(
    from former: EnrolledDevice, upTo sequence: SequenceNumber, by device: ReplicaID, at received: EmissionNumber
  ) throws {
    try copyChain(of: former.id, .zero...sequence, to: device)
    try database.run(
      """
      INSERT INTO satchel_rekeyed (table_name, new_key, device, old_key, bundle, at, told)
      SELECT table_name, new_key, :device, old_key, bundle, at, iif(told <= :received, told, NULL)
      FROM satchel_rekeyed
      WHERE device = :former AND (bundle IS NULL OR bundle NOT IN (SELECT bundle \(Self.merged)))
      ORDER BY entry
      """,
      [
        "device": .string(device.text), "former": .string(former.id.text), "name": .string(former.name),
        "parted": .integer(sequence.rawValue), "received": .integer(received.rawValue),
      ])
  }
}
