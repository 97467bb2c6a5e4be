import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension HubTool {
  static var fork: Command {
    Command(
      ["device", "fork"],
      summary: "show the histories of a copied device, and choose the one to continue",
      discussion: """
        A device is flagged if its bundles cannot be of one history. Its folder was copied, or brought back from an \
        old copy, and both copies work. This command shows where the histories part, and what each wrote after that.

        With --keep the device continues with one history. The refused bundles of that history are merged; merged \
        changes of another history stay. Then run `satchel renew` in the folder of each other copy. That gives it its \
        own name and loses nothing. Your choice only decides about names. Changes that were pending when the folder \
        was copied count once. If a bundle of the other copy comes before that, it is refused and does not block the \
        device again.
        """,
      arguments: [ArgumentSpec("NAME", help: "the device's name")],
      options: [
        OptionSpec("keep", kind: .value("HISTORY"), help: "the number of the history to continue"),
        OptionSpec(
          "restored",
          help: """
            there is one device: its database was put back from a backup, and it continues from there. Its present \
            history has the bundle that was made last, or --keep names it
            """),
        OptionSpec(
          "accept",
          help: """
            with --restored: merge bundles that delete or change more rows than the dataset's "brake" lets pass
            """),
        OptionSpec(
          "reject", help: "with --restored: accept nothing of such bundles; each of their changes becomes a conflict"),
      ],
      examples: [
        Example("satchel-hub device fork tablet-1", "Shows what the two copies wrote."),
        Example("satchel-hub device fork tablet-1 --keep 1", "Continues the copy whose bundles the hub has merged."),
        Example(
          "satchel-hub device fork tablet-1 --restored", "It was not copied: it was put back from its own backup."),
      ], changesData: true
    ) { command, context in
      let (hub, name, clock) = (try open(command, context), command.argument("NAME"), context.platform.clock)
      if command.flag("restored") { return try goOn(name, hub, command, by: clock) }
      for option in ["accept", "reject"] where command.flag(option) {
        throw UsageError("--\(option) goes with --restored")
      }
      guard let typed = command.value("keep") else { return shown(try hub.fork(of: name), by: clock) }
      let number = try history(typed)
      let (fork, imports) = try hub.keep(history: number, of: name)
      let waiting = fork.histories[number - 1].waiting
      if command.dryRun {
        return Answer(
          "\(name) would continue with history \(number), and \(Words.count(waiting.count, "bundle")) be merged.\n",
          members(fork))
      }
      var answer = Answer("\(name) continues with history \(number).\n", members(fork))
      for report in imports { answer.text += text(report) }
      answer.members.append(.init(name: "imports", value: .array(imports.map(json))))
      if fork.isForked { answer.text += next(fork) }
      return answer
    }
  }

  /// Lets a device continue with its present history after it was restored from its own backup. The hub keeps
  /// everything that the device delivered before.
  private static func goOn(
    _ name: String, _ hub: HubWorkspace, _ command: ParsedCommand, by clock: any WallClock
  ) throws -> Answer {
    let number = try command.value("keep").map { try history($0) }
    let (accepts, rejects) = (command.flag("accept"), command.flag("reject"))
    if accepts, rejects { throw UsageError("--accept and --reject exclude each other") }
    let brake: BrakeDecision = accepts ? .accept : rejects ? .reject : .withHistory
    guard let restored = try hub.continueRestored(name, with: number, brake) else {
      throw WorkspaceError(
        .noFork, "Nothing came from the device \(name) since it was put back.",
        hint:
          "Have it export once, and import that here: satchel sync. If this hub takes it, nothing has to be settled.")
    }
    let made: TerminalText = restored.made.map { " Its newest bundle is from \(clock.localText(ofUTC: $0))." } ?? ""
    if command.dryRun {
      return Answer("\(name) would continue from the restored state.\(made)\n", members(restored.fork))
    }
    var answer = Answer(
      """
      \(name) continues from the restored state.\(made) What it delivered before that stays at the hub, and its next \
      bundle brings it back.

      """,
      members(restored.fork))
    for report in restored.imports { answer.text += text(report) }
    for left in restored.left {
      answer.text += "Bundle \(left.number) still waits: \(left.refusal.message)\n"
      if let hint = left.refusal.hint { answer.text += "  \(hint)\n" }
    }
    answer.members.append(
      .init(
        name: "left",
        value: .array(
          restored.left.map {
            [
              "number": .integer($0.number.rawValue), "reason": .string($0.refusal.reason),
              "message": .string($0.refusal.message),
            ]
          })))
    answer.members.append(.init(name: "imports", value: .array(restored.imports.map(json))))
    answer.members.append(.init(name: "history", value: .integer(Int64(restored.present + 1))))
    answer.text += "Next: satchel-hub emit --device \(name), and carry the bundle to the device.\n"
    return answer
  }

  private static func history(_ typed: String) throws -> Int {
    guard let number = Int(typed) else { throw UsageError("--keep takes the number of a history") }
    return number
  }

  private static func next(_ fork: Fork) -> TerminalText {
    """
    In the folder of the other copy: satchel renew --name NEW-NAME --request FILE
    Then let it in here: satchel-hub device enrol FILE --user \(fork.device.user)

    """
  }

  private static func shown(_ fork: Fork, by clock: any WallClock) -> Answer {
    let name = fork.device.name
    guard fork.histories.count > 1 || !fork.histories[0].waiting.isEmpty else {
      return Answer("One history came from the device \(name).\n", members(fork))
    }
    var table = TextTable([.right("HISTORY"), .right("EXPORT"), "MADE", .right("CHANGES"), "OF", "HERE"])
    for (place, history) in fork.histories.enumerated() {
      for export in history.exports {
        let tables = export.changes(after: history.parted)
        table.add([
          "\(place + 1)", "\(export.sequence)", clock.localText(ofUTC: export.manifest.created),
          "\(tables.reduce(0) { $0 + $1.count })",
          tables.map { "\($0.table) \($0.count)" }.joined(separator: ", "), export.isMerged ? "merged" : "waits",
        ])
      }
    }
    let head: TerminalText =
      fork.isForked
      ? "\(fork.histories.count) histories came from the device \(name): they part after its export \(fork.parted).\n"
      : fork.histories.count > 1
        ? "Bundles of former histories of the device \(name) wait.\n"
        : "Refused bundles of the device \(name) can be merged now.\n"
    return Answer(
      head + table.text(width: nil)
        + (fork.isForked || fork.histories.count == 1
          ? "Next: satchel-hub device fork \(name) --keep 1\(fork.isForked ? ", or another one" : "")\n" : "")
        + (fork.histories.count > 1
          ? "If \(name) was only restored from its own backup: satchel-hub device fork \(name) --restored\n" : ""),
      members(fork))
  }

  private static func members(_ fork: Fork) -> KeyValuePairs<String, JSONValue> {
    [
      "device": json(fork.device), "parted_after": .integer(fork.parted.rawValue),
      "histories": .array(
        fork.histories.enumerated().map { place, history in
          [
            "history": .integer(Int64(place + 1)),
            "exports": .array(history.exports.map { json($0, after: history.parted) }),
          ]
        }),
    ]
  }

  private static func json(_ export: Fork.Export, after parted: SequenceNumber) -> JSONValue {
    [
      "sequence": .integer(export.sequence.rawValue), "bundle": .string(export.manifest.bundle.text),
      "made": .string(export.manifest.created), "merged": .bool(export.isMerged), "file": .string(export.path),
      "changes": .object(
        export.changes(after: parted).map { .init(name: $0.table.text, value: .integer(Int64($0.count))) }),
    ]
  }
}
