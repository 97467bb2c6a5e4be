import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension HubTool {
  static var emit: Command {
    Command(
      ["emit"], summary: "write bundles for devices, each with its user's rows",
      discussion: """
        Writes into bundles/outbox, for each chosen device, the rows that its user may see and the device may lack. If \
        nothing is new for a device, no bundle is written for it.
        """,
      options: [
        OptionSpec("all", help: "for every active device"),
        OptionSpec("device", kind: .value("NAME"), help: "for this device", repeatable: true),
        OptionSpec("user", short: "u", kind: .value("USER"), help: "for all devices of this user"),
        OptionSpec("full", help: "all rows that the user may see, even if the device has them"),
        OptionSpec(
          "to", kind: .value("DIR"),
          help: "copy the bundles to this stick or folder too; - for standard output"),
        Encrypting.option, Medium.plainFolder, Medium.trustSize, AttachedWords.option, BundleSize.option,
      ] + Volumes.options,
      examples: [
        Example("satchel-hub emit --all --to /media/stick", "For all devices, onto a stick."),
        Example("satchel-hub emit --device tablet-1 --full", "The tablet lost its data."),
        Example(
          "satchel-hub emit --device tablet-1 --volume-size 1G --parity 2 --to /media/stick",
          "In pieces; any two of them may get lost."),
      ], changesData: true
    ) { command, context in
      let hub = try open(command, context)
      try command.checkDelivery(to: .folder, context)
      var names = try chosen(command, hub)
      // If a person names an expired device, the command fails. With `--all`, it leaves expired devices out, and the
      // other devices get their bundles. The same holds for a device of an unknown user.
      let isForAll = command.values("device").isEmpty
      let expired = isForAll ? try hub.expiredDevices() : []
      let unknown = isForAll ? try hub.devicesOfUnknownUsers() : []
      names.removeAll { expired.contains($0) || unknown.contains($0) }
      let isStreamed = command.value("to") == Streams.word
      if isStreamed, names.count != 1 {
        throw UsageError("--to - writes one bundle, and this makes \(names.count): choose one device with --device")
      }
      try command.takeProofs(into: hub, context)
      let made = try hub.emitting { emitter in
        try names.map { name in
          let report: EmitReport
          do {
            report = try emitter.emit(
              to: name, full: command.flag("full"), encryption: command.encryption, room: command.bundleRoom())
          } catch let error where names.count > 1 && Failure.concernsOneDevice(error) {
            return Made(device: name, failure: Failure(error))
          }
          if let excess = try excess(of: report, over: command.bundleSize()) {
            return Made(device: name, report: report, failure: Failure(excess))
          }
          let delivered = try command.deliver(report.file, of: hub.configuration, context, unknown: hub.unknownOwn) {
            try emitter.cut(report, size: $0.size, parity: $0.parity, into: $1)
          }
          return Made(device: name, report: report, delivered: delivered)
        }
      }
      var left = expired.map { "\($0): expired, nothing was made\n" as TerminalText }.joined()
      left += unknown.map { "\($0): its user is not known here, nothing was made: satchel-hub status\n" }.joined()
      var answer = answer(made, left)
      if isStreamed, !command.dryRun, answer.code == .done { answer.output = made[0].report?.file }
      return answer
    }
  }

  /// The result for one device.
  private struct Made {
    let device: String
    var report: EmitReport?
    var delivered = Delivered()
    var failure: Failure?
  }

  /// - Parameter left: the words about devices for which no bundle was due.
  private static func answer(_ made: [Made], _ left: TerminalText) -> Answer {
    let reports = made.compactMap { made in made.report.map { ($0, made.delivered) } }
    let words = reports.map { text($0, $1) }.joined() + left
    let isNone = made.isEmpty && left.isEmpty
    let failed = made.compactMap { made in made.failure.map { (device: made.device, failure: $0) } }
    var answer = Answer(
      isNone ? "There is no active device.\n" : words,
      [
        "emissions": .array(reports.map { json($0, $1) }),
        "failed": .array(failed.map { ["device": .string($0.device), "error": $0.failure.json] }),
      ])
    if let first = failed.first?.failure {
      answer.warnings = failed.map { "\($0.device): \($0.failure.text)" }.joined()
      answer.members.append(.init(name: "error", value: first.json))
      answer.code = failed.count == made.count ? .failed : .partial
    }
    return answer
  }

  /// The failure of a bundle whose rows alone are larger than the requested size.
  private static func excess(of report: EmitReport, over size: Int64?) throws -> WorkspaceError? {
    BundleSize.excess(of: report.bytes, over: size, cut: "satchel-hub emit --device \(report.device)")
  }

  private static func chosen(_ command: ParsedCommand, _ hub: HubWorkspace) throws -> [String] {
    let names = command.values("device")
    let user = command.value("user")
    guard [command.flag("all"), !names.isEmpty, user != nil].count(where: { $0 }) == 1 else {
      throw UsageError("say for whom: --all, --device NAME or --user USER")
    }
    if !names.isEmpty { return names }
    let active = try hub.devices().filter { $0.state == .active }
    guard let user else { return active.map(\.name) }
    guard try hub.users().contains(where: { Name($0.name) == Name(user) }) else { throw HubWorkspace.noUser(user) }
    return active.filter { Name($0.user) == Name(user) }.map(\.name)
  }

  private static func text(_ report: EmitReport, _ delivered: Delivered) -> TerminalText {
    let who = "\(report.device) (\(report.user))"
    let place = delivered.place(report.file)
    guard report.isNew else { return "\(who): nothing is new since bundle \(report.number), \(place)\n" }
    let extent = report.extent == .full ? "everything" : "what changed"
    return
      """
      \(who): bundle \(report.number), \(extent): \(Words.count(report.rows, "row")), \(report.gone) gone -> \
      \(place)\n
      """
        + rowsLeft(report) + AttachedWords.carried(report.attached, left: report.attachedLeft)
  }

  private static func rowsLeft(_ report: EmitReport) -> TerminalText {
    if report.rowsLeft == 0 { return "" }
    return "Left for later bundles: \(Words.count(report.rowsLeft, "row")) of a lower priority.\n"
  }

  private static func json(_ report: EmitReport, _ delivered: Delivered) -> JSONValue {
    let members: KeyValuePairs<String, JSONValue> = [
      "device": .string(report.device), "user": .string(report.user), "new": .bool(report.isNew),
      "number": .integer(report.number.rawValue), "extent": .string(report.extent.rawValue),
      "rows": .integer(Int64(report.rows)), "rows_left": .integer(Int64(report.rowsLeft)),
      "gone": .integer(Int64(report.gone)), "file": .string(report.file), "files": .integer(Int64(report.attached)),
      "files_left": .integer(Int64(report.attachedLeft)),
    ]
    return .object(members.map { JSONValue.Member(name: $0.key, value: $0.value) } + delivered.members)
  }
}

extension ParsedCommand {
  /// Imports the bundles of this hub that are on the stick of `--to` and that the hub does not know. Throws if one of
  /// them proves that the hub was set back.
  fileprivate func takeProofs(into hub: HubWorkspace, _ context: CommandContext) throws {
    guard let named = value("to").map({ path($0) }), named != Streams.word else { return }
    let platform = context.confined(below: named).platform
    guard try platform.isFolder(named), try Stick.isStick(named, platform) else { return }
    let stick = try Stick(named, of: hub.configuration, platform, unknown: hub.unknownOwn)
    let proofs = stick.unknown.proofsOfHub
    for proof in proofs { _ = try hub.importBundle(proof.path, from: .stick, lostTime: .later) }
    if !proofs.isEmpty { _ = try hub.mergeLostTime() }
  }
}
