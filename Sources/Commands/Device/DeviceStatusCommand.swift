import SatchelDevice
import SatchelJSON
import SatchelPlatform
import SatchelValues

extension DeviceTool {
  static var status: Command {
    Command(
      ["status"], summary: "show what is not delivered yet, and what to do next",
      discussion:
        """
        Shows what the hub has not acknowledged, when its last bundle came, and what waits for a decision here.

        In another language than English, it says what the device's window says: see window. The language is that of \
        the environment (LC_ALL, LC_MESSAGES, LANG), unless --language names one. JSON is the same in all languages.
        """,
      options: [WindowLanguage.option],
      examples: [
        Example("satchel status", "Shows what is not delivered yet."),
        Example("satchel status --language fr", "In French."),
      ]
    ) { command, context in
      let clock = context.platform.clock
      let speech = try StatusSpeech(command, context)
      do {
        let status = try open(command, context).status()
        let now = clock.milliseconds()
        return Answer(speech?.text(status, by: clock) ?? text(status, now), members(status, now))
      } catch {
        if let speech, !command.json { context.console.warn(speech.failure) }
        throw error
      }
    }
  }

  static func text(_ status: DeviceStatus, _ now: Int64) -> TerminalText {
    let configuration = status.configuration
    if let trouble = status.trouble {
      var outbox: TerminalText =
        status.outbox.isEmpty
        ? "" : "\(Words.count(status.outbox.count, "file")) in bundles/outbox can be carried: satchel sync DIR\n"
      if case .away = trouble, !status.staged.isEmpty {
        outbox += "Waiting for the tablet: \(Words.count(status.staged.count, "bundle")) from the hub.\n"
      }
      return "Device \(configuration.name) of the dataset \(configuration.dataset).\n" + words(trouble) + outbox
    }
    guard let current = status.current else {
      let state =
        configuration.leaves == nil
        ? "it has no data yet." : "it has left its hub, and keeps its rows for the next one. Work goes on."
      return """
        Device \(configuration.name) of the dataset \(configuration.dataset): \(state)
        Its key's fingerprint is \(status.fingerprint).
        Next: \(status.staged.isEmpty ? "import the hub's first bundle: satchel import FILE" : "satchel apply")

        """
          + (!status.staged.isEmpty && configuration.canBeginOnTablet ? beginningOnTablet : "")
          + status.volumes.map { "Of \($0.whole), \(Volumes.missing($0)).\n" as TerminalText }
          .joined()
    }
    return StatusSheet(facts: facts(status, current, now), steps: steps(status, current)).text
  }

  private static func words(_ trouble: DeviceStatus.Trouble) -> TerminalText {
    switch trouble {
    case .replaced:
      """
      Warning: another program put a new file in the place of its database. The new file has no tables of Satchel.
      Next: put the right file back; or, if this is the one to go on with: satchel doctor

      """
    case .lost(let words):
      """
      Warning: \(words) What was exported is not lost.
      Next: mount its card or disk, if it is on one. If the file is nowhere: satchel doctor --repair

      """
    case .lostAfterLeaving(let error): "Warning: \(error.message)\n" + (error.hint.map { "Next: \($0)\n\n" } ?? "\n")
    case .damaged(let words):
      """
      Warning: the database is damaged (\(words)). What was exported is not lost.
      Next: close the app, keep the file, and import the next bundle from the hub. It makes a new database.

      """
    case .away(let name):
      """
      Its database is on its tablet, in \(name).
      Next: connect the tablet, close the app there, and run satchel dock FOLDER.

      """
    }
  }

  /// The facts about a device that has data.
  static func facts(_ status: DeviceStatus, _ current: DeviceStatus.Current, _ now: Int64) -> [StatusSheet.Fact] {
    let (configuration, state) = (status.configuration, current.state)
    var facts = StatusSheet.Facts()
    facts.add("Device", "\(configuration.name), for the user \(state.user)")
    facts.add("Dataset", "\(configuration.dataset), version \(current.version)")
    facts.add(
      "Hub", "\(state.hubName): its bundle \(state.received) was imported \(Words.age(of: state.heard, now: now))")
    if let heard = current.acknowledgedExport {
      facts.add("The hub has", "your export \(state.acknowledged), made \(Words.age(of: heard, now: now))")
    }
    facts.add("Not delivered", notDelivered(current))
    let files = current.attachments
    if files.waiting > 0 {
      let size = Words.kibibytes(files.notSentBytes)
      let new = files.notSent == 0 ? "all in an export" : "\(files.notSent) in no export yet (\(size))"
      facts.add("Files", "\(files.waiting) not known to be at the hub, \(new)")
    }
    facts.add(missing: files.missing)
    if files.lost > 0 {
      let asked = files.notAsked == 0 ? "an export asked for them" : "the next export asks for them"
      facts.add(
        "Files", "\(files.lost) are missing here, but the hub has them: \(asked), and the hub sends them again")
    }
    facts.add(
      "Exports",
      state.sequence == .zero
        ? "none yet"
        : """
        the last was \(state.sequence), \(Words.age(of: current.lastExport, now: now)); the hub is known to have \
        \(state.acknowledged)
        """
    )
    if current.openConflicts + current.heldConflicts > 0 {
      facts.add("Conflicts", "\(current.openConflicts) open, \(current.heldConflicts) held at the hub")
    }
    let (waiting, gone) = (current.kept.filter(\.isInTable), current.kept.filter { !$0.isInTable })
    if !gone.isEmpty { facts.add("Kept aside", "not in the tables until you decide: \(KeptWords.line(gone))") }
    if !waiting.isEmpty { facts.add("Kept here", "until the hub's operator decides: \(KeptWords.line(waiting))") }
    if !current.localTables.isEmpty { facts.add("Only here", onlyHere(current.localTables)) }
    facts.add(quarantined: status.quarantined)
    facts.add(failed: status.failedImports)
    if !status.staged.isEmpty {
      facts.add("Staged", "\(Words.count(status.staged.count, "bundle")) to be applied")
    }
    if configuration.continues != nil {
      facts.add("Waits", "the hub has not answered it under its new name yet; work may go on")
    }
    for obstacle in status.obstacles { facts.add("Waits", "\(obstacle.file): \(obstacle.words)") }
    if let found = current.estrangement {
      facts.add(found.title, "\(found.words) It came \(Words.age(of: found.at, now: now)), and nothing is lost.")
    }
    for sealed in current.sealed { facts.add("Former user", "\(sealed.words): carry it to the hub") }
    if current.brought > 0 {
      facts.add(
        "Brings back",
        "\(Words.count(current.brought, "bundle")) that the hub had made and lost: carry them with the exports")
    }
    facts.add(volumes: status.volumes)
    facts.add(onSticks: current.onSticks)
    if let health = status.health(at: now) {
      let text = DeviceHealthText(health: health, now: now)
      facts.add("Health", text.line)
      for words in text.ownWarnings { facts.add("Warning", words) }
    }
    for words in warnings(current, now) { facts.add("Warning", words) }
    return facts.all
  }

  /// The most tables that are named. An app may have many tables of its own.
  private static let mostNamed = 5

  private static func onlyHere(_ tables: [LocalTable]) -> String {
    // People look for their layers first.
    let ordered = tables.filter(\.isLayer) + tables.filter { !$0.isLayer }
    let named = ordered.prefix(mostNamed).map { $0.isLayer ? "\($0.name) (a layer)" : $0.name.text }
    let more = ordered.count - named.count
    let all = named + (more > 0 ? ["\(more) more"] : [])
    return """
      the rows of \(all.joined(separator: ", ")): no one else gets them, because the dataset does not name \
      \(tables.count == 1 ? "the table" : "these tables")
      """
  }

  static func warnings(_ current: DeviceStatus.Current, _ now: Int64) -> [String] {
    var words: [String] = []
    if now - current.state.heard > Words.usualSilence {
      words.append(
        "no bundle came from the hub for \(Words.span(now - current.state.heard)): others may have changed much since")
    }
    if let skew = Words.skew(now - current.newestStamp), now < current.newestStamp {
      words.append(
        """
        this device's clock is \(skew), compared with the newest time in its data: set it right. If it is right, \
        the hub's clock was ahead: tell the hub's operator
        """
      )
    }
    if current.isBusy {
      words.append("another program is writing into the database: its newest changes are not counted here")
    }
    words += current.damage.map { "\($0.words): some writes may not be recorded" }
    if let fault = current.triggerFault { words.append(fault.message) }
    if let highest = current.unknownExport {
      words.append("the database was replaced by an older copy: this workspace holds export \(highest) already")
    }
    if let first = current.redelivery.first {
      words.append(
        "the hub was restored from a backup, and lacks the exports from \(first) on: they are in bundles/outbox")
    }
    words += current.lostCounts
    words += current.blocks.filter(\.isShort).map {
      """
      \(Words.count(Int($0.left), "key")) left for new rows of \($0.block.table): exchange bundles with the hub to \
      get more
      """
    }
    words += current.namelessRows.map {
      "\(Words.count($0.count, "row")) of \($0.table) without a key (NULL): no bundle can carry such rows"
    }
    return words
  }

  private static func notDelivered(_ current: DeviceStatus.Current) -> String {
    let total = current.pending.reduce(0) { $0 + $1.count }
    if total == 0 {
      // If capture may have missed writes, the count of zero may be wrong.
      let isSure =
        current.damage.isEmpty && current.lostCounts.isEmpty && current.unknownExport == nil && !current.isBusy
      if !isSure { return "not known: see the warnings" }
      let isOnTheWay = !current.sealed.isEmpty || !current.redelivery.isEmpty || current.estrangement != nil
      return isOnTheWay ? "no new change; the lines below say what the hub may lack" : "nothing: the hub has everything"
    }
    let new = current.notExported == 0 ? "all in an export" : "\(current.notExported) in no export yet"
    return "\(Words.count(total, "change")) (\(Words.tables(current.pending))), \(new)"
  }

  /// The next steps, the most urgent first.
  static func steps(_ status: DeviceStatus, _ current: DeviceStatus.Current) -> [String] {
    // Nothing else can be done until the damage is repaired.
    if let hint = current.damage.compactMap(\.hint).first { return [hint] }
    if !current.damage.isEmpty || !current.lostCounts.isEmpty || current.unknownExport != nil {
      return ["satchel doctor, which lists the writes that were not recorded; then satchel doctor --repair"]
    }
    var steps: [String] = []
    if let fault = current.triggerFault { steps.append(fault.hint) }
    if let found = current.estrangement { steps.append(found.hint) }
    if status.staged.count > status.obstacles.count { steps.append("satchel apply") }
    if let obstacle = status.obstacles.first {
      steps.append(obstacle.hint ?? "bring the app to the version that the bundle expects, then: satchel apply")
    }
    if status.configuration.continues != nil {
      steps.append(
        "carry the request to the hub (satchel renew --request FILE writes it again), and import the hub's answer.")
    }
    let isToExport =
      current.notExported + current.attachments.notSent + current.attachments.notAsked > 0 || current.hasUntoldKey
    if !current.onSticks.isEmpty {
      steps.append("satchel sync DIR, with the next stick: it takes the volumes that are left")
    } else if isToExport {
      steps.append("satchel sync DIR, with a stick that goes to the hub")
    }
    if current.openConflicts > 0 { steps.append("satchel conflicts") }
    if !current.redelivery.isEmpty || current.brought > 0 || !current.sealed.isEmpty {
      steps.append("carry all of bundles/outbox to the hub.")
    } else if !isToExport, let file = status.outbox.last {
      steps.append("carry bundles/outbox/\(file) to the hub.")
    }
    if let step = StatusSheet.stepOfQuarantine(status.quarantined, tool: name) { steps.append(step) }
    return steps
  }

  /// The state as a fixed word for programs.
  private static func word(_ trouble: DeviceStatus.Trouble?) -> String {
    switch trouble {
    case nil: "initial"
    case .replaced: "replaced"
    case .lost, .lostAfterLeaving: "lost"
    case .damaged: "damaged"
    case .away: "docked"
    }
  }

  private static func members(_ status: DeviceStatus, _ now: Int64) -> KeyValuePairs<String, JSONValue> {
    let configuration = status.configuration
    guard let current = status.current else {
      return [
        "state": .string(word(status.trouble)), "outbox": .strings(status.outbox),
        "device": .string(configuration.name),
        "id": .string(configuration.id.text),
        "dataset": .string(configuration.dataset), "fingerprint": .string(status.fingerprint),
        "volumes": Volumes.json(status.volumes),
      ]
    }
    let state = current.state
    return [
      "state": status.staged.isEmpty ? "current" : "pending", "staged": .strings(status.staged),
      "obstacles": .array(status.obstacles.map { ["file": .string($0.file), "words": .string($0.words)] }),
      "device": .string(configuration.name), "id": .string(configuration.id.text),
      "dataset": .string(configuration.dataset), "version": .integer(current.version), "user": .string(state.user),
      "hub": .string(state.hubName), "received": .integer(state.received.rawValue), "heard": .time(state.heard),
      "sequence": .integer(state.sequence.rawValue), "acknowledged": .integer(state.acknowledged.rawValue),
      "last_export": .time(current.lastExport), "acknowledged_export": .time(current.acknowledgedExport),
      "newest_stamp": .time(current.newestStamp), "pending": .tables(current.pending),
      "not_exported": .integer(Int64(current.notExported)), "busy": .bool(current.isBusy),
      "open_conflicts": .integer(current.openConflicts),
      "held_conflicts": .integer(current.heldConflicts), "kept": KeptWords.json(current.kept),
      "quarantined": .integer(Int64(status.quarantined.count)),
      "refused": StatusSheet.json(status.quarantined), "health": DeviceHealthText.json(status.health(at: now)),
      "failed_import": .optional(status.failedImports.first?.words),
      "failed_imports": StatusSheet.json(status.failedImports), "next": .strings(steps(status, current)),
      "volumes": Volumes.json(status.volumes), "on_sticks": Volumes.json(current.onSticks),
      "outbox": .strings(status.outbox), "missing_triggers": .strings(current.missingTriggers.map(\.text)),
      "damage": .strings(current.damage.map(\.words)), "trigger": .optional(current.triggerFault?.message),
      "lost_counts": .strings(current.lostCounts),
      "unknown_export": .optional(current.unknownExport?.rawValue),
      "redeliver": .array(current.redelivery.map { .integer($0.rawValue) }),
      "estrangement": current.estrangement.map(\.json) ?? .null, "brought": .integer(Int64(current.brought)),
      "sealed": .array(current.sealed.map(\.json)),
      "nameless_rows": .tables(current.namelessRows.map { (table: $0.table, count: Int($0.count)) }),
      "local_tables": .array(
        current.localTables.map { ["table": .string($0.name.text), "layer": .bool($0.isLayer)] }),
      "blocks": .array(
        current.blocks.map {
          [
            "table": .string($0.block.table.text), "first": .integer($0.block.first), "last": .integer($0.block.last),
            "left": .integer($0.left),
          ]
        }),
      "fingerprint": .string(status.fingerprint),
      "files": [
        "missing": AttachedWords.json(current.attachments.missing),
        "waiting": .integer(Int64(current.attachments.waiting)),
        "not_sent": .integer(Int64(current.attachments.notSent)),
        "not_sent_bytes": .integer(current.attachments.notSentBytes),
        "lost": .integer(Int64(current.attachments.lost)), "not_asked": .integer(Int64(current.attachments.notAsked)),
      ],
    ]
  }
}

extension Estrangement {
  /// The title of the estrangement in the list of facts.
  fileprivate var title: String { isOtherHub ? "Other hub" : "Other history" }

  fileprivate var json: JSONValue {
    [
      "reason": .string(reason), "at": .time(at), "number": .integer(number.rawValue), "file": .string(file),
      "message": .string(words), "hint": .string(hint),
    ]
  }
}
