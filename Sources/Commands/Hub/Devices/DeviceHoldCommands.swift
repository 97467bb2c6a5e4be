import SatchelHub
import SatchelJSON
import SatchelPlatform

/// The commands `device hold` and `device release`.
extension HubTool {
  static var holdDevice: Command {
    Command(
      ["device", "hold"], summary: "let everything that comes from a device wait",
      discussion: """
        Use this if a tablet is missing, if its app may be broken, or if its user moves to another place and no change \
        of the tablet may count before you have looked. The device's bundles are verified, and wait in \
        bundles/inbox/waiting. Nothing of them is merged. The device can still export, and the hub still makes bundles \
        for it. No work is lost: `device release` merges what waits.

        A bundle waits for at most 90 days. The device keeps its changes until the hub has merged them. If a device is \
        lost for good, revoke it: the command `device revoke`.
        """,
      arguments: [ArgumentSpec("NAME", help: "the device's name")],
      options: [OptionSpec("note", kind: .value("TEXT"), help: "the reason, which status shows")],
      examples: [
        Example("satchel-hub device hold tablet-1 --note \"Ann looks for it\"", "The tablet is missing since Monday.")
      ], changesData: true
    ) { command, context in
      let device = try open(command, context).hold(command.argument("NAME"), note: command.value("note"))
      return Answer(
        """
        \(command.dryRun ? "Would put" : "Put") the device \(device.name) on hold: what comes from it waits.
        To merge it later: satchel-hub device release \(device.name)

        """, ["device": json(device)])
    }
  }

  static var releaseDevice: Command {
    Command(
      ["device", "release"], summary: "end the hold of a device, and merge what waits from it",
      discussion: """
        Merges the bundles of the device that wait here, like `import`. To look at them before: satchel-hub inspect \
        FILE --rows, with the files in bundles/inbox/waiting.
        """,
      arguments: [ArgumentSpec("NAME", help: "the device's name")],
      examples: [Example("satchel-hub device release tablet-1", "The tablet was found.")], changesData: true
    ) { command, context in
      let hub = try open(command, context)
      let device = try hub.release(command.argument("NAME"))
      let waiting = try hub.waiting().filter { $0.device == device.name }
      if command.dryRun {
        return Answer(
          "Would release the device \(device.name): \(Words.count(waiting.count, "bundle")) of it would be imported.\n",
          ["device": json(device), "bundles": []])
      }
      var answer = try take(waiting.map(\.path), stick: [], into: hub, command).answer
      answer.text = "Released the device \(device.name).\n" + answer.text
      answer.members.insert(.init(name: "device", value: json(device)), at: 0)
      return Hooks.run(after: answer, command, context)
    }
  }

  /// The state of a device as people read it.
  /// - Parameter isExpired: whether the device is active, but its last day or its user's last day is over.
  static func stateWords(_ device: EnrolledDevice, isExpired: Bool) -> String {
    if isExpired { return "expired" }
    return device.state == .active && device.hold != nil ? "on hold" : device.state.rawValue
  }

  /// For each device on hold: its name, since when, and why.
  static func holdWords(_ status: HubStatus, _ now: Int64) -> [String] {
    status.devices.map(\.device).filter { $0.state != .revoked }.compactMap { device in
      device.hold.map { hold in
        """
        \(device.name), \(Words.age(of: hold.since, now: now))\(hold.noteWords): what comes from it waits until \
        satchel-hub device release \(device.name)
        """
      }
    }
  }
}
