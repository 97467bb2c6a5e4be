import SatchelBundle
import SatchelDevice
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension DeviceTool {
  static var importBundles: Command {
    Command(
      ["import"], summary: "apply bundles from the hub to the database",
      discussion: """
        Verifies each file and applies it in one transaction, with this device's own changes on top. A bundle that was \
        imported before changes nothing. The first bundle of a device that requested to join needs the fingerprint of \
        the hub's key. The hub's operator reads it out.
        """,
      arguments: [ArgumentSpec("FILE", .many, help: "bundles from the hub; - for standard input")],
      options: [
        fingerprint, migrated, accept,
        OptionSpec("stage", help: "verify it and keep it; satchel apply imports it later, when the app is idle"),
        OptionSpec(
          "without-lost", help: "give up exports that a restored hub and this device both lost; a database copy is kept"
        ),
      ],
      examples: [Example("satchel import /media/stick/survey-hub-tablet-1-4.satchel", "A bundle from the hub.")],
      changesData: true
    ) { command, context in
      let workspace = try open(command, context)
      if command.flag("stage") { return try stage(command, context, workspace) }
      let lost: LostExports = command.flag("without-lost") ? .givenUp : .deliveredAgain
      let rounds = try take(command.arguments("FILE"), into: workspace, command, lost: lost) { file, body in
        try Streams.with(file, command, context, in: workspace.folder, body)
      }
      return Hooks.run(after: rounds.answer, command, context)
    }
  }

  static let fingerprint = OptionSpec(
    "fingerprint", kind: .value("WORDS"),
    help: "of the hub's key, as a person compared it: for the first bundle, or if a refusal asks for it")

  static let migrated = OptionSpec(
    "migrated", help: "the app has changed its tables by itself: do not run the migration that comes with a new version"
  )

  static let accept = OptionSpec(
    "accept", help: "remove the rows that the hub's bundle removes, however many: the office confirmed it")

  static func migrations(_ command: ParsedCommand) -> BroughtMigrations {
    command.flag("migrated") ? .doneByApp : .run
  }

  private static func stage(
    _ command: ParsedCommand, _ context: CommandContext, _ workspace: DeviceWorkspace
  ) throws -> Answer {
    try ImportRounds(command.arguments("FILE")) { name in
      let staged = try Streams.with(name, command, context, in: workspace.folder) {
        try workspace.stage($0, fingerprint: command.value("fingerprint"))
      }
      let next = workspace.isDocked ? "satchel dock FOLDER" : "satchel apply"
      let first = try workspace.canBeginOnTablet() ? beginningOnTablet : ""
      let number = staged.manifest.wholeNumber
      let words: TerminalText = "Bundle \(number) of the hub is verified, and waits: \(next)\n\(first)"
      return .init(text: text(staged, words), json: json(staged), isTaken: false)
    }.answer
  }

  /// A hint for a device's first bundle. `apply` would make a database on this machine, and not on the tablet.
  static let beginningOnTablet: TerminalText = """
    For a tablet that has no Satchel: satchel dock FOLDER --database NAME --fingerprint WORDS, and no apply.

    """

  /// - Parameter whole: the words about a whole bundle.
  static func text(_ staged: StagedBundle, _ whole: TerminalText) -> TerminalText {
    staged.waiting.map { Volumes.text(staged.manifest.number, $0) } ?? whole
  }

  static func json(_ staged: StagedBundle) -> JSONValue {
    guard let waiting = staged.waiting else {
      return ["verdict": "staged", "number": .integer(staged.manifest.wholeNumber)]
    }
    return [
      "verdict": "part", "part": .integer(staged.manifest.number), "waiting": Volumes.json([waiting]),
    ]
  }

  static var apply: Command {
    Command(
      ["apply"], summary: "apply the bundles that were staged",
      discussion:
        """
        Imports the bundles that import --stage has verified, in the order of their numbers. If none waits, it does \
        nothing.
        """,
      options: [fingerprint, migrated, accept], examples: [Example("satchel apply", "Now, while the app is idle.")],
      changesData: true
    ) { command, context in
      let workspace = try open(command, context)
      let waiting = try workspace.staged()
      if waiting.isEmpty { return Answer("Nothing is staged.\n", ["bundles": .array([])]) }
      var kept: Set<String> = []
      let rounds = try take(waiting, into: workspace, command) { file, body in
        do { return try body(file) } catch {
          // Another command may have applied the bundle and removed its file.
          if try context.platform.files.kind(file) == nil { return nil }
          if !isElsewhere(after: error) { kept.insert(file) }
          throw error
        }
      }
      for (file, outcome) in rounds.results {
        // The file stays if the device may apply it later. An example is a delta that waits for an earlier bundle.
        if case .failed = outcome, kept.contains(file) { continue }
        try workspace.unstage(file)
      }
      return Hooks.run(after: rounds.answer, command, context)
    }
  }

  /// Whether a refused file need not stay here: it is damaged, or the workspace keeps a copy of it elsewhere.
  private static func isElsewhere(after error: any Error) -> Bool {
    (error as? Refusal).map { [.quarantine, .waiting].contains($0.keeping) } ?? (error is BundleError)
  }

  /// Imports bundles.
  /// - Parameter open: calls its body with the path of a named bundle. Returns nil if the bundle was imported
  ///   meanwhile.
  private static func take(
    _ names: [String], into workspace: DeviceWorkspace, _ command: ParsedCommand, lost: LostExports = .deliveredAgain,
    open: (_ name: String, _ body: (String) throws -> ImportReport) throws -> ImportReport?
  ) throws -> ImportRounds {
    try ImportRounds(names) { name in
      let taken = try open(name) {
        try workspace.importBundle(
          $0, fingerprint: command.value("fingerprint"), lost: lost, migrations: migrations(command),
          removals: command.flag("accept") ? .accepted : .withinLimits)
      }
      guard let report = taken else {
        return .init(
          text: "\(Paths.name(of: name)) was applied meanwhile.\n",
          json: ["verdict": .string(Verdict.repeated.rawValue)],
          isTaken: true)
      }
      return told(report, command)
    }
  }

  static func told(_ report: ImportReport, _ command: ParsedCommand) -> ImportRounds.Told {
    Rehearsal.extend(text(report), json(report), report.verdict, by: report.tally, report.found, command)
  }

  private static func text(_ report: ImportReport) -> TerminalText {
    if let waiting = report.waiting { return rebuilt(report) + Volumes.text(report.manifest.number, waiting) }
    let number = report.manifest.wholeNumber
    if report.verdict == .redeliver { return redelivery(report) }
    guard report.verdict == .imported else {
      let words: TerminalText = "Bundle \(number) of the hub was imported before"
      return report.replayed.map { "\(words).\n\(Self.text(replayed: $0))" } ?? "\(words): nothing changed.\n"
    }
    var text: TerminalText =
      "Bundle \(number) of the hub: \(Words.count(report.written, "row")) written, \(report.removed) removed.\n"
    if report.isCopyChosen {
      text += "You chose the copy of the hub that made this bundle. This device follows that copy from now on.\n"
    }
    text += AttachedWords.came(report.attached, newer: report.attachedNewer, report.beside)
    if let sealed = report.sealed {
      text += "This device works for \(report.manifest.user) from now on. \(sealed.words): carry it to the hub.\n"
      if sealed.hasDatabase {
        text += """
          Bundles are missing in bundles/archive, so writes that no trigger recorded could not be found. The export \
          also carries the whole database as it was.

          """
      }
    }
    if let copy = report.copy { text += "The database as it was before is kept in \(copy).\n" }
    if report.takenUp > 0 {
      text += """
        \(Words.count(report.takenUp, "row")) had been written here while Satchel's triggers were off: these are now \
        changes of yours.

        """
    }
    if let saved = report.saved { text += self.text(saved) }
    if let replayed = report.replayed { text += self.text(replayed: replayed) }
    if let joined = report.joined {
      text +=
        joined.isEmpty
        ? "The hub has all rows that were here before.\n"
        : """
        The hub lacks rows that were here before, or has different ones (\(Words.tables(joined))): the next export \
        carries them.

        """
    }
    if let version = report.version { text += "The dataset has version \(version) here from now on.\n" }
    if !report.rekeyed.isEmpty {
      text +=
        """
        \(Words.count(report.rekeyed.count, "row")) of yours got new keys: another row has the old key, or an equal \
        row was there already. The table satchel_rekeyed has the old and the new keys.\n
        """
    }
    if report.conflicts > 0 {
      text += "\(Words.count(report.conflicts, "change")) of yours met another one: satchel conflicts\n"
    }
    text += self.text(report.told)
    text += KeptWords.text(report.kept)
    return text
  }

  /// Says what happened to changes of this device that met another change at the hub.
  private static func text(_ told: ConflictOutcomes) -> TerminalText {
    func line(_ count: Int, _ end: TerminalText) -> TerminalText {
      count == 0 ? "" : "\(Words.count(count, "change")) of yours met another one at the hub: \(end)\n"
    }
    var text = line(told.won, "your value counts.")
    text += line(told.lost, "the office's value counts. satchel conflicts --all")
    text += line(told.open, "the office decides. satchel conflicts --all")
    if told.late > 0 {
      text +=
        """
        The hub took \(Words.count(told.late, "change")) of yours in rows that have left this device: satchel \
        conflicts --all\n
        """
    }
    return text
  }

  private static func redelivery(_ report: ImportReport) -> TerminalText {
    let exports = report.redelivered
    let lacks: TerminalText =
      report.isCopyChosen
      ? "You chose the copy of the hub that made this bundle. It lacks what this device delivered to the other copy"
      : "The hub was restored from a backup, and lacks what this device delivered since"
    let isRebuilt = report.saved != nil || report.replayed != nil
    let unchanged: TerminalText = isRebuilt ? "Nothing of this bundle is applied yet." : "Nothing is changed here."
    return rebuilt(report) + """
      \(lacks): \(Words.count(exports.count, "bundle")), from \(exports.first ?? .zero) on.
      \(unchanged) The bundles that the hub lacks are in bundles/outbox again.
      Next: carry all of them to the hub (satchel sync does it), and import the bundle that it makes then.
      If you used --fingerprint now, use it again then.

      """
  }

  /// Says which database the import built again before it read the bundle. Empty if it built none.
  private static func rebuilt(_ report: ImportReport) -> TerminalText {
    var words: TerminalText = ""
    if let saved = report.saved { words += text(saved) }
    if let replayed = report.replayed { words += text(replayed: replayed) }
    return words
  }

  private static func text(replayed: Int) -> TerminalText {
    let pending =
      replayed == 0
      ? ""
      : " It has \(Words.count(replayed, "change")) that the hub may not have. The next export carries them."
    return
      "The database was rebuilt from the bundles and exports that are kept here.\(pending) Open it in the app again.\n"
  }

  private static func text(_ saved: SavedDatabase) -> TerminalText {
    var text: TerminalText =
      """
      The database was damaged (\(saved.fault)). It is kept in \(saved.kept), and the bundle made a new one: close \
      the app and open it again.\n
      """
    if let export = saved.export {
      text +=
        "Undelivered changes are in \(export.file): carry it to the hub, and its next bundle brings them back.\n"
    }
    if let unread = saved.unread {
      text +=
        """
        What was written since the last export could not be read (\(unread)): sqlite3 can often read most of the file \
        that was kept (.dump, or .recover if your sqlite3 has it).\n
        """
    }
    return text
  }

  private static func json(_ saved: SavedDatabase) -> JSONValue {
    [
      "fault": .string(saved.fault), "kept": .string(saved.kept), "export": .optional(saved.export?.file),
      "unread": .optional(saved.unread),
    ]
  }

  private static func json(_ report: ImportReport) -> JSONValue {
    if let waiting = report.waiting {
      return [
        "verdict": .string(report.verdict.rawValue), "part": .integer(report.manifest.number),
        "waiting": Volumes.json([waiting]),
      ]
    }
    return [
      "verdict": .string(report.verdict.rawValue), "number": .integer(report.manifest.wholeNumber),
      "written": .integer(Int64(report.written)), "removed": .integer(Int64(report.removed)),
      "conflicts": .integer(Int64(report.conflicts)), "told": .integer(Int64(report.told.count)),
      "late": .integer(Int64(report.told.late)), "kept": KeptWords.json(report.kept),
      "taken_up": .integer(Int64(report.takenUp)), "version": .optional(report.version),
      "rekeyed": .array(
        report.rekeyed.map { ["table": .string($0.table.text), "key": JSONValue($0.old), "to": JSONValue($0.new)] }),
      "redelivered": .array(report.redelivered.map { .integer($0.rawValue) }), "copy": .optional(report.copy),
      "sealed": report.sealed?.json ?? .null, "damaged": report.saved.map(json) ?? .null,
      "replayed": report.replayed.map { .integer(Int64($0)) } ?? .null,
      "joined": report.joined.map { .tables($0) } ?? .null,
      "files": .integer(Int64(report.attached)),
      "files_newer": .integer(Int64(report.attachedNewer)),
      "files_beside": AttachedWords.json(report.beside),
    ]
  }
}
