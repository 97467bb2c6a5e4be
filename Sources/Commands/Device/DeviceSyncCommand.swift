import SatchelBundle
import SatchelDevice
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

extension DeviceTool {
  static var syncing: SyncCommands {
    SyncCommands(
      tool: name, check: { _ = try open($0, $1) },
      sync: { stick, command, context in
        let workspace = try open(command, context)
        let syncing = try Syncing(
          tool: name, command, context, stick: stick, workspace.configuration, unknown: workspace.unknownOwn)
        if workspace.isDocked {
          return try syncing.run(
            take: { _, files in try stage(stick: files, in: workspace, command) },
            make: { _ in try outgoing(workspace) },
            cut: { _, file, medium in
              try workspace.putVolumes(of: file, on: medium, parity: command.parityShare())
            })
        }
        return try syncing.run(
          take: { _, files in try take(stick: files, into: workspace, command) },
          make: { try due(workspace, command, for: $0, unknown: syncing.stick.unknown) },
          cut: { _, file, medium in
            try workspace.putVolumes(of: file, on: medium, parity: command.parityShare())
          },
          made: { made(workspace, before: $0) })
      }, speech: { try SyncSpeech($0, $1) })
  }

  /// Imports the bundles on a stick.
  private static func take(
    stick files: [String], into workspace: DeviceWorkspace, _ command: ParsedCommand
  ) throws -> Syncing.Import {
    let inspected = try workspace.inspect(files)
    let rounds = try ImportRounds(stick: inspected) { file in
      told(try workspace.importBundle(file, from: .stick, fingerprint: command.value("fingerprint")), command)
    }
    return .init(answer: rounds.answer, taken: rounds.taken, leftAlone: rounds.leftAlone)
  }

  /// The export to carry, if the hub is not known to have it.
  /// - Parameters:
  ///   - stick: the stick that carries the export. nil if the stick is not known yet.
  ///   - unknown: files of this device that its database does not know.
  static func due(
    _ workspace: DeviceWorkspace, _ command: ParsedCommand, for stick: StickRoom?, unknown: [UnknownOwnBundle] = []
  ) throws -> [Syncing.Outgoing] {
    let before: DeviceStatus.Current
    switch try working(workspace) {
    case .success(let current?): before = current
    case .success(nil): return [.init(to: "the hub", file: nil, words: "nothing before its first bundle came here.")]
    case .failure(let obstacle):
      guard let stranded = try workspace.stranded() else { throw obstacle }
      return [delivery(of: stranded, because: Failure(obstacle))]
    }
    let hub = before.state.hubName
    if try workspace.keys.areDiscarded() { return [try withoutKeys(workspace, to: hub)] }
    let room = stick?.next(to: hub) ?? BundleRoom()
    if let stick, let begun = try begun(workspace, to: hub, room, stick) { return [begun] }
    var report = try workspace.export(encryption: command.encryption, room: room)
    // This device has two histories. The hub can settle them only if an export of the present history comes too.
    let isBehind = unknown.contains { $0.isProof && ($0.manifest?.wholeNumber ?? 0) > report.sequence.rawValue }
    if isBehind, !report.isNew {
      report = try workspace.export(proof: true, encryption: command.encryption, room: room)
    }
    let carried = try workspace.carriedBefore()
    let again = carried.filter { $0 != report.file }
    if !again.isEmpty {
      return [.init(to: hub, file: report.file, words: wordsOfCarried(again, to: hub, workspace), before: again)]
    }
    // If the hub was restored, it may lack the last export, although it acknowledged that export before.
    guard report.isNew || report.sequence > before.state.acknowledged || carried.contains(report.file) else {
      return [.init(to: hub, file: nil, words: "nothing, it has everything.")]
    }
    let total = report.changes.reduce(0) { $0 + $1.count }
    let left = AttachedWords.left(report.attachedLeft)
    let words = "bundle \(report.sequence), \(Words.count(total, "change")).\(left)"
    let content = Syncing.Outgoing.Content(
      changes: total, files: report.attached, filesLeft: report.attachedLeft)
    return [.init(to: hub, file: report.file, words: words, content: content)]
  }

  /// Says why other bundles go to the hub before the newest export.
  private static func wordsOfCarried(_ again: [String], to hub: String, _ workspace: DeviceWorkspace) -> String {
    let configuration = workspace.configuration
    let prefix = Manifest.namePrefix(dataset: configuration.dataset, from: hub, to: configuration.name)
    let all = Words.count(again.count + 1, "bundle")
    let own = again.count { Paths.name(of: $0).hasPrefix(prefix) }
    if own == again.count { return "\(all), with \(own) that the hub itself made and may lack." }
    return "\(all): it may lack earlier changes that the last bundle does not contain."
  }

  /// A device without keys makes no bundle. But it carries the hub's own bundles back to a hub that lost them.
  private static func withoutKeys(_ workspace: DeviceWorkspace, to hub: String) throws -> Syncing.Outgoing {
    let carried = try workspace.carriedBefore()
    guard let last = carried.last else {
      return .init(to: hub, file: nil, words: "nothing: it has no key of its own, and only receives.")
    }
    return .init(
      to: hub, file: last, words: "\(Words.count(carried.count, "bundle")) that the hub itself made, and lacks.",
      before: carried.dropLast())
  }

  /// The export that sticks carry in volumes. nil unless some volumes are on no stick yet, and this stick has no room
  /// for the whole export. A new export would make the volumes on other sticks useless.
  private static func begun(
    _ workspace: DeviceWorkspace, to hub: String, _ room: BundleRoom, _ stick: StickRoom
  ) throws -> Syncing.Outgoing? {
    guard let file = try workspace.exportOnSticks(), try stick.isTooSmall(room, for: file) else { return nil }
    return .init(
      to: hub, file: file, words: "bundle \(Paths.name(of: file)).",
      before: try workspace.carriedBefore().filter { $0 != file })
  }

  /// The status of the device's data. nil if the hub's first bundle has not come. A failure if the device had data and
  /// its database cannot be used.
  private static func working(_ workspace: DeviceWorkspace) throws -> Result<DeviceStatus.Current?, any Error> {
    let status = try workspace.status()
    if let current = status.current { return .success(current) }
    do { try workspace.checkDatabase() } catch { return .failure(error) }
    // The damage may be in a part of the database that only `status` reads.
    if case .damaged(let words) = status.trouble { return .failure(SQLiteError(corrupt: words)) }
    return .success(nil)
  }

  /// The finished exports in the outbox, for a device that cannot export now. If the exports cannot be read either, the
  /// list is empty, because the error of the export is enough.
  private static func made(_ workspace: DeviceWorkspace, before failure: Failure) -> [Syncing.Outgoing] {
    guard let stranded = try? workspace.stranded(), !stranded.exports.isEmpty else { return [] }
    return [delivery(of: stranded, because: failure)]
  }

  /// The files to carry if no new export can be made: the finished exports, and the last bundle that this device
  /// received from the hub.
  private static func delivery(of stranded: DeviceWorkspace.Stranded, because failure: Failure) -> Syncing.Outgoing {
    .init(
      to: stranded.hub, file: stranded.files.last, words: "\(Words.count(stranded.files.count, "file")) that lay here.",
      failure: failure, before: Array(stranded.files.dropLast()))
  }
}
