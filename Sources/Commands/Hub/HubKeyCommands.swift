import SatchelCrypto
import SatchelHub
import SatchelValues

extension HubTool {
  static var keys: [Command] {
    let common = KeyCommands(
      tool: name,
      telling:
        "The next bundle for each device tells it of them, and once a device is known to have that one, they are used for it.",
      rotateOptions: [
        OptionSpec("lost", help: "the present key is lost or in wrong hands: use the new one at once, and revoke the old one")
      ],
      show: { command, context in try open(command, context).keyReport() },
      rotate: { command, context in
        let hub = try open(command, context)
        return try command.flag("lost") ? hub.replaceLostKeys() : hub.rotateKeys()
      },
      afterRotation: { key, command in command.flag("lost") ? afterLoss(key) : afterRotation },
      setPassword: { password, command, context in try open(command, context).setPassword(password) }
    ).all
    return common + [revoke(["keys", "revoke"])]
  }

  private static let afterRotation = """
    Next: satchel-hub emit --all, which tells the devices of it. Nobody needs to compare it: the present key vouches for it.

    """

  private static func afterLoss(_ key: PublicKey) -> String {
    """
    No signature can tell the devices of it: at each one somebody compares the fingerprint, once.
    Next: satchel-hub emit --all; then at each device: satchel import FILE --fingerprint \(key.fingerprint)

    """
  }

  /// A device's right to deliver ends with its keys: two names for one thing.
  static func revoke(_ path: [String]) -> Command {
    Command(
      path, summary: "end a device's right to deliver and to receive",
      discussion: """
        From now on nothing is made for the device, and nothing is believed that its keys sign: every other device learns of it by its \
        next bundle. What it delivered stays. Bundles from before it was lost may still be on their way: --from says the first one that is \
        not to be believed.
        """,
      arguments: [ArgumentSpec("NAME", help: "the device's name")],
      options: [
        OptionSpec("from", kind: .value("N"), help: "the first of its bundles that is refused (the one after those that came)")
      ],
      examples: [
        Example("satchel-hub \(path.joined(separator: " ")) tablet-1", "The tablet was stolen."),
        Example(
          "satchel-hub \(path.joined(separator: " ")) tablet-1 --from 8", "Its bundle 7 was made before, and is on its way."),
      ], changesData: true
    ) { command, context in
      let from = try command.value("from").map { text in
        guard let number = Int64(text), number > 0 else { throw UsageError("--from takes the number of a bundle, from 1 on") }
        return SequenceNumber(number)
      }
      let device = try open(command, context).revoke(command.argument("NAME"), from: from)
      let first = device.revokedFrom ?? device.merged.next
      return Answer(
        "Revoked the device \(device.name): its bundles are refused from \(first) on.\nNext: satchel-hub emit --all, which tells the others.\n",
        ["device": json(device)])
    }
  }
}
