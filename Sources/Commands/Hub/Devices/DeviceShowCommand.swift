import SatchelHub
import SatchelJSON
import SatchelPlatform

/// The command `device show`.
extension HubTool {
  static var showDevice: Command {
    Command(
      ["device", "show"], summary: "show the state of one device, and its health",
      discussion: """
        Shows the version of Satchel on the device, its free disk space, the size of its database, its refused files \
        and the last result of its doctor. Each bundle of the device brings these facts. The device states them \
        itself: they help people, and the hub decides nothing by them.
        """,
      arguments: [ArgumentSpec("NAME", help: "the device's name")],
      examples: [Example("satchel-hub device show tablet-1", "Shows whether a tablet needs care.")]
    ) { command, context in
      let now = context.platform.clock.milliseconds()
      let entry = try open(command, context).status(of: command.argument("NAME"))
      var sheet = TextTable(["", ""])
      for fact in facts(entry, now) { sheet.add([fact.name, fact.words]) }
      return Answer(
        sheet.text(width: nil),
        [
          "device": .object((json(entry.device).objectValue ?? []) + members(entry))
        ])
    }
  }

  static func facts(_ entry: HubStatus.Device, _ now: Int64) -> [StatusSheet.Fact] {
    let device = entry.device
    var facts = StatusSheet.Facts()
    facts.add("Device", "\(device.name) of the user \(device.user)")
    facts.add("State", stateWords(device, isExpired: entry.isExpired))
    if let hold = device.hold { facts.add("On hold", "\(Words.age(of: hold.since, now: now))\(hold.noteWords)") }
    facts.add("Fingerprint", device.key.fingerprint)
    facts.add("Last bundle", Words.age(of: device.heard, now: now))
    facts.add("Its rows", standing(of: entry))
    if entry.rowsLeft > 0 { facts.add("Stays behind", "\(Words.count(Int(entry.rowsLeft), "row"))") }
    facts.add("Verified", words(entry.proof, now))
    guard let health = entry.health else {
      facts.add("Health", "not known: the device's newest bundle does not describe it")
      return facts.all
    }
    return facts.all + DeviceHealthText(health: health, now: now).facts
  }

  /// The facts about a device that change with its bundles.
  static func members(_ entry: HubStatus.Device) -> [JSONValue.Member] {
    [
      .init(name: "emitted", value: .integer(entry.emitted.rawValue)),
      .init(name: "proof", value: json(entry.proof)),
      .init(name: "health", value: DeviceHealthText.json(entry.health)),
      .init(name: "rows_left", value: .integer(entry.rowsLeft)),
      .init(name: "held", value: .integer(Int64(entry.held))),
      .init(
        name: "former_users",
        value: .array(
          entry.formerUsers.map {
            ["user": .string($0.user), "since": .time($0.since), "until": .time($0.until)]
          })),
      .init(
        name: "missing",
        value: .array(entry.missing.map { [.integer($0.lowerBound), .integer($0.upperBound)] })),
    ]
  }
}
