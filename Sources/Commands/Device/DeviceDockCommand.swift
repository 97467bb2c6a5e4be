import SatchelDevice
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// `dock`: the database of this device is on a tablet that has no Satchel.
extension DeviceTool {
  static var dock: Command {
    Command(
      ["dock"], summary: "exchange changes with a tablet that has no Satchel",
      discussion: """
        FOLDER is the folder of the tablet that holds the app's database: on its card, or behind its cable. The \
        workspace of the tablet is on this machine. Close the app on the tablet before you run dock, and leave it \
        closed until dock is done.

        Copies the database from the tablet, with its log (-wal) or journal. Brings the staged bundles into the copy, \
        exports the changes, and puts the copy back. If the app wrote meanwhile, nothing is put back and nothing is \
        exported. The next dock begins with the newer file. After a crash, the tablet has the former database or the \
        new one.

        With --stick, the bundles on the stick come in too, and the exports go onto the stick. Without it, carry \
        bundles/outbox later with satchel sync. Between two docks, sync keeps the bundles from the hub until the next \
        dock.

        The first dock needs --database. It gives the database of a provisioned workspace to the tablet. Or it joins \
        the app's database, if satchel init made the workspace.

        Files that rows name, such as photos, are not carried. They stay on the tablet.
        """,
      arguments: [ArgumentSpec("FOLDER", help: "the tablet's folder with the app's database")],
      options: [
        OptionSpec("database", kind: .value("NAME"), help: "the name of the database in FOLDER; for the first dock"),
        OptionSpec("stick", kind: .value("DIR"), help: "exchange bundles with this stick too"),
        OptionSpec("repair", help: "first repair capture in the copy, as doctor --repair does"),
        OptionSpec("rebuild", help: "the tablet was lost or reset: give it a database built from bundles and exports"),
        fingerprint, migrated, accept, Encrypting.option, BundleSize.option, Volumes.parityOnSticks,
        Medium.plainFolder, Medium.trustSize,
      ],
      examples: [
        Example("satchel -C tablet-1 dock /media/card/survey --database survey.gpkg", "The first time."),
        Example("satchel -C tablet-1 dock /media/card/survey --stick /media/stick", "Every evening."),
      ], changesData: true
    ) { command, context in
      let workspace = try open(command, context)
      guard let stick = command.value("stick").map({ command.path($0) }) else {
        guard try command.parityShare() == .none else {
          throw UsageError("--parity makes more volumes on sticks: it needs --stick")
        }
        let answer = try dock(workspace, command, context)
        return Hooks.run(after: answer, command, context)
      }
      let answer = try dock(workspace, with: stick, command, context.confined(below: stick))
      return Hooks.run(after: answer, isSync: true, command, context)
    }
  }

  /// Docks, and exchanges bundles with a stick. Before the dock, the bundles on the stick are staged. After the dock,
  /// the exports are put on the stick.
  private static func dock(
    _ workspace: DeviceWorkspace, with stick: String, _ command: ParsedCommand, _ context: CommandContext
  ) throws -> Answer {
    var docked: Answer?
    let syncing = try Syncing(
      tool: name, command, context, stick: stick, workspace.configuration, unknown: workspace.unknownOwn)
    var answer = try syncing.run(
      take: { _, files in try stage(stick: files, in: workspace, command) },
      make: { _ in
        let answer = try dock(workspace, command, context)
        docked = answer
        return try outgoing(open(command, context))
      },
      cut: { _, file, medium in
        try open(command, context).putVolumes(of: file, on: medium, parity: command.parityShare())
      },
      made: { failure in
        ((try? outgoing(workspace)) ?? []).filter { $0.file != nil }.map { finished in
          var finished = finished
          finished.failure = failure
          return finished
        }
      })
    guard let docked else { return answer }
    answer.text = docked.text + answer.text
    answer.warnings = docked.warnings + answer.warnings
    let own = Set(docked.members.map(\.name))
    answer.members = docked.members + answer.members.filter { !own.contains($0.name) }
    if answer.code == .done { answer.code = docked.code }
    if docked.code != .done { answer.closing = "Not everything was done: see above.\n" }
    return answer
  }

  private static func dock(
    _ workspace: DeviceWorkspace, _ command: ParsedCommand, _ context: CommandContext
  ) throws -> Answer {
    let folder = command.path(command.argument("FOLDER"))
    try command.checkMedium(of: folder, context)
    let confined = try open(command, context.confined(below: folder))
    let report = try confined.dock(
      folder, database: command.value("database"), missing: command.flag("rebuild") ? .rebuilt : .refused
    ) { held in try work(held, command) }
    var answer = report.work.answer
    for file in report.work.settled { try workspace.unstage(file) }
    answer.text += text(report, command)
    answer.members += [
      .init(name: "database", value: .string(report.database)), .init(name: "put", value: .bool(report.isPut)),
      .init(name: "first", value: .bool(report.isFirst)),
    ]
    return answer
  }

  /// The work on the copy of a tablet's database.
  private struct DockWork {
    var answer: Answer
    /// Staged files whose import has a result. They are removed after the database is put on the tablet.
    var settled: [String] = []
  }

  private static func work(_ held: DeviceWorkspace, _ command: ParsedCommand) throws -> DockWork {
    var repaired: TerminalText = ""
    if command.flag("repair") {
      let report = try held.repair()
      repaired = DoctorCommand.text(report, tool: name)
    }
    do { try held.checkDatabase() } catch let error as WorkspaceError where waysOut.contains(error.code) {
      throw WorkspaceError(
        error.code, error.message,
        hint: "Repair the copy and put it back: satchel dock \(command.argument("FOLDER")) --repair")
    }
    // A refused bundle must not stop the export, so the staged bundles are imported like bundles from a stick.
    let rounds = try ImportRounds(stick: held.inspect(held.staged())) { file in
      told(
        try held.importBundle(
          file, fingerprint: command.value("fingerprint"), migrations: migrations(command),
          removals: command.flag("accept") ? .accepted : .withinLimits), command)
    }
    var work = DockWork(answer: rounds.answer)
    // A refused bundle stays staged, because a person may need it to follow its hint. A newer bundle replaces it.
    for (file, outcome) in rounds.results { if case .told = outcome { work.settled.append(file) } }
    work.answer.text = repaired + work.answer.text
    var documents: [JSONValue] = []
    for outgoing in try begunOrDue(held, command) {
      work.answer.text += "For \(outgoing.to): \(outgoing.words)\n"
      if let failure = outgoing.failure { work.answer.warnings += failure.text }
      documents.append(["to": .string(outgoing.to), "file": .optional(outgoing.file)])
    }
    work.answer.members.append(.init(name: "exports", value: .array(documents)))
    return work
  }

  /// The export to carry. If sticks carry some volumes of an earlier export, no newer export is made: its volumes would
  /// make the earlier volumes useless.
  private static func begunOrDue(_ held: DeviceWorkspace, _ command: ParsedCommand) throws -> [Syncing.Outgoing] {
    guard let begun = try held.exportOnSticks() else { return try due(held, command, for: nil) }
    let words = "volumes of \(Paths.name(of: begun)) are still to be carried. The next export comes after that."
    return [.init(to: "the hub", file: nil, words: "nothing new, \(words)")]
  }

  /// Faults of a tablet's database. The repair of its copy removes them.
  private static let waysOut: Set<Reason> = [
    .olderDatabase, .damaged, .notCaptured, .replaced, .databaseLost, .missingTable,
  ]

  private static func text(_ report: DockReport<DockWork>, _ command: ParsedCommand) -> TerminalText {
    if command.dryRun { return "" }
    if !report.isPut { return "The database on the tablet is as before: \(report.database)\n" }
    return """
      The database is on the tablet: \(report.database)
      You can disconnect the tablet, and open the app.

      """
  }

  // MARK: a stick between two docks

  /// Stages the bundles from a stick until the tablet is docked.
  static func stage(
    stick files: [String], in workspace: DeviceWorkspace, _ command: ParsedCommand
  ) throws -> Syncing.Import {
    let inspected = try workspace.inspect(files)
    let rounds = try ImportRounds(stick: inspected) { file in
      let staged = try workspace.stage(file, fingerprint: command.value("fingerprint"))
      let words: TerminalText = "Bundle \(staged.manifest.wholeNumber) of the hub waits for the tablet.\n"
      return .init(text: text(staged, words), json: json(staged), isTaken: true)
    }
    return .init(answer: rounds.answer, taken: rounds.taken, leftAlone: rounds.leftAlone)
  }

  /// The exports of earlier docks that the hub is not known to have.
  static func outgoing(_ workspace: DeviceWorkspace) throws -> [Syncing.Outgoing] {
    guard let stranded = try workspace.stranded() else {
      return [.init(to: "the hub", file: nil, words: "nothing before the first dock.")]
    }
    let files = try workspace.outgoing()
    guard let last = files.last else {
      return [.init(to: stranded.hub, file: nil, words: "nothing, the exports so far have arrived.")]
    }
    return [
      .init(
        to: stranded.hub, file: last, words: "\(Words.count(files.count, "bundle")) of former docks.",
        before: Array(files.dropLast()))
    ]
  }
}
