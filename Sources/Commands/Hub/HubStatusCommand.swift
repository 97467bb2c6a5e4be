import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension HubTool {
  static var status: Command {
    Command(
      ["status"], summary: "show who has reported, what waits, and what to do next",
      discussion: "Shows tables, the age of each device's data, conflicts and refused files.",
      examples: [Example("satchel-hub status", "Shows the state of the hub.")]
    ) { command, context in
      let status = try open(command, context).status()
      let clock = context.platform.clock
      let now = clock.milliseconds()
      var sheet = StatusSheet(facts: facts(status, now, by: clock), steps: steps(status))
      if !status.devices.isEmpty { sheet.table = devices(status, now) }
      return Answer(sheet.text, members(status))
    }
  }

  /// How many waiting bundles `status` names.
  private static let shownWaiting = 5

  /// - Parameter clock: shows times as local times.
  static func facts(_ status: HubStatus, _ now: Int64, by clock: any WallClock) -> [StatusSheet.Fact] {
    var facts = StatusSheet.Facts()
    if let found = status.setBack { facts.add("Set back", found.words) }
    if let fault = status.clockFault { facts.add("Clock", fault.words) }
    facts.add(
      "Hub", "\(status.configuration.name) of the dataset \(status.configuration.dataset), version \(status.version)")
    facts.add("Fingerprint", status.fingerprint)
    if let words = status.wordsOfOlderKeys { facts.add("Keys", words) }
    facts.add("Rows", status.tables.map { "\($0.table) \($0.rows)" }.joined(separator: ", "))
    facts.add("Changes", "\(status.cursor) since the beginning")
    facts.add("Conflicts", "\(status.openConflicts) open, \(status.heldConflicts) held")
    facts.add(quarantined: status.quarantined)
    facts.add(failed: status.failedImports)
    for words in holdWords(status, now) { facts.add("On hold", words) }
    for bundle in status.waiting.prefix(shownWaiting) {
      facts.add("Waits", "\(Paths.name(of: bundle.path)): \(words(bundle.reason))")
    }
    if status.waiting.count > shownWaiting {
      facts.add("Waits", "\(status.waiting.count - shownWaiting) more, in bundles/inbox/waiting")
    }
    facts.add(volumes: status.volumes)
    facts.add(onSticks: status.onSticks)
    for entry in status.devices where entry.rowsLeft > 0 && entry.device.state != .revoked {
      facts.add(
        "Stays behind",
        """
        \(Words.count(Int(entry.rowsLeft), "row")) for \(entry.device.name), until a bundle is made without --size or \
        with more room
        """)
    }
    for entry in status.attachments.waiting {
      let size = Words.kibibytes(entry.notSentBytes)
      let new = entry.notSent == 0 ? "all in a bundle" : "\(entry.notSent) in no bundle yet (\(size))"
      facts.add("Files", "\(Words.count(entry.count, "file")) that \(entry.device) may lack: \(new)")
    }
    facts.add(missing: status.attachments.missing)
    for file in status.attachments.beside.prefix(5) {
      facts.add(
        "Beside",
        """
        the file \(file.path) from \(file.device) is kept as \(file.kept), because its name is taken: another file has \
        it, or another user's row named it first. If a row needs this file, write \(file.kept) into the row
        """)
    }
    facts.add("Backup", status.backedUp.map { Words.age(of: $0, now: now) } ?? "none yet: satchel-hub backup FILE")
    if !status.unaware.isEmpty {
      let names = status.unaware.joined(separator: ", ")
      let person = status.wasKeyLost ? ". If its key was replaced, a person compares the fingerprint at each" : ""
      facts.add("New epoch", "this hub began a new epoch; devices that may not know it yet: \(names)\(person)")
    }
    if let recovery = status.recovery { facts.add("Recovers", words(recovery)) }
    for damage in status.damage { facts.add("Warning", "\(damage.words): writes may have gone by unseen") }
    if let fault = status.triggerFault { facts.add("Warning", fault.message) }
    for entry in status.devices {
      guard let proof = entry.proof, proof.result == .differs else { continue }
      facts.add("Differs", proof.differenceWords(of: entry.device.name))
    }
    for words in handovers(status, now, by: clock) { facts.add("Handed over", words) }
    for entry in status.devices where entry.isHeldFull {
      facts.add(
        "Warning",
        "\(entry.held) changes of \(entry.device.name) wait, which is the limit: further changes become open conflicts")
    }
    for device in status.devices.map(\.device) where device.refusedKey != nil && device.state != .revoked {
      facts.add("Warning", refusedKeyWords(device.name))
    }
    for words in clockWarnings(status, now, by: clock) { facts.add("Warning", words) }
    for entry in status.devices {
      guard let health = entry.presentHealth else { continue }
      let text = DeviceHealthText(health: health, now: now)
      for words in text.warnings(of: entry.device.name) { facts.add("Warning", words) }
    }
    let silent = status.devices.map(\.device).filter {
      $0.state == .active && now - ($0.heard ?? $0.enrolled) > Words.usualSilence
    }
    if !silent.isEmpty {
      facts.add(
        "Warning",
        """
        no bundle came for \(Words.span(Words.usualSilence)) or more from \
        \(silent.map(\.name).joined(separator: ", "))
        """
      )
    }
    return facts.all
  }

  /// The devices that changed their user, if work of the former user still counts.
  private static func handovers(_ status: HubStatus, _ now: Int64, by clock: any WallClock) -> [String] {
    status.devices.filter { $0.device.state != .revoked }.flatMap { entry in
      entry.formerUsers.filter { $0.until > now }.map { former in
        """
        \(entry.device.name) now works for \(entry.device.user). Earlier work of \(former.user) that it brings counts \
        until \(clock.localText(milliseconds: former.until))
        """
      }
    }
  }

  /// Warnings about clocks, each with the clock's owner. A difference between two clocks does not show which clock is
  /// wrong. While this hub's own clock has a fault, no device's clock is blamed.
  private static func clockWarnings(_ status: HubStatus, _ now: Int64, by clock: any WallClock) -> [String] {
    let skewed = status.devices.map(\.device).filter { $0.state != .revoked && Words.skew($0.skew) != nil }
    let blamed = status.clockFault == nil ? skewed : []
    var words = blamed.compactMap { device in
      Words.skew(device.skew).map {
        "the clock of \(device.name) was \($0), against this hub's, when it reported last: set it right there"
      }
    }
    let shown = "this hub's clock shows \(clock.localText(milliseconds: now))"
    if skewed.count(where: { $0.skew > 0 }) > 1 {
      words.append("\(shown), and several devices are ahead of it: this clock may be behind")
    }
    if status.newestStamp > now + 60_000 {
      let until = clock.localText(milliseconds: status.newestStamp)
      let effect =
        status.isNewestInDoubt
        ? "until then a person decides about concurrent changes, in place of \"newest\""
        : "until then \"newest\" may prefer the older of two concurrent changes"
      words.append("\(shown), and devices were sent times up to \(until): \(effect)")
    }
    return words
  }

  static func words(_ reason: WaitingBundle.Reason) -> String {
    switch reason {
    case .version(let version): "it is of version \(version) of the dataset; satchel-hub dataset apply brings that"
    case .earlier(let merged): "earlier bundles of its device are missing: the first one is number \(merged.next)"
    case .setBack: "this hub was set back, and nothing is imported until you decide"
    case .braked(let words): words
    case .user(let user):
      "it is work of \(user), and this hub's record names another user of the device"
    case .onHold: "its device is on hold"
    case .due: "the next import or sync takes it"
    }
  }

  /// The advice to a person before the hub merges the lost time.
  private static let lateWords = """
    First enrol the tablets that got their folder in the lost time: satchel keys request FILE there. If a tablet \
    delivers only after the merge, its additions to counters and lists may become open conflicts.
    """

  private static func words(_ recovery: HubStatus.Recovering) -> String {
    var parts: [String] = []
    if !recovery.silent.isEmpty { parts.append("\(recovery.silent.joined(separator: ", ")) must deliver again") }
    parts += recovery.awaited.map {
      "\($0.device) has \(Words.count(Int($0.count), "bundle")) of the lost time to bring"
    }
    if !recovery.missing.isEmpty {
      let files = recovery.missing.map { "bundles/archive/lost/\($0)" }.joined(separator: ", ")
      parts.append("\(files) is missing, and satchel-hub doctor says where it may be")
    }
    if parts.isEmpty {
      return "no device has any lost work to bring. \(lateWords) Then: satchel-hub restore --finish"
    }
    return
      """
      what was lost comes back from the devices: \(parts.joined(separator: "; ")). \(lateWords) Without them: \
      satchel-hub restore --finish
      """
  }

  /// The table of devices: when each device reported, and which bundles it is known to have.
  static func devices(_ status: HubStatus, _ now: Int64) -> StatusSheet.Table {
    StatusSheet.Table(
      titles: ["Device", "User", "State", "Heard", "Merged", "Its rows", "Verified", "Never came"],
      numbers: [4],
      rows: status.devices.map { entry in
        let device = entry.device
        return [
          device.name, device.user, stateWords(device, isExpired: entry.isExpired),
          Words.age(of: device.heard, now: now), "\(device.merged)", standing(of: entry), words(entry.proof, now),
          Words.ranges(entry.missing),
        ]
      })
  }

  /// Whether a device is known to have the newest bundle that was made for it.
  static func standing(of entry: HubStatus.Device) -> String {
    let (made, known) = (entry.emitted, entry.device.proved)
    if made == .zero { return "nothing yet" }
    if known >= made { return "up to date" }
    if known == .zero { return "not known" }
    // In a new epoch, the numbers of emissions begin far above the former numbers.
    let behind = made.rawValue - known.rawValue
    return behind < mostCounted ? "\(Words.count(Int(behind), "bundle")) behind" : "behind"
  }

  private static let mostCounted: Int64 = 10_000

  /// The next steps, the most urgent first.
  static func steps(_ status: HubStatus) -> [String] {
    // Nothing else can be done until the damage is repaired.
    if let hint = status.damage.compactMap(\.hint).first { return [hint] }
    if !status.damage.isEmpty {
      let repair = "satchel-hub doctor, which says what went by unseen; then satchel-hub doctor --repair"
      let isMigration = status.damage.contains(where: \.mayBeMigration)
      return isMigration ? [WorkspaceError.migrationStep, "If not: \(repair)"] : [repair]
    }
    if let found = status.setBack { return [found.wayOut] }
    if let fault = status.clockFault { return [fault.wayOut] }
    if let fault = status.triggerFault { return [fault.hint] }
    if status.users == 0 { return ["satchel-hub user add NAME"] }
    if status.devices.isEmpty { return ["satchel-hub device provision NAME --user USER --into DIR"] }
    var steps: [String] = []
    if !status.devicesWithNewerKey.isEmpty { steps.append(HubStatus.wayOutOfOlderKeys) }
    if let flagged = status.devices.first(where: { $0.device.state == .flagged }) {
      steps.append(
        "settle which copy of \(flagged.device.name) keeps the name: satchel-hub device fork \(flagged.device.name)")
    }
    for bundle in status.braked {
      steps.append(
        """
        ask the user of \(bundle.device) whether bundle \(bundle.number) is meant. Then satchel-hub import --accept \
        \(bundle.name), or --reject
        """)
    }
    for (device, user) in status.heldForUser {
      steps.append(
        """
        if \(user) works or worked with \(device), enter that: satchel-hub device set \(device) --user \(user). Until \
        then its bundles wait, and no bundle is made for it
        """)
    }
    for device in status.onHold {
      steps.append("see what \(device) brought, which is on hold. To merge it: satchel-hub device release \(device)")
    }
    for entry in status.devices where entry.proof?.result == .differs {
      steps.append("satchel-hub compare \(entry.device.name), which lists its rows that differ")
    }
    if status.openConflicts > 0 { steps.append("satchel-hub conflicts") }
    if let step = StatusSheet.stepOfQuarantine(status.quarantined, tool: name) { steps.append(step) }
    return steps + ["satchel-hub sync DIR, with each stick that comes and before it goes."]
  }

  private static func members(_ status: HubStatus) -> KeyValuePairs<String, JSONValue> {
    [
      "hub": .string(status.configuration.name), "id": .string(status.configuration.id.text),
      "dataset": .string(status.configuration.dataset), "version": .integer(status.version),
      "epoch": .string(status.epoch.text),
      "fingerprint": .string(status.fingerprint), "cursor": .integer(status.cursor.rawValue),
      "tables": .tables(status.tables.map { (table: $0.table, count: Int($0.rows)) }),
      "users": .integer(Int64(status.users)),
      "devices": .array(
        status.devices.map { .object((json($0.device).objectValue ?? []) + members($0)) }),
      "open_conflicts": .integer(status.openConflicts), "held_conflicts": .integer(status.heldConflicts),
      "quarantined": .integer(Int64(status.quarantined.count)), "refused": StatusSheet.json(status.quarantined),
      "failed_import": .optional(status.failedImports.first?.words),
      "failed_imports": StatusSheet.json(status.failedImports),
      "next": .strings(steps(status)),
      "clock_fault": status.clockFault.map(json) ?? .null, "newest_stamp": .time(status.newestStamp),
      "waiting": .array(status.waiting.map(json)), "set_back": status.setBack.map(json) ?? .null,
      "recovery": status.recovery.map(json) ?? .null,
      "volumes": Volumes.json(status.volumes), "on_sticks": Volumes.json(status.onSticks),
      "outbox": .strings(status.outbox),
      "backed_up": .time(status.backedUp), "restored_unaware": .strings(status.unaware),
      "older_keys": .strings(status.devicesWithNewerKey),
      "missing_triggers": .strings(status.missingTriggers.map(\.text)), "damage": .strings(status.damage.map(\.words)),
      "trigger": .optional(status.triggerFault?.message),
      "files": [
        "missing": AttachedWords.json(status.attachments.missing),
        "waiting": .array(
          status.attachments.waiting.map {
            [
              "device": .string($0.device), "count": .integer(Int64($0.count)),
              "not_sent": .integer(Int64($0.notSent)), "not_sent_bytes": .integer($0.notSentBytes),
            ]
          }),
        "beside": .array(
          status.attachments.beside.map {
            ["device": .string($0.device), "path": .string($0.path), "kept": .string($0.kept)]
          }),
      ],
    ]
  }

  private static func json(_ bundle: WaitingBundle) -> JSONValue {
    var version: Int64?
    if case .version(let number) = bundle.reason { version = number }
    return [
      "file": .string(Paths.name(of: bundle.path)), "reason": .string(bundle.word), "device": .string(bundle.device),
      "number": .integer(bundle.number), "version": version.map { .integer($0) } ?? .null,
      "words": .string(words(bundle.reason)),
    ]
  }

  private static func json(_ found: SetBack) -> JSONValue {
    [
      "reason": "set-back", "at": .time(found.at), "device": .string(found.device), "epoch": .string(found.epoch.text),
      "number": .integer(found.number.rawValue), "message": .string(found.words), "hint": .string(found.wayOut),
    ]
  }

  private static func json(_ fault: ClockFault) -> JSONValue {
    ["reason": "clock", "message": .string(fault.words), "hint": .string(fault.wayOut)]
  }

  private static func json(_ recovery: HubStatus.Recovering) -> JSONValue {
    [
      "silent": .strings(recovery.silent),
      "awaited": .array(recovery.awaited.map { ["device": .string($0.device), "bundles": .integer($0.count)] }),
      "missing": .strings(recovery.missing),
    ]
  }

  static var report: Command {
    ReportCommand.report(tool: name) { command, context in
      let hub = try open(command, context)
      let status = try hub.status()
      let clock = context.platform.clock
      let now = clock.milliseconds()
      return try Report(
        title: "Hub \(status.configuration.name) of the dataset \(status.configuration.dataset)",
        made: clock.localText(milliseconds: now),
        sheet: StatusSheet(facts: facts(status, now, by: clock), steps: steps(status)),
        sections: [
          .init(heading: "Devices", table: devices(status, now), ifEmpty: "There is no device yet."),
          .conflicts(now: now) {
            if status.damage.isEmpty { try hub.eachBatchOfConflicts([.open, .held], .units, $0) }
          },
          .refused(status.quarantined),
          .bundles(hub.log(limit: 100), by: clock),
        ])
    }
  }
}
