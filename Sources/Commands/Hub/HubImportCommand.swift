import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension HubTool {
  static var importBundles: Command {
    Command(
      ["import"], summary: "merge bundles from devices",
      discussion: """
        Verifies each file and merges it in one transaction. A bundle that was imported before changes nothing. A \
        change that cannot be accepted as it is becomes a conflict, and holds back only its own row. A refused bundle \
        is copied to bundles/quarantine, with the reason beside it. A bundle for a newer dataset version waits in \
        bundles/inbox/waiting, and the first import after `dataset apply` merges it. A bundle that deletes or changes \
        more rows than the dataset's "brake" lets pass waits there too, until you accept or reject it.
        """,
      arguments: [ArgumentSpec("FILE", .zeroOrMore, help: "bundles from devices; - for standard input")],
      options: [
        OptionSpec(
          "accept", kind: .value("BUNDLE"), help: "merge a bundle that the brake holds: DEVICE/NUMBER, or its file"),
        OptionSpec(
          "reject", kind: .value("BUNDLE"),
          help: "take a bundle without its changes; they become decided conflicts, and the device gets its rows back"),
      ],
      examples: [
        Example("satchel-hub import /media/stick/*.satchel", "Everything on the stick."),
        Example("satchel-hub import --accept tablet-1/7", "The user confirmed that the deleted rows are meant."),
      ], changesData: true
    ) { command, context in
      let hub = try open(command, context)
      let answer = try decided(hub, command) ?? takeNamed(hub, command, context)
      return Hooks.run(after: answer, command, context)
    }
  }

  private static func takeNamed(
    _ hub: HubWorkspace, _ command: ParsedCommand, _ context: CommandContext
  ) throws -> Answer {
    let named = command.arguments("FILE")
    if named.isEmpty { throw UsageError("name a FILE, or a bundle that waits: --accept BUNDLE, --reject BUNDLE") }
    // If the command reads a bundle from standard input, it must read no other file. So it leaves the waiting bundles
    // to the next import.
    let waiting = try named.contains(Streams.word) ? [] : hub.dueByNow()
    return try take(waiting + named, into: hub, command) { file, body in
      try waiting.contains(file) ? body(file) : Streams.with(file, command, context, in: hub.folder, body)
    }.answer
  }

  /// Imports the waiting bundle that a person accepts or rejects by an option. nil: the command names neither.
  private static func decided(_ hub: HubWorkspace, _ command: ParsedCommand) throws -> Answer? {
    let (accepted, rejected) = (command.value("accept"), command.value("reject"))
    guard let name = accepted ?? rejected else { return nil }
    if accepted != nil && rejected != nil || !command.arguments("FILE").isEmpty {
      throw UsageError("--accept and --reject take one bundle, and no further FILE")
    }
    let rounds = try ImportRounds([hub.path(ofBraked: name, file: command.path(name))]) { path in
      told(try hub.importBundle(path, brake: accepted != nil ? .accept : .reject), command)
    }
    return try answer(rounds, hub, command, hasLost: false)
  }

  /// Imports bundles. Returns the answer, and the files that need not be carried any more.
  /// - Parameter open: calls its body with the path of a named bundle.
  static func take(
    _ names: [String], into hub: HubWorkspace, _ command: ParsedCommand,
    open: (_ name: String, _ body: (String) throws -> HubImportReport) throws -> HubImportReport
  ) throws -> (answer: Answer, taken: [String]) {
    var hasLost = false
    let rounds = try ImportRounds(names) { name in
      let report = try open(name) { try hub.importBundle($0, lostTime: .later) }
      hasLost = hasLost || report.verdict == .collected
      return told(report, command)
    }
    return (try answer(rounds, hub, command, hasLost: hasLost), rounds.taken)
  }

  /// Imports the waiting bundles and the bundles on a stick.
  static func take(
    _ waiting: [String], stick files: [String], into hub: HubWorkspace, _ command: ParsedCommand
  ) throws -> Syncing.Import {
    let inspected = try waiting.map { InspectedFile($0) } + hub.inspect(files)
    var hasLost = false
    func judge(_ file: String) throws -> UnopenedFile {
      guard let sender = StickLayout.sender(ofFile: file) else { return .unneeded }
      let judgement = try hub.judge(unopened: file, of: sender)
      // A lost bundle came that only a replaced key opens. The hub no longer waits for it, and may now merge the lost
      // time.
      if case .ofReplacedKey = judgement { hasLost = true }
      return judgement
    }
    let rounds = try ImportRounds(stick: inspected, unopened: judge) { file in
      let source = waiting.contains(file) ? BundleSource.named : .stick
      let report = try hub.importBundle(file, from: source, lostTime: .later)
      hasLost = hasLost || report.verdict == .collected
      return told(report, command)
    }
    return .init(
      answer: try answer(rounds, hub, command, hasLost: hasLost), taken: rounds.taken, leftAlone: rounds.leftAlone)
  }

  private static func told(_ report: HubImportReport, _ command: ParsedCommand) -> ImportRounds.Told {
    Rehearsal.extend(text(report), json(report), report.verdict, by: report.tally, report.found, command)
  }

  /// - Parameter hasLost: whether bundles came that this hub had made and lost. All of them are merged together.
  private static func answer(
    _ rounds: ImportRounds, _ hub: HubWorkspace, _ command: ParsedCommand, hasLost: Bool
  ) throws -> Answer {
    var answer = rounds.answer
    if hasLost {
      let recovery = try hub.mergeLostTime()
      answer.text += recovery.map { text($0) } ?? ""
      answer.members.append(.init(name: "recovery", value: recovery.map(json) ?? .null))
    }
    let open = try command.dryRun ? 0 : hub.openConflicts()
    if open > 0 { answer.text += "\(Words.count(open, "conflict")) to be decided: satchel-hub conflicts\n" }
    return answer
  }

  static var syncing: SyncCommands {
    SyncCommands(
      tool: name, check: { _ = try open($0, $1) },
      sync: { stick, command, context in
        let hub = try open(command, context)
        return try Syncing(
          tool: name, command, context, stick: stick, hub.configuration, unknown: hub.unknownOwn
        ).run(
          waiting: hub.dueByNow(), take: { try take($0, stick: $1, into: hub, command) },
          make: { try due(hub, command, $0) },
          cut: { bundle, file, medium in
            try hub.emitting { try $0.putVolumes(of: file, for: bundle.to, on: medium, parity: command.parityShare()) }
          })
      })
  }

  /// For each device, the emission to carry, if the device is not known to have it. If one emission fails, the others
  /// are still made.
  private static func due(
    _ hub: HubWorkspace, _ command: ParsedCommand, _ stick: StickRoom
  ) throws -> [Syncing.Outgoing] {
    var stick = stick
    let active = try hub.devices().filter { $0.state == .active }
    let begun = try hub.volumesOnSticks(for: active)
    return try hub.emitting { emitter in
      try active.enumerated().map { index, device in
        do {
          let room = stick.next(to: device.name, later: active.count - index - 1)
          if let file = begun[device.name], try stick.isTooSmall(room, for: file) {
            return .init(to: device.name, file: file, words: "bundle \(Paths.name(of: file)).")
          }
          let report = try emitter.emit(to: device.name, encryption: command.encryption, room: room)
          guard report.isNew || report.number > device.proved else {
            return .init(to: device.name, file: nil, words: "nothing, it has everything.")
          }
          stick.add(report.file, of: report.bytes, to: device.name)
          return .init(
            to: device.name, file: report.file,
            words: """
              bundle \(report.number), \(Words.count(report.rows, "row")), \(report.gone) gone.\
              \(report.rowsLeft > 0 ? " \(Words.count(report.rowsLeft, "row")) stay behind." : "")\
              \(AttachedWords.left(report.attachedLeft))
              """)
        } catch let error where Failure.concernsOneDevice(error) {
          return .init(to: device.name, file: nil, words: "nothing was made.", failure: Failure(error))
        }
      }
    }
  }

  /// Says what happened to a bundle of this hub that a device brought back.
  private static func ownWords(_ report: HubImportReport) -> String {
    if report.verdict == .collected { return ", which this hub made and had lost: it is kept." }
    if report.isOfLostKey { return " is signed with a key of this hub that was lost: not used." }
    return ", which this hub made: the hub knows it, so nothing changed."
  }

  static func text(_ report: HubImportReport) -> TerminalText {
    if let waiting = report.waiting { return Volumes.text(report.manifest.number, waiting) }
    if [.collected, .unused].contains(report.verdict) {
      return "Bundle \(report.manifest.wholeNumber) for \(report.manifest.to.name)\(ownWords(report))\n"
    }
    let name = "Bundle \(report.manifest.wholeNumber) of \(report.manifest.from.name)"
    let came = AttachedWords.came(report.attached, newer: report.attachedNewer, report.beside)
    switch report.verdict {
    case .repeated: return "\(name) was imported before: nothing changed.\n"
    case .stale:
      let words = report.attached > 0 ? "only its files are kept" : "nothing changed"
      return "\(name) was overtaken by a newer one: \(words).\n" + came
    default: break
    }
    var text: TerminalText = "\(name): \(Words.count(report.taken, "change")) taken"
    if report.conflicts > 0 { text += ", \(Words.count(report.conflicts, "conflict"))" }
    if report.resolved > 0 { text += ", \(Words.count(report.resolved, "conflict")) decided by its user" }
    if report.released > 0 { text += ", \(Words.count(report.released, "row")) that had waited let in" }
    text += ".\n" + came
    if let rejected = report.rejected {
      text +=
        """
        Rejected: \(Words.count(rejected, "change")) decided for the hub's rows. The next bundle for \
        \(report.manifest.from.name) brings its rows back.\n
        """
    }
    if let proof = report.proof, proof.result == .differs {
      text +=
        "\(proof.differenceWords(of: report.manifest.from.name)): satchel-hub compare \(report.manifest.from.name)\n"
    }
    if report.attachedLost > 0 {
      text +=
        """
        It asks for \(Words.count(report.attachedLost, "file")) that \(report.attachedLost == 1 ? "is" : "are") gone \
        there.\n
        """
    }
    if report.refusedKey != nil { text += "Warning: \(refusedKeyWords(report.manifest.from.name))\n" }
    if !report.rekeyed.isEmpty {
      text +=
        """
        \(Words.count(report.rekeyed.count, "row")) got new keys, because other rows have the old ones. The table \
        satchel_rekeyed has both.\n
        """
    }
    if !report.folded.isEmpty {
      text += "\(Words.count(report.folded.count, "row")) became one with a row that was here: satchel_rekeyed\n"
    }
    if report.late > 0 {
      let words = report.late == 1 ? "1 change was" : "\(report.late) changes were"
      text += "\(words) accepted although \(report.manifest.user) has lost the right to the row since.\n"
    }
    if report.departed > 0 {
      text +=
        """
        \(Words.count(report.departed, "change")) of tables that left the dataset cannot be merged: satchel-hub \
        conflicts

        """
    }
    if !report.leftOut.isEmpty {
      let columns = report.leftOut.map(\.text).joined(separator: ", ")
      text +=
        "Left out, because the dataset no longer has these columns: \(columns). Their values stay in bundles/archive.\n"
    }
    if report.clamped > 0 {
      text += "\(clockWords(report))\n"
    }
    return text + (report.recovery.map { Self.text($0) } ?? "")
  }

  /// The next step for an announced key that was refused.
  static func refusedKeyWords(_ device: String) -> String {
    """
    the new key that \(device) announced is not accepted: another device has it, or it did not sign the announcement. \
    Ask the device's user to run: satchel keys rotate --again
    """
  }

  /// Names both clocks, because the hub cannot know which clock is right.
  private static func clockWords(_ report: HubImportReport) -> String {
    let name = report.manifest.from.name
    return
      """
      The clock of \(name) is \(Words.span(report.clamped)) ahead of this hub's: its last changes count as made now. \
      Correct the wrong clock.
      """
  }

  /// Describes the result of a recovery of the lost time.
  static func text(_ report: RecoveryReport) -> TerminalText {
    var text: TerminalText =
      "The lost work is back, as far as the devices have it: \(Words.count(report.rows, "row")) changed, "
    text += "\(Words.count(report.kept, "older value")) kept as settled conflicts.\n"
    if report.counts > 0 {
      text +=
        """
        \(report.counts == 1 ? "1 row has a counter or a list" : "\(report.counts) rows have counters or lists") with \
        another value than in the lost time: the office's own changes of that time are missing there. Check the \
        values: satchel-hub conflicts --settled

        """
    }
    if report.whole > 0 {
      text +=
        """
        \(Words.count(report.whole, "row")) with a counter or a list came back from the lost time. If a \
        tablet delivers its work of that time only now, what it added there becomes an open conflict: satchel-hub \
        conflicts

        """
    }
    text += AttachedWords.cameBack(report.files, report.beside)
    if report.gone > 0 {
      text += "\(Words.count(report.gone, "row")) may have been deleted in the lost time: satchel-hub conflicts\n"
    }
    if report.obstructed > 0 {
      text +=
        """
        \(Words.count(report.obstructed, "row")) of the lost time cannot be written beside the present rows: \
        satchel-hub conflicts

        """
    }
    if report.abandoned > 0 {
      text +=
        "\(Words.count(report.abandoned, "change")) waited for rows that no device delivered: satchel-hub conflicts\n"
    }
    if report.unreadable > 0 {
      text +=
        """
        \(Words.count(report.unreadable, "bundle")) of bundles/archive/lost could not be read: their changes are not \
        back.

        """
    }
    return text
  }

  static func json(_ report: RecoveryReport) -> JSONValue {
    [
      "bundles": .integer(Int64(report.emissions)), "rows": .integer(Int64(report.rows)),
      "kept": .integer(Int64(report.kept)), "counts": .integer(Int64(report.counts)),
      "whole": .integer(Int64(report.whole)), "files": .integer(Int64(report.files)),
      "files_beside": AttachedWords.json(report.beside),
      "gone": .integer(Int64(report.gone)), "abandoned": .integer(Int64(report.abandoned)),
      "obstructed": .integer(Int64(report.obstructed)),
      "unreadable": .integer(Int64(report.unreadable)),
    ]
  }

  static func json(_ report: HubImportReport) -> JSONValue {
    if let waiting = report.waiting {
      return [
        "verdict": .string(report.verdict.rawValue), "part": .integer(report.manifest.number),
        "waiting": Volumes.json([waiting]),
      ]
    }
    if [.collected, .unused].contains(report.verdict) {
      return [
        "verdict": .string(report.verdict.rawValue), "device": .string(report.manifest.to.name),
        "number": .integer(report.manifest.wholeNumber),
      ]
    }
    return [
      "recovery": report.recovery.map(Self.json) ?? .null,
      "verdict": .string(report.verdict.rawValue), "device": .string(report.manifest.from.name),
      "sequence": .integer(report.manifest.wholeNumber), "taken": .integer(Int64(report.taken)),
      "conflicts": .integer(Int64(report.conflicts)), "resolved": .integer(Int64(report.resolved)),
      "released": .integer(Int64(report.released)),
      "rejected": report.rejected.map { .integer(Int64($0)) } ?? .null, "clock_ahead_ms": .integer(report.clamped),
      "files": .integer(Int64(report.attached)), "files_newer": .integer(Int64(report.attachedNewer)),
      "files_beside": AttachedWords.json(report.beside),
      "files_lost": .integer(Int64(report.attachedLost)), "proof": json(report.proof),
      "refused_key": .optional(report.refusedKey?.fingerprint), "late": .integer(Int64(report.late)),
      "departed": .integer(Int64(report.departed)),
      "left_out": .strings(report.leftOut.map(\.text)),
      "rekeyed": .array(
        report.rekeyed.map { ["table": .string($0.table.text), "key": JSONValue($0.old), "to": JSONValue($0.new)] }),
      "folded": .array(
        report.folded.map { ["table": .string($0.table.text), "key": JSONValue($0.old), "to": JSONValue($0.new)] }),
    ]
  }
}
