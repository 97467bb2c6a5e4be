import SatchelCrypto
import SatchelHub
import SatchelJSON
import SatchelValues

extension HubTool {
  static var keys: [Command] {
    let common = KeyCommands(
      tool: name,
      telling:
        """
        The next bundle for each device carries them. They are used for a device once it is known to have that \
        bundle.
        """,
      rotateOptions: [
        OptionSpec(
          "lost", help: "the present key is lost or in wrong hands: use the new one at once, and revoke the old one"),
        OptionSpec(
          "again", help: "with --lost: the key that replaced a lost one is lost too, before any device used it"),
        Confirmation.yes,
      ],
      show: { command, context in try open(command, context).keyReport() },
      rotate: { command, context in
        let hub = try open(command, context)
        if command.flag("lost") { return try replaceLost(of: hub, command, context) }
        return KeyCommands.answer(try hub.rotateKeys(), command, next: afterRotation)
      },
      setPassword: { password, command, context in try open(command, context).setPassword(password) }
    ).all
    return common + [revoke(["keys", "revoke"])]
  }

  private static let afterRotation: TerminalText = """
    Next: satchel-hub emit --all, which carries it to the devices. No one needs to compare it: the present key vouches \
    for it.

    """

  /// Replaces a lost key, after the person has seen the cost.
  private static func replaceLost(of hub: HubWorkspace, _ command: ParsedCommand, _ context: CommandContext) throws
    -> Answer
  {
    let cost = try hub.costOfLostKeys()
    if let unused = cost.unused, !command.flag("again") {
      let text: TerminalText = """
        A new key was made already, and no device is known to use it yet. That one stays:

            \(unused.fingerprint)

        \(afterLoss(unused, cost))If that one is lost too: satchel-hub keys rotate --lost --again

        """
      return Answer(text, members(unused, cost, isNew: false))
    }
    let people = price(of: cost)
    try Confirmation.require("\(people)Make a new key?", command, context)
    let key = try hub.replaceLostKeys(again: command.flag("again"))
    let answer = KeyCommands.answer(key, command, next: afterLoss(key, cost))
    let text = answer.text + (command.dryRun ? people : givenUp(cost))
    return Answer(text, members(key, cost, isNew: !command.dryRun))
  }

  private static func price(of cost: HubWorkspace.CostOfLoss) -> TerminalText {
    (cost.isSetBack ? lostRows : "") + unmerged(cost) + visits(cost)
  }

  /// Says which bundles a new key costs while the hub recovers a lost time, and how to keep these bundles. Empty if the
  /// hub recovers nothing.
  private static func unmerged(_ cost: HubWorkspace.CostOfLoss) -> TerminalText {
    guard let recovery = cost.recovery else { return "" }
    return """
      This hub still recovers a time that it lost. With a new key, it cannot use its own bundles of that time any \
      more. Rows that only these bundles have do not come back, and devices remove them. \
      \(givenUpParts(cost, recovery)) If no other person has the present key, answer no. First let these devices sync, \
      then use: satchel-hub restore --finish. Then the rows are back, and a new key costs none of them.

      """
  }

  private static func givenUpParts(
    _ cost: HubWorkspace.CostOfLoss, _ recovery: HubStatus.Recovering
  ) -> TerminalText {
    var parts = [
      "\(Words.count(cost.collected, "such bundle")) came here and \(cost.collected == 1 ? "is" : "are") not merged."
    ]
    parts += recovery.awaited.map { "\($0.device) has \(Words.count(Int($0.count), "such bundle")) to bring." }
    if !recovery.silent.isEmpty {
      parts.append("\(recovery.silent.joined(separator: ", ")) must deliver again, and may have more.")
    }
    return "\(parts.joined(separator: " "))"
  }

  /// Says which rows or bundles were given up with the former key. A script reads this, because it was not asked. Empty
  /// if there are none.
  private static func givenUp(_ cost: HubWorkspace.CostOfLoss) -> TerminalText {
    guard let recovery = cost.recovery else {
      return cost.isSetBack ? "Given up with the former key: the rows that this hub sent in the lost time.\n" : ""
    }
    return """
      Given up with the former key: this hub's own bundles of the time that it lost. \(givenUpParts(cost, recovery))

      """
  }

  private static let lostRows: TerminalText = """
    This hub was set back. With a new key, the rows that this hub sent in the lost time do not come back, and devices \
    remove them. If its files were only put back from a copy, answer no, and use: satchel-hub restore --in-place

    """

  private static func visits(_ cost: HubWorkspace.CostOfLoss) -> TerminalText {
    if cost.devices.isEmpty { return "No device knows the present key.\n" }
    let names = cost.devices.joined(separator: ", ")
    return
      """
      This costs a visit to \(Words.count(cost.devices.count, "device")): a person at each compares the new \
      fingerprint. (\(names))\n
      """
  }

  private static func afterLoss(_ key: PublicKey, _ cost: HubWorkspace.CostOfLoss) -> TerminalText {
    if cost.devices.isEmpty { return "" }
    return """
      No signature can vouch for it: at each of \(Words.count(cost.devices.count, "device")) a person compares the \
      fingerprint once.
      Next: satchel-hub emit --all; then at each device: satchel import FILE --fingerprint \(key.fingerprint)

      """
  }

  private static func members(
    _ key: PublicKey, _ cost: HubWorkspace.CostOfLoss, isNew: Bool
  ) -> KeyValuePairs<String, JSONValue> {
    [
      "fingerprint": .string(key.fingerprint), "devices": .strings(cost.devices), "is_new": .bool(isNew),
      "given_up": .integer(Int64(isNew ? cost.collected : 0)),
    ]
  }

  /// The command that revokes a device. `device revoke` and `keys revoke` do the same, because a device's right to
  /// deliver ends with its keys.
  static func revoke(_ path: [String]) -> Command {
    Command(
      path, summary: "end a device's right to deliver and to receive",
      discussion: """
        \(effectOfRevoking) Bundles from before it was lost may still be on their way: --from names the first bundle \
        that is refused.
        """,
      arguments: [ArgumentSpec("NAME", help: "the device's name")],
      options: [
        OptionSpec(
          "from", kind: .value("N"),
          help: "the number of the first bundle to refuse; usually one more than that of the last that came"),
        Confirmation.yes,
      ],
      examples: [
        Example("satchel-hub \(path.joined(separator: " ")) tablet-1", "The tablet was stolen."),
        Example(
          "satchel-hub \(path.joined(separator: " ")) tablet-1 --from 8",
          "Its bundle 7 was made before, and is on its way."),
      ], changesData: true
    ) { command, context in
      let from = try command.value("from").map(firstRefused)
      let hub = try open(command, context)
      let deleted = try hub.waitingBundles(deletedByRevoking: command.argument("NAME"), from: from)
      if !deleted.isEmpty { try Confirmation.ask(question(deleted), command, context) }
      let device = try hub.revoke(command.argument("NAME"), from: from)
      return Answer(
        text(ofRevoked: device, deleted, command.runMode),
        ["device": json(device), "deleted": .strings(deleted.map(\.name))])
    }
  }

  static let effectOfRevoking = """
    From now on no bundle is made for the device, and no bundle that its keys sign is accepted. Every other device \
    learns of it by its next bundle. What it delivered stays.
    """

  /// The number of the first refused bundle, as a person typed it.
  static func firstRefused(_ text: String) throws -> SequenceNumber {
    guard let number = Int64(text), number > 0 else {
      throw UsageError("--from takes the number of a bundle, from 1 on")
    }
    return SequenceNumber(number)
  }

  static func text(
    ofRevoked device: EnrolledDevice, _ deleted: [WaitingBundle], _ runMode: RunMode
  ) -> TerminalText {
    let isDry = runMode == .dryRun
    let lost: TerminalText =
      deleted.isEmpty ? "" : "\(isDry ? "Would delete" : "Deleted") what waited here: \(names(deleted)).\n"
    return """
      \(isDry ? "Would revoke" : "Revoked") the device \(device.name): its bundles are refused from \
      \(device.revokedFrom ?? device.merged.next) on.
      \(lost)Next: satchel-hub emit --all, for the other devices.

      """
  }

  /// The question before the hub revokes a device whose bundles wait here.
  private static func question(_ deleted: [WaitingBundle]) -> TerminalText {
    let accept = deleted.first { if case .braked = $0.reason { true } else { false } }
    let way = accept.map { " To take it first: satchel-hub import --accept \($0.name)." } ?? ""
    return """
      \(names(deleted)) \(deleted.count == 1 ? "waits" : "wait") here, and this command deletes \
      \(deleted.count == 1 ? "it" : "them").\(way) Revoke the device now?
      """
  }

  private static func names(_ bundles: [WaitingBundle]) -> String {
    bundles.map(\.name).joined(separator: ", ")
  }
}
