import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A history that a copy of a device's folder wrote. Its first exports are also in the device's own history.
struct Branch {
  /// The id of the history in chain, log and conflicts, until the copy gets its own name.
  let id: ReplicaID
  /// The last export that belongs to both histories.
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

  /// Whether this is the id of a history that a copy wrote.
  func isBranch(_ id: ReplicaID) throws -> Bool {
    try database.first("SELECT 1 FROM satchel_branches WHERE id = :id", ["id": .string(id.text)]) { _ in true } ?? false
  }

  /// The devices that were copies of this device.
  func heirs(of device: ReplicaID) throws -> [EnrolledDevice] { try devices().filter { $0.continues == device } }

  /// The known fork that a bundle belongs to. nil if none is known. Two forks may have some of its exports in common.
  /// Then it belongs to the fork with the most of them.
  /// - Parameter links: the exports that the bundle names, with itself.
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
    /// The copy has not sent a request yet. The history has this id until then.
    case unclaimed(ReplicaID)
    /// The copy continues as the device of this name.
    case claimed(by: String)
  }

  /// Records a history that a copy wrote. The export `parted` is the last one in both histories. No later export of
  /// this history was merged.
  func add(
    _ links: [Manifest.Changes.Link], partedAfter parted: SequenceNumber, from device: ReplicaID, as id: ReplicaID,
    at now: Int64
  )
    throws
  {
    try insert(Branch(id: id, parted: parted, merged: parted), of: device, at: now)
    try keep(links, in: id)
  }

  /// Assigns a device's merged bundles after `parted` to another history. For the device that continues, their changes
  /// now count as changes of others.
  func part(_ device: inout EnrolledDevice, after parted: SequenceNumber, as id: ReplicaID, at now: Int64) throws {
    try moveParting(of: device.id, to: parted)
    try insert(Branch(id: id, parted: parted, merged: device.merged), of: device.id, at: now)
    let values: KeyValuePairs<String, Value> = [
      "id": .string(id.text), "device": .string(device.id.text), "name": .string(device.name),
      "parted": .integer(parted.rawValue),
    ]
    // These bundles may also contain work of the common exports, which the device that continues has too.
    try database.run(
      """
      INSERT INTO satchel_owed (device, table_name, row, emission, if_visible)
      SELECT DISTINCT :device, table_name, row, NULL, 0
      FROM satchel_log
      WHERE device = :device AND bundle IN (SELECT bundle \(Self.merged))
      ON CONFLICT DO UPDATE SET emission = NULL, if_visible = 0
      """, values)
    // The other history may have brought the equal rows.
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
    // Bundles for the device that acknowledge exports of the other history are not for this one. The next bundle gets a
    // number of its own, even if it has no other news.
    try database.run(
      "UPDATE satchel_emissions SET written = 0 WHERE device = :device AND acknowledged > :parted",
      ["device": .string(device.id.text), "parted": .integer(parted.rawValue)])
    // The hub may know later exports by their digests alone.
    device.merged = min(device.merged, parted)
    // A backup contains exports of the other history under the numbers that this history uses again.
    device.backedUp = min(device.backedUp, parted)
    // The next bundle of the device shows which emission the device has.
    device.proved = .zero
    try save(device)
  }

  /// Keeps the other histories whole when a device leaves its exports after `parted`. A history that parted later has
  /// some of these exports too. So far they are only in the device's own history.
  private func moveParting(of device: ReplicaID, to parted: SequenceNumber) throws {
    for branch in try branches(of: device) where branch.parted > parted {
      try copyChain(of: device, parted.next...branch.parted, to: branch.id)
      try database.run(
        "UPDATE satchel_branches SET parted = :parted WHERE id = :id",
        ["parted": .integer(parted.rawValue), "id": .string(branch.id.text)])
    }
  }

  /// Copies the digests of known exports to another history, which has these exports too.
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

  /// Assigns files that came after `parted` to another history. The device that continues may lack them, and its own
  /// files are no newer versions of them.
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

  /// Assigns a history to its device again. The device must follow a history that ends at the last export that both
  /// have in common.
  func rejoin(_ branch: Branch, _ device: inout EnrolledDevice) throws {
    try takeOver(branch, by: device.id)
    device.merged = branch.merged
    try save(device)
  }

  /// The ledger's lines of a device's bundles that were merged after `:parted`.
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
  /// Lets a new device continue the history of another device. Changes of that history that were merged are not merged
  /// again.
  func goOn(_ device: inout EnrolledDevice, with continuation: Manifest.Continuation) throws {
    device.emitted = continuation.received
    guard let former = try self.device(continuation.device) else { return }
    device.continues = former.id
    // A new name does not end a hold.
    device.hold = former.hold
    // The device already has an emission with one of these numbers.
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

  /// The highest export that a chain and a history have in common. nil if none is known.
  private func common(_ chain: [Manifest.Changes.Link], with history: ReplicaID) throws -> SequenceNumber? {
    try chain.last { try digest(of: $0.sequence, in: history) == $0.digest }?.sequence
  }

  /// The last export that a device's own history may share with `history`, if no common export is known.
  private func reach(of continuation: Manifest.Continuation, into history: ReplicaID) throws -> SequenceNumber {
    let other = try continuation.chain.first { link in
      try digest(of: link.sequence, in: history).map { $0 != link.digest } ?? false
    }
    return other.map { min(SequenceNumber($0.sequence.rawValue - 1), continuation.acknowledged) }
      ?? continuation.acknowledged
  }

  private func takeOver(_ branch: Branch, by device: ReplicaID) throws {
    for table in ["satchel_log", "satchel_conflicts", "satchel_rekeyed", "satchel_chain", "satchel_received"] {
      // Earlier releases also recorded exports that both histories have.
      try database.run(
        "UPDATE OR REPLACE \(quoted(table)) SET device = :device WHERE device = :branch",
        ["device": .string(device.text), "branch": .string(branch.id.text)])
    }
    try database.run("DELETE FROM satchel_branches WHERE id = :branch", ["branch": .string(branch.id.text)])
  }

  /// Copies the known exports that both devices have in common, and the keys that the hub gave to rows in these
  /// exports.
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
