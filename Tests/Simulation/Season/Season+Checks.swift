import SatchelBundle
import SatchelConflicts
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import SimulatedWorld
import TestSupport

/// The rows whose deletion the hub saw, and whether the hub may lack exports.
struct Presence {
  /// Whether the hub may lack exports that devices delivered, because it came back from a backup or for another reason.
  private(set) var isRestored = false
  fileprivate var gone: Set<RowName> = []

  /// Records that the hub may lack exports: a copy of the hub received them, or a thief acknowledged them.
  mutating func lacksExports() { isRestored = true }

  /// The restored hub does not know the earlier deletions.
  static var afterRestore: Presence {
    var presence = Presence()
    presence.isRestored = true
    return presence
  }
}

/// The conditions that must hold during a season and at its end.
extension Season {
  // MARK: during a season

  /// Records the values of devices whose apps are open. A database that cannot be read holds nothing new.
  func seeAll() { for device in devices { see(device) } }

  func see(_ device: FieldDevice) {
    guard let app = device.openApp else { return }
    try? overwritten.see(
      app.database, of: device.workspace.configuration.id.text, tables: ["sites", "visits", "counters"])
  }

  /// Checks that each value that a device overwrote, but never had, is in a conflict.
  func checkNothingOverwritten() throws {
    if let words = try overwritten.lost(in: admin().database) { throw Wrong(words) }
  }

  /// Checks that no deleted row comes back by itself.
  func checkResurrection(before: Set<RowName>, after: Set<RowName>, by parcel: Parcel) throws {
    defer {
      presence.gone.formUnion(before.subtracting(after))
      if parcel.device == nil { for row in before.subtracting(after) { deleters[row] = parcel.from } }
    }
    let back = after.subtracting(before).intersection(presence.gone).filter(Self.hasKeyOfItsOwn)
    if back.isEmpty { return }
    let known = try rowsInConflicts()
    for row in back.sorted() where !known.contains(row) {
      throw Wrong("\(parcel.name) brought \(row) back, and no conflict says so")
    }
  }

  /// Checks that each row that a bundle deleted is deleted at the end, or in a conflict, whatever the hub forgot.
  private func checkDeletions() throws {
    let rows = try Set(admin().rows().keys)
    let back = deleters.filter { rows.contains($0.key) }
    if back.isEmpty { return }
    let known = try rowsInConflicts()
    for (row, name) in back.sorted(by: { $0.key < $1.key }) where !known.contains(row) {
      // A device that is lost or was put back lacks bundles.
      let hasBundles = !wasPutBack.contains(name) && devices.contains { $0.name == name }
      if !hasBundles || !Self.hasKeyOfItsOwn(row) { continue }
      throw Wrong("\(name) deleted \(row), and it is back, and no conflict says so")
    }
  }

  private func rowsInConflicts() throws -> Set<RowName> {
    try Set(hub.conflicts(ConflictState.allCases).map { Self.row(of: $0.record) })
  }

  /// Whether only one row may ever have this key. Keys that several people choose may be used again.
  private static func hasKeyOfItsOwn(_ row: RowName) -> Bool { row.id.text.hasPrefix("k") }

  static func row(of record: ConflictRecord) -> RowName {
    guard case .text(let bytes)? = record.key.values.first else {
      return RowName(table: record.table.text, id: ExactText(""))
    }
    return RowName(table: record.table.text, id: ExactText(String(decoding: bytes, as: UTF8.self)))
  }

  /// Checks that no device treats an export as acknowledged that the hub lacks.
  func checkAcknowledged() throws {
    if isHubInDoubt { return }
    let epoch = try admin().database.first("SELECT epoch FROM satchel_hub") { $0.text(0) }
    for device in devices {
      let known = try device.app()?.database.first("SELECT acknowledged, epoch FROM satchel_device") {
        ($0.integer(0), $0.text(1))
      }
      guard let known, known.1 == epoch else { continue }
      // The table is read directly. The hub would read all its tables each time it is opened.
      let merged = try admin().database.first(
        "SELECT merged FROM satchel_devices WHERE name = :name", ["name": .string(device.name)]
      ) { $0.integer(0) }
      guard let merged else { throw Wrong("the hub does not know \(device.name)") }
      if known.0 > merged { throw Wrong("\(device.name) knows \(known.0) as acknowledged, and the hub has \(merged)") }
    }
  }

  /// Checks that rows that came with a bundle do not count as changed on the receiver.
  /// - Parameter before: the rows with captured changes before the import. nil: there was no database.
  func checkCaptured(_ app: FieldApp?, before: Set<RowName>?, by parcel: Parcel) throws {
    guard let app, let before, let row = try app.captured().subtracting(before).min() else { return }
    throw Wrong("\(row) came with \(parcel.name), and counts as changed where it came")
  }

  /// Checks that no two bundles from the hub have one name. Two bundles of a copied device may have one name: the hub
  /// detects the copy by that.
  func checkName(of parcel: Parcel) throws {
    if parcel.device == nil { return }
    let digest = Digest.of(try files.read(parcel.path, limit: 1 << 26))
    if let other = contents.updateValue(digest, forKey: parcel.name), other != digest {
      throw Wrong("there are two bundles \(parcel.name)")
    }
  }

  /// Checks that a bundle holds nothing about rows that its user may not see.
  func checkScope(of parcel: Parcel, for device: FieldDevice) throws {
    let platform = Platform(files: files, clock: PassingClock(time), random: SeededRandom(seed))
    let bundle = try BundleReader(platform: platform).read(
      parcel.path, trust: .keys([hub.keys.ownKey()]), staging: stick)
    let seen = try sitesSeen(by: device)
    try bundle.eachChange { line in
      guard case .row(let fields) = line.content, line.table.text != "counters" else { return }
      let site = line.table.text == "sites" ? line.key.values.first : fields.first { $0.name.text == "site" }?.value
      guard case .text(let bytes)? = site, seen.contains(ExactText(String(decoding: bytes, as: UTF8.self))) else {
        throw Wrong("\(parcel.name) contains \(line.table) \(line.key), which its user may not see")
      }
    }
  }

  /// The sites that the device's user may see. This test computes them by itself, without the tested code.
  private func sitesSeen(by device: FieldDevice) throws -> Set<ExactText> {
    try Set(admin().sites().filter { $0.zone % rules.modulus != hidden[device.index] }.map(\.id))
  }

  // MARK: the end

  func finish() throws {
    say("-- the end of the season")
    try carryLateSticks()
    // With an odd seed, no doctor runs before the rows are compared.
    if seed % 2 == 0 { try takeUpUnseenWrites() }
    if seed % 4 == 3 { try checkOrder() }
    try exchangeAll()
    // Not all devices came back, and the operator waits no longer.
    if try hub.status().recovery != nil {
      _ = try operating { try hub.finishRecovery() }
      try exchangeAll()
    }
    isHubInDoubt = false
    if parts {
      try answerEstranged()
      try takeUpUnseenWrites()
      try exchangeAll()
    }
    try checkAcknowledged()
    try checkConvergence()
    let ofDevices = try conflictsOfDevices()
    try checkNothingLost(ofDevices)
    try checkDeletions()
    try checkNothingOverwritten()
    if parts {
      try checkCounts()
      try checkCountersOfNewHub()
    }
    if hasNewKey, !bringsFalse { try checkNothingFalse() }
    try checkTakenOnce()
    try checkNothingUnseen(ofDevices)
    try checkNothingLeft()
    if let problem = try admin().unsoundness() { throw Wrong("the hub's database is not sound: \(problem)") }
    // After a command was stopped, the doctor must find no half-done work.
    if wasStopped || seed % 4 == 1 { try checkHealth() }
    // Not after a folder was put back: the stick of a former history would then be merged again, under another number.
    if seed % 4 == 0, wasPutBack.isEmpty { try checkRepetition() }
    if seed % 4 == 2 { try checkArchive() }
  }

  /// Exchanges bundles without faults until a round brings nothing new, or `mostRounds` rounds are done.
  private func exchangeAll() throws {
    var (rounds, taken) = (0, Set<Digest>())
    while rounds < mostRounds, try cleanRound(&taken) { rounds += 1 }
  }

  /// All devices deliver and fetch. Returns whether there was anything new. In three of four seasons, acknowledgements
  /// do not count as new, which saves time.
  private func cleanRound(_ taken: inout Set<Digest>) throws -> Bool {
    let before = (news, newContent)
    func bring(_ parcel: Parcel) throws { try self.bring(parcel, &taken) }
    for device in devices {
      if parts, seed % 2 == 0 { try bringBackDatabase(of: device) }
      if try device.app() == nil { try deliver(try emit(to: device)) }
      if parts { try bringBackDatabase(of: device) }
      for path in try redelivery(of: device) { try bring(try pack(path, from: device.name, to: nil)) }
      if let parcel = try export(device, besideOthers: false) { try bring(parcel) }
    }
    for device in devices { try bring(try emit(to: device)) }
    return seed % 4 == 0 ? news > before.0 : newContent > before.1
  }

  /// Delivers a file. In three of four seasons, an imported file is not carried again, which saves time. Other events
  /// test files that come twice, in all seasons.
  private func bring(_ parcel: Parcel, _ taken: inout Set<Digest>) throws {
    if seed % 4 == 0 { return try deliver(parcel) }
    let digest = Digest.of(try files.read(parcel.path, limit: 1 << 26))
    if taken.contains(digest) { return }
    let before = refusals
    try deliver(parcel)
    if refusals == before { taken.insert(digest) }
  }

  private func checkConvergence() throws {
    let app = try admin()
    let rows = try app.rows()
    let visits = try app.visits()
    for device in devices {
      guard let has = try device.app()?.rows() else { throw Wrong("\(device.name) has no database") }
      let names = try sitesSeen(by: device)
      let want = Set(
        names.map { RowName(table: "sites", id: $0) }
          + visits.filter { names.contains($0.site) }.map { RowName(table: "visits", id: $0.id) })
      let wanted = rows.filter { $0.key.table == "counters" || want.contains($0.key) }
      if has != wanted { throw Wrong("\(device.name) diverged: \(Self.difference(has, wanted))") }
      let pending = try device.workspace.status().current?.pending ?? []
      if !pending.isEmpty { throw Wrong("\(device.name) still has pending steps: \(pending)") }
    }
  }

  private static func difference(_ have: [RowName: ExactText], _ want: [RowName: ExactText]) -> String {
    let rows = Set(have.keys).union(want.keys).filter { have[$0] != want[$0] }
    return rows.sorted().map {
      "\($0): it has \(have[$0]?.text ?? "nothing"), and the hub \(want[$0]?.text ?? "nothing for it")"
    }
    .joined(separator: "; ")
  }

  /// The conflicts that the devices know, in the order of the devices.
  private func conflictsOfDevices() throws -> [[StoredConflict]] {
    try devices.map { try $0.workspace.conflicts(ConflictState.allCases) }
  }

  private func checkNothingLost(_ ofDevices: [[StoredConflict]]) throws {
    let conflicts = try hub.conflicts(ConflictState.allCases) + ofDevices.joined()
    var kept = try admin().logged().union(remembered)
    for conflict in conflicts {
      if let problem = Self.agreement(in: conflict.record) { throw Wrong(problem) }
      for case .text(let bytes) in (conflict.record.deviceValues ?? []).map(\.value) {
        kept.insert(String(decoding: bytes, as: UTF8.self))
      }
    }
    let rows = try admin().database.all("SELECT name, note FROM sites UNION ALL SELECT a, b FROM visits") {
      [$0.optionalText(0), $0.optionalText(1)]
    }
    for text in rows.joined() { if let text { kept.insert(text) } }
    for device in devices {
      for (cell, value) in device.duty.sorted(by: { $0.key < $1.key }) where !kept.contains(value) {
        throw Wrong("\(device.name) lost \(cell) = \(value)")
      }
    }
  }

  /// Checks that no change is merged twice. Each export repeats all changes that are not known to be merged.
  private func checkTakenOnce() throws {
    let twice = try admin().database.first(
      """
      SELECT table_name || ' ' || key FROM satchel_log WHERE bundle IS NOT NULL
      GROUP BY device, table_name, key, stamp HAVING count(DISTINCT bundle) > 1
      """
    ) { $0.text(0) }
    if let twice { throw Wrong("one change of \(twice) was taken with two bundles") }
  }

  /// Returns words if both sides of a conflict have the same value. Then they do not disagree.
  private static func agreement(in record: ConflictRecord) -> String? {
    guard record.kind == .updateUpdate, let hub = record.hubValues, let device = record.deviceValues else { return nil }
    for winner in record.winners {
      guard let theirs = hub.first(where: { $0.name == winner.name }),
        let own = device.first(where: { $0.name == winner.name }),
        theirs.value == own.value
      else { continue }
      return "\(row(of: record)).\(winner.name) is in disagreement, and both wrote \(own.value)"
    }
    return nil
  }

  /// Checks that a device reports a change as unseen only if capture did not record it.
  private func checkNothingUnseen(_ ofDevices: [[StoredConflict]]) throws {
    for (device, conflicts) in zip(devices, ofDevices) {
      let found = conflicts.first { $0.record.kind == .unseen && !unseen.contains(Self.row(of: $0.record)) }
      if let found { throw Wrong("\(device.name) took a change for unseen: \(found.record)") }
    }
  }

  /// Checks that no temporary file of a command is left. Later commands remove such files.
  private func checkNothingLeft() throws {
    for root in [hub.folder.root] + devices.map(\.workspace.folder.root) {
      if let path = try leftover(in: root) { throw Wrong("\(path) was left behind") }
    }
  }

  private func leftover(in folder: String) throws -> String? {
    for name in try files.list(folder) {
      let path = Paths.join(folder, name)
      if name.hasPrefix(SimulatedFiles.temporaryPrefix) || name.hasPrefix("pending-") { return path }
      if try files.kind(path) == .directory, let found = try leftover(in: path) { return found }
    }
    return nil
  }

  /// The tables of every database, as text.
  func dumps() throws -> [[String: [String]]] {
    try [admin().dump()] + devices.map { try $0.app()?.dump() ?? [:] }
  }

  /// The tables of every database that only a bundle or an app may change.
  func results() throws -> [[String: [String]]] {
    try dumps().map {
      $0.filter { ["sites", "visits", "counters", "satchel_conflicts", "satchel_devices"].contains($0.key) }
    }
  }

  /// Imports again every bundle that was ever made, and checks that nothing changes.
  private func checkRepetition() throws {
    // A restored hub receives some of these bundles for the first time, and records their digests. A device records
    // bundles of a lost history.
    let learned = presence.isRestored ? ["satchel_chain", "satchel_estrangement", "satchel_lost_emissions"] : []
    let before = try dumps().map { $0.filter { !learned.contains($0.key) } }
    let epoch = try hub.status().epoch
    func collected() throws -> Int64 {
      try admin().database.first("SELECT count(*) FROM satchel_lost_emissions") { $0.integer(0) } ?? 0
    }
    let known = try collected()
    let current = Set(devices.map(\.name) + ["hub"])
    for parcel in everMade where current.contains(parcel.from) && current.contains(parcel.device ?? "hub") {
      if try files.kind(parcel.path) != nil { try deliver(parcel) }
    }
    // A bundle may be carried here for the first time, and prove that there was another hub. Then all sides must agree
    // again.
    if try epoch != hub.status().epoch { return try settle() }
    // A bundle of a lost time may be carried here for the first time. The hub merges it now.
    if try collected() != known { return try settle() }
    let after = try dumps()
    // A late bundle of a lost time may change its device's state. The device then carries exports that the hub lacks.
    let isMoved = Self.movedByLateBundles.contains { table in zip(before, after).contains { $0[table] != $1[table] } }
    if presence.isRestored, isMoved { return try settle() }
    if let change = Self.firstChange(before, after) { throw Wrong("importing again changed \(change)") }
  }

  private static let movedByLateBundles = [
    "satchel_device", "satchel_brought_emissions", "satchel_awaited_emissions",
  ]

  private func settle() throws {
    try exchangeAll()
    if parts { try answerEstranged() }
    try checkConvergence()
    try checkNothingLost(conflictsOfDevices())
    if parts { try checkCounts() }
  }

  /// The first difference between databases, in words; nil: none.
  static func firstChange(_ before: [[String: [String]]], _ after: [[String: [String]]]) -> String? {
    for (before, after) in zip(before, after) {
      for table in before.keys.sorted() where before[table] != after[table] {
        let (old, new) = (before[table] ?? [], after[table] ?? [])
        return "\(table): gone is \(old.filter { !new.contains($0) }), new is \(new.filter { !old.contains($0) })"
      }
    }
    return nil
  }

  private func checkHealth() throws {
    let findings = try hub.examine().findings.filter { finding in
      // A row with an unseen write counts as different until its device proves its rows again.
      if finding.reason == "differs" { return unseen.isEmpty }
      // A forged bundle is reported until the device's next export.
      return finding.reason != "unknown-emission" || !hasForgedProofs
    }
    if !findings.isEmpty { throw Wrong("the hub is well, and the doctor finds \(findings)") }
    for device in devices where try device.app() != nil {
      let report = try device.workspace.examine()
      if !report.isWell { throw Wrong("\(device.name) is well, and the doctor finds \(report)") }
    }
  }

  private func checkArchive() throws {
    let report = try hub.audit()
    if !report.findings.isEmpty { throw Wrong("archive, ledger and log do not agree: \(report.findings)") }
  }
}
