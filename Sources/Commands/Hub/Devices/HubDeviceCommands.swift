import SatchelCrypto
import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension HubTool {
  static var devices: [Command] {
    [
      provision, enrol, setDevice, revoke(["device", "revoke"]), fork, unflag, holdDevice, releaseDevice, listDevices,
      showDevice,
    ]
  }

  private static var setDevice: Command {
    Command(
      ["device", "set"], summary: "set a device's rights, its last day, and its user",
      discussion: """
        A device that may not edit receives its user's rows, and none of its changes are accepted: each change becomes \
        a conflict.

        A device that is given to another user gets all rows of that user with its next bundle, and loses the rows of \
        the former user. Changes written on it before that bundle came count as the former user's. Before the change, \
        the command shows how many rows the device gets and loses. At a terminal it asks if the device loses rows. \
        --dry-run only shows.

        Work that was written after the last day is not accepted. If it was delivered already and waits for another \
        row, a person decides it: satchel-hub conflicts. If the day was wrong, set it again: the command then says how \
        many changes it kept out, and how to let them in.
        """,
      arguments: [ArgumentSpec("NAME", help: "the device's name")],
      options: [
        expiry, OptionSpec("edits", kind: .value("yes|no"), help: "whether its changes are accepted"),
        OptionSpec("user", short: "u", kind: .value("USER"), help: "the user it works for, from its next bundle on"),
        Confirmation.yes,
      ],
      examples: [
        Example("satchel-hub device set tablet-1 --user ben", "Ann gives her tablet to Ben."),
        Example("satchel-hub device set screen-1 --edits no", "A screen on the wall."),
        Example("satchel-hub device set tablet-1 --expires 2026-12-31", "It goes back at the end of the year."),
      ], changesData: true
    ) { command, context in
      let edits = command.value("edits")
      guard edits == nil || edits == "yes" || edits == "no" else { throw UsageError("--edits takes yes or no") }
      let expires = try command.expiry(context)
      guard edits != nil || expires != nil || command.value("user") != nil else {
        throw UsageError("say what to change: --expires DATE, --edits yes|no or --user USER")
      }
      let (hub, name) = (try open(command, context), command.argument("NAME"))
      let preview = try hub.preview(device: name, user: command.value("user"))
      let effect = try ScopePreviewText(asking: preview, command, context)
      let former = try hub.device(name).expires
      let device = try hub.setDevice(
        name, user: command.value("user"), expires: expires, readOnly: edits.map { $0 == "no" })
      let keptOut = try expires == nil ? 0 : hub.changesKeptOut(of: device, after: former)
      return Answer(
        """
        \(effect.answer)\(command.dryRun ? "Would change" : "Changed") the device \(device.name).
        \(letIn(keptOut))
        """,
        ["device": json(device), "effect": effect.json, "kept_out": .integer(Int64(keptOut))])
    }
  }

  private static let userOption = OptionSpec(
    "user", short: "u", kind: .value("USER"), help: "the user it works for", required: true)

  private static var provision: Command {
    Command(
      ["device", "provision"], summary: "make the folder of a new device, ready for use",
      discussion: """
        Makes a workspace in DIR that has its keys, trusts this hub, and holds the rows that its user may see. Copy \
        the folder to the device, and delete it here: two copies at work are two devices with one name.

        The database is made from the dataset's tables. If the app needs more in its file (views, triggers, an R-tree, \
        tables of its own), give it a template: a file that the app made. The template is copied, and the rows go into \
        the copy.

        A device that only shows rows needs no secret that a thief could take: --no-keys. It delivers nothing then, \
        not even a receipt, so each bundle carries all changes since the device was provisioned.
        """,
      arguments: [ArgumentSpec("NAME", help: "the device's name: a-z, 0-9, - and _")],
      options: [
        userOption, OptionSpec("into", kind: .value("DIR"), help: "the folder to make", required: true),
        OptionSpec(
          "template", kind: .value("FILE"), help: "a database that the app made, without rows in the dataset's tables"),
        Medium.plainFolder,
        OptionSpec("no-keys", help: "without secret keys: the device only receives"),
      ],
      examples: [
        Example("satchel-hub device provision tablet-1 --user ann --into /media/card/satchel", "A tablet for Ann."),
        Example(
          "satchel-hub device provision gps-1 --user ann --into gps-1 --template empty.gpkg", "A GeoPackage for Ann."),
      ],
      changesData: true
    ) { command, context in
      let into = command.path(command.value("into") ?? "")
      try command.checkMedium(of: into, context)
      let hub = try open(command, context)
      let made = try Provisioning(hub: hub, platform: context.platform)
        .provision(
          command.argument("NAME"), user: command.value("user") ?? "", into: into,
          template: command.value("template").map { command.path($0) },
          secrets: command.flag("no-keys") ? .none : .made,
          runMode: command.runMode)
      return Answer(
        text(of: made, in: into),
        [
          "device": json(made.device), "workspace": .string(into), "rows": .optional(made.rows.map { Int64($0) }),
          "database": .string(Paths.join(into, made.database)),
        ],
        warnings: try command.value("template") == nil && hub.isGeoPackage() ? bareGeoPackage : "")
    }
  }

  static func text(of made: Provisioning.Made, in folder: String) -> TerminalText {
    """
    Made the device \(made.name) for the user \(made.user) in \
    \(folder)\(made.rows.map { ", with \(Words.count($0, "row"))" } ?? "").
    On the device, the app must open the file \(made.database) in this folder.\n
    """
  }

  static let bareGeoPackage: TerminalText = """
    The hub's database is a GeoPackage, and the device's has nothing but the dataset's tables: GIS tools will not open \
    it.
    Give the device a GeoPackage to begin with: --template FILE

    """

  private static var enrol: Command {
    Command(
      ["device", "enrol"], summary: "accept a device that asked to join with a request file",
      discussion: """
        Does not show the request's fingerprint, so that it must come from the device itself: let its user read it \
        out, and type it. The device's first bundle is then in bundles/outbox.
        """,
      arguments: [ArgumentSpec("FILE", help: "the request; - for standard input")],
      options: [
        userOption, OptionSpec("name", kind: .value("NAME"), help: "another name than the device asks for"),
        OptionSpec(
          "fingerprint", kind: .value("WORDS"), help: "as the device shows it; you are asked if it is left out"),
        OptionSpec(
          "continues", kind: .value("NAME"),
          help: "accept that it was the device NAME before, although no key of NAME signed that"),
      ],
      examples: [Example("satchel-hub device enrol tablet-1.satchel --user ann", "Enrols a device.")],
      changesData: true
    ) { command, context in
      let hub = try open(command, context)
      if let words = words(for: try hub.lostTime()) { context.console.warn("\(words)\n") }
      let request = try Streams.with(command.argument("FILE"), command, context, in: hub.folder) {
        try EnrolmentRequest(at: $0, hub)
      }
      if let words = request.claimWords { context.console.warn("\(words)\n") }
      try request.checkClaim(trusting: command.value("continues"))
      try compare(request, command, context)
      let (user, name) = (command.value("user") ?? "", command.value("name"))
      if command.dryRun {
        let device = try request.enrol(as: name, user: user, trusting: command.value("continues"))
        return Answer("The device \(device.name) would be enrolled for \(device.user).\n", ["device": json(device)])
      }
      let (device, emitted) = try request.welcome(as: name, user: user, trusting: command.value("continues"))
      let fingerprint = try hub.fingerprint()
      let text: TerminalText = """
        Enrolled the device \(device.name) for the user \(device.user).
        Its first bundle is in \(emitted.file): carry it to the device.

        The fingerprint of the hub's key is

            \(fingerprint)

        The device asks for it at the first import.

        """
      return Answer(text, ["device": json(device), "file": .string(emitted.file), "fingerprint": .string(fingerprint)])
    }
  }

  /// The warning before the hub takes work of a lost time from a new device. nil: there was no such time.
  private static func words(for time: LostTime) -> String? {
    switch time {
    case .none: nil
    case .waiting:
      """
      This hub collects what it lost. If the device worked in the lost time, let it deliver before the others: its \
      counters then count once.
      """
    case .merged:
      """
      This hub has merged a lost time. If the device worked in that time, what it adds to counters and lists of rows \
      that came back becomes open conflicts: satchel-hub conflicts
      """
    }
  }

  /// Compares the request's fingerprint with the fingerprint that a person types. The person must read it from the
  /// device.
  private static func compare(_ request: EnrolmentRequest, _ command: ParsedCommand, _ context: CommandContext) throws {
    var typed = command.value("fingerprint")
    if typed == nil, context.console.traits.interactive {
      context.console.warn("Type the fingerprint that the device shows: ")
      typed = context.console.readLine()
    }
    try request.compare(typed: typed)
  }

  private static var unflag: Command {
    Command(
      ["device", "unflag"], summary: "trust a flagged device again",
      discussion:
        """
        A device is flagged when two different histories come in its name. Do this when the other copy is gone and \
        wrote nothing; else see `device fork`.
        """,
      arguments: [ArgumentSpec("NAME", help: "the device's name")],
      examples: [Example("satchel-hub device unflag tablet-1", "The copy was found and deleted.")], changesData: true
    ) { command, context in
      let device = try open(command, context).unflag(command.argument("NAME"))
      return Answer("The device \(device.name) is trusted again.\n", ["device": json(device)])
    }
  }

  private static var listDevices: Command {
    Command(
      ["device", "list"], summary: "list the devices",
      discussion: "Shows all devices, and when the hub last received a bundle from each.",
      examples: [Example("satchel-hub device list", "Shows which tablets have reported.")]
    ) { command, context in
      let hub = try open(command, context)
      let (devices, expired) = (try hub.devices(), try hub.expiredDevices())
      let now = context.platform.clock.milliseconds()
      var table = TextTable(["DEVICE", "USER", "STATE", "HEARD", .right("MERGED"), .right("PROVED")])
      for device in devices {
        table.add([
          device.name, device.user, stateWords(device, isExpired: expired.contains(device.name)),
          Words.age(of: device.heard, now: now), "\(device.merged)", "\(device.proved)",
        ])
      }
      let text: TerminalText =
        devices.isEmpty
        ? "There is no device yet: satchel-hub device provision NAME --user USER --into DIR\n" : table.text(width: nil)
      return Answer(text, ["devices": .array(devices.map(json))])
    }
  }

  static func json(_ device: EnrolledDevice) -> JSONValue {
    [
      "name": .string(device.name), "id": .string(device.id.text), "user": .string(device.user),
      "state": .string(device.state.rawValue), "revoked_from": .optional(device.revokedFrom?.rawValue),
      "merged": .integer(device.merged.rawValue), "proved": .integer(device.proved.rawValue),
      "enrolled": .time(device.enrolled),
      "heard": .time(device.heard), "clock_ahead_ms": .integer(device.skew),
      "fingerprint": .string(device.key.fingerprint), "refused_key": .optional(device.refusedKey?.fingerprint),
      "expires": .time(device.expires), "edits": .bool(!device.isReadOnly),
      "hold_since": .time(device.hold?.since), "hold_note": .optional(device.hold?.note),
    ]
  }
}
