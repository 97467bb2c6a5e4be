import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Commands that save and restore a hub, and a command that makes it smaller.
extension HubTool {
  static var upkeep: [Command] { [backup, restore, compact] }

  private static var backup: Command {
    Command(
      ["backup"], summary: "write the whole hub into one signed file",
      discussion: """
        The file holds the database, the configuration, the public keys and the archive of bundles. It is signed like \
        every bundle, and `satchel-hub restore` makes a hub from it. Apps may go on writing meanwhile. The secret keys \
        are not in it. Keep one copy of keys/ in a safe place, or add --with-keys and keep every backup as safe as the \
        hub itself.
        """,
      arguments: [ArgumentSpec("FILE", help: "the file to write, or with --verify to check")],
      options: [
        OptionSpec("with-keys", help: "put the secret keys in too; the file's owner alone may read it then"),
        Encrypting.option, Medium.plainFolder,
        OptionSpec("verify", help: "write nothing: check every byte of a backup that was made before"),
      ],
      examples: [
        Example("satchel-hub backup /media/safe/hub-monday.satchel", "Every evening."),
        Example("satchel-hub backup --verify /media/safe/hub-monday.satchel", "Checks that it can be restored."),
      ], changesData: true
    ) { command, context in
      let (hub, clock) = (try open(command, context), context.platform.clock)
      let path = command.path(command.argument("FILE"))
      if command.flag("verify") {
        if command.flag("with-keys") { throw UsageError("--verify writes nothing, so it takes no --with-keys") }
        let report = try BackupUse.verification.explaining { try hub.verifyBackup(path) }
        return Answer("\(path) is complete, and this hub made it.\n\(text(report, by: clock))", members(report, path))
      }
      try command.checkMedium(of: path, context)
      let secrets: SecretKeys = command.flag("with-keys") ? .included : .leftOut
      let report = try hub.backup(to: path, keys: secrets, encryption: command.encryption)
      var answer = Answer(
        "\(command.dryRun ? "Would write" : "Wrote") \(path).\n\(text(report, by: clock))", members(report, path))
      if report.hasSecretKeys, try !hub.keys.isProtected() {
        answer.warnings +=
          """
          The hub's secret keys are in the file, without a password: whoever reads it can sign as the hub. See \
          satchel-hub keys protect.

          """
      }
      if report.needsOwnKeys {
        answer.warnings +=
          """
          The backup is encrypted, and only the hub's keys can open it. Without a copy of keys/ in a safe place it is \
          useless. The dataset names no other key (escrow).

          """
      }
      return answer
    }
  }

  private static func text(_ report: BackupReport, by clock: any WallClock) -> TerminalText {
    """
    The hub after its change \(report.cursor), made \(clock.localText(ofUTC: report.created)): \
    \(Words.count(report.bundles, "bundle")) in the archive, \
    \(report.hasSecretKeys ? "with" : "without") the secret keys, \(report.bytes >> 10) KiB.

    """
  }

  private static func members(_ report: BackupReport, _ path: String) -> KeyValuePairs<String, JSONValue> {
    [
      "file": .string(path), "epoch": .string(report.epoch.text), "cursor": .integer(report.cursor.rawValue),
      "created": .string(report.created), "bytes": .integer(report.bytes), "bundles": .integer(Int64(report.bundles)),
      "secret_keys": .bool(report.hasSecretKeys),
    ]
  }

  private static var restore: Command {
    Command(
      ["restore"], summary: "make a hub from a backup",
      discussion: """
        Makes the folder DIR, whole or not at all, with the hub as it was when the backup was made. The hub begins a \
        new history: every device gets everything again. Before that, each device delivers again what the backup \
        lacks, by itself, as soon as it learns of the restore. Work done at the hub itself after the backup (users, \
        rights, devices, revocations, decisions) must be done again.

        The file's signature is checked before anything in it is used: with the keys that --keys names, or with the \
        key in the file, whose fingerprint a person compares.

        Afterwards the devices deliver again what the hub lacks, and bring the bundles that it had made for them. \
        After all devices have delivered, these are merged: rows that the office wrote come back, a counter counts \
        once, and deleted rows stay deleted. --finish does not wait for devices that are lost.

        --in-place is for a hub whose files were put back from a copy, such as a snapshot of its machine, while \
        devices continued to work.
        """,
      arguments: [
        ArgumentSpec("FILE", .optional, help: "the backup"), ArgumentSpec("DIR", .optional, help: "the folder to make"),
      ],
      options: [
        OptionSpec(
          "in-place",
          help: "this hub's files were put back from a copy: begin a new epoch on them, and keep the database as it was"
        ),
        OptionSpec("finish", help: "merge the work of the lost time now, without devices that are still silent"),
        OptionSpec("keys", kind: .value("DIR"), help: "a copy of the hub's folder keys"),
        OptionSpec("new-keys", help: "the keys are lost: make new ones, and revoke the old ones"),
        OptionSpec("fingerprint", kind: .value("WORDS"), help: "of the hub's key, if --keys is not given"),
        OptionSpec(
          "clock-is-right", help: "this computer's clock is right, although the times in the backup contradict it"),
        Confirmation.yes,
      ],
      examples: [
        Example("satchel-hub restore hub-monday.satchel hub --keys /media/safe/keys", "The hub's disk is broken."),
        Example("satchel-hub restore --in-place", "Yesterday's copy of the hub's files was put back."),
      ], changesData: true
    ) { command, context in
      if let answer = try restoreHere(command, context) { return answer }
      let root = command.path(command.argument("DIR"))
      let restore = HubRestore(platform: context.platform, passwords: command.passwords(context))
      let report = try BackupUse.restore.explaining {
        try restore.restore(
          command.path(command.argument("FILE")), into: root, keys: keys(of: command),
          fingerprint: command.value("fingerprint"), clock: command.flag("clock-is-right") ? .right : .unchecked,
          runMode: command.runMode)
      }
      return Answer(text(report, root, command, by: context.platform.clock), members(report, root))
    }
  }

  /// Does `restore --in-place` or `restore --finish` in the present workspace. nil if the command makes a hub from a
  /// backup.
  private static func restoreHere(_ command: ParsedCommand, _ context: CommandContext) throws -> Answer? {
    let (isInPlace, isEnd) = (command.flag("in-place"), command.flag("finish"))
    let names = command.arguments("FILE") + command.arguments("DIR")
    guard isInPlace || isEnd else {
      guard names.count == 2 else { throw UsageError("restore takes a backup and the folder to make from it") }
      return nil
    }
    guard names.isEmpty, !(isInPlace && isEnd) else {
      throw UsageError("--in-place and --finish take no arguments: they work in this hub's own folder")
    }
    let hub = try open(command, context)
    if isEnd {
      let report = try hub.finishRecovery()
      return Answer(text(report), ["recovery": json(report)])
    }
    try askIfUnproved(hub, command, context)
    return answer(try hub.restoreInPlace(), command, context.platform.clock)
  }

  /// Asks before a new epoch begins, unless a bundle has shown that the hub was set back.
  private static func askIfUnproved(_ hub: HubWorkspace, _ command: ParsedCommand, _ context: CommandContext) throws {
    let status = try hub.status()
    if status.setBack != nil { return }
    let devices = status.devices.count { $0.device.state == .active }
    try Confirmation.ask(
      """
      No device has shown that this hub was set back.
      A new epoch costs a full bundle for \(Words.count(devices, "device")). Begin one?
      """, command, context)
  }

  private static func answer(_ report: InPlaceReport, _ command: ParsedCommand, _ clock: any WallClock) -> Answer {
    var text: TerminalText =
      """
      \(command.dryRun ? "Would begin" : "Began") a new epoch on the files as they are. The database as it was: \
      \(report.copy)\n
      """
    if let last = report.last {
      text +=
        """
        The newest bundle that this hub knows is from \(clock.localText(milliseconds: last)). What was done after \
        that must come back.\n
        """
    }
    if !report.wasKnown {
      text +=
        "No device has shown that this hub was set back. Nothing is lost by it: every device gets everything again.\n"
    }
    if !report.devices.isEmpty {
      text +=
        """
        These deliver again what this hub lacks, with their next two sticks: \
        \(report.devices.joined(separator: ", ")).\n
        """
    }
    text +=
      """
      Do again what was done at the hub itself in the lost time: users, rights, devices, revoked keys, decisions.
      Enrol the tablets of that time before the others deliver; otherwise their counters become open conflicts.

      """
    text += "Next: satchel-hub emit --all, and bring the bundles to the devices.\n"
    return Answer(
      text,
      [
        "former_epoch": .string(report.former.text), "epoch": .string(report.epoch.text), "copy": .string(report.copy),
        "devices": .strings(report.devices), "was_known": .bool(report.wasKnown),
        "last": report.last.map { .time($0) } ?? .null,
      ])
  }

  private static func keys(of command: ParsedCommand) throws -> KeysOfRestored {
    switch (command.value("keys"), command.flag("new-keys")) {
    case (nil, false): return .inBackup
    case (nil, true): return .new
    case (let folder?, false): return .folder(command.path(folder))
    case (_?, true): throw UsageError("--keys is for keys that you have, and --new-keys is for lost keys: use only one")
    }
  }

  private static func text(
    _ report: RestoreReport, _ root: String, _ command: ParsedCommand, by clock: any WallClock
  ) -> TerminalText {
    var text: TerminalText = """
      \(command.dryRun ? "Would make" : "Made") \(root): the hub \(report.name) of the dataset \(report.dataset), \
      as it was on \(clock.localText(ofUTC: report.created)), after its change \(report.cursor).
      The fingerprint of its key is \(report.fingerprint).

      """
    if !report.devices.isEmpty {
      text +=
        """
        What it has of its devices: \
        \(report.devices.map { "\($0.name) up to bundle \($0.merged)" }.joined(separator: ", ")).\n
        """
    }
    let atDevices: TerminalText =
      command.flag("new-keys") ? "; at each device: satchel import FILE --fingerprint \(report.fingerprint)" : ""
    return text + """
      Do again what was done at the hub since then: users, rights, devices, revoked keys, decisions.
      Enrol the tablets of that time before the others deliver; otherwise their counters become open conflicts.
      For a device that works but is not named here: satchel keys request FILE there, satchel-hub device \
      enrol FILE here.
      Next: satchel-hub -C \(root) emit --all, and bring the bundles to the devices\(atDevices).

      """
  }

  private static func members(_ report: RestoreReport, _ root: String) -> KeyValuePairs<String, JSONValue> {
    [
      "workspace": .string(root), "dataset": .string(report.dataset), "hub": .string(report.name),
      "created": .string(report.created), "former_epoch": .string(report.former.text),
      "epoch": .string(report.epoch.text),
      "cursor": .integer(report.cursor.rawValue),
      "devices": .array(report.devices.map { ["device": .string($0.name), "merged": .integer($0.merged.rawValue)] }),
      "fingerprint": .string(report.fingerprint),
    ]
  }

  private static var compact: Command {
    Command(
      ["compact"], summary: "forget history that is no longer needed",
      discussion: """
        Forgets changes that all devices are known to have, and the memory of deleted rows. history, audit and doctor \
        continue to work, and show the changes since then. The rows, the conflicts and the ledger stay. The command \
        does not wait for revoked and expired devices. Nothing is forgotten that is younger than the dataset's \
        "history".

        From files/ it removes files that came from a device or went to one, if no row, no conflict and no remembered \
        change names them. They stay while any bundle waits to be imported.

        With --older-than, nothing is forgotten that is younger. The command does not wait for devices that were \
        silent for longer either. Such a device \
        gets everything when it comes back, and its changes are compared with the rows as they are. Older bundles also \
        go: from bundles/archive if they were imported before that time, and from bundles/sent if they were made \
        before it and have arrived.
        """,
      options: [
        OptionSpec(
          "older-than", kind: .value("DAYS"),
          help: "forget nothing younger; do not wait for devices that were silent for longer"),
        OptionSpec("shrink", help: "give unused space back to the disk; no program can use the database meanwhile"),
      ],
      examples: [
        Example("satchel-hub compact --dry-run", "Shows what would go."),
        Example("satchel-hub compact --older-than 365 --shrink", "Once a year."),
      ], changesData: true
    ) { command, context in
      let report = try open(command, context).compact(
        olderThan: command.days("older-than"), shrinking: command.flag("shrink"))
      return Answer(text(report, command, by: context.platform.clock), members(report))
    }
  }

  private static func text(
    _ report: CompactReport, _ command: ParsedCommand, by clock: any WallClock
  ) -> TerminalText {
    func size(_ bytes: (before: Int64, after: Int64)) -> String {
      "\(bytes.before >> 10) KiB, now \(bytes.after >> 10) KiB"
    }
    var text: TerminalText = """
      \(command.dryRun ? "Would forget" : "Forgot") \(Words.count(Int(report.logEntries), "change")), \
      up to the hub's change \(report.logFrom); \(Words.count(Int(report.goneRows), "deleted row")); \
      \(Words.count(report.bundles, "file")) of the archive, \(report.sent) of those that were carried.

      """
    let since = report.knownSince.map { "the changes since \(clock.localText(milliseconds: $0))" } ?? "no change"
    text += "history \(command.dryRun ? "would still know" : "knows") \(since).\n"
    if !report.forgotten.isEmpty {
      text += "These devices get all rows again with their next bundle: \(report.forgotten.joined(separator: ", ")).\n"
    }
    text += AttachedWords.removed(report.attached, command)
    if report.attachedWait > 0 {
      text +=
        """
        All of files/ stays. First settle \(Words.count(report.attachedWait, "bundle or copied device")): \
        satchel-hub status says how.\n
        """
    }
    if command.dryRun { return text }
    text += "Database: \(size(report.database)). Archive: \(size(report.archive)).\n"
    text += Words.notShrunk(report.notShrunk)
    if report.logEntries > 0, !command.flag("shrink") {
      text += "New rows use the free room in the database. To give it back to the disk: satchel-hub compact --shrink\n"
    }
    return text
  }

  private static func members(_ report: CompactReport) -> KeyValuePairs<String, JSONValue> {
    func size(_ bytes: (before: Int64, after: Int64)) -> JSONValue {
      ["before": .integer(bytes.before), "after": .integer(bytes.after)]
    }
    return [
      "sent": .integer(Int64(report.sent)), "changes": .integer(report.logEntries),
      "from": .integer(report.logFrom.rawValue), "known_since": .time(report.knownSince),
      "rows": .integer(report.goneRows),
      "attached": .integer(Int64(report.attached.count)), "attached_bytes": .integer(report.attached.bytes),
      "attached_wait": .integer(Int64(report.attachedWait)),
      "files": .integer(Int64(report.bundles)), "devices": .strings(report.forgotten),
      "database_bytes": size(report.database),
      "not_shrunk": .optional(report.notShrunk),
      "archive_bytes": size(report.archive),
    ]
  }
}
