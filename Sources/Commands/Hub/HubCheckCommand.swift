import SatchelHub
import SatchelJSON
import SatchelPlatform

/// The command `check`: the state of a hub for programs that watch over machines, such as cron and Nagios.
extension HubTool {
  static var check: Command {
    Command(
      ["check"], summary: "report to cron or Nagios whether all is well",
      discussion: """
        Prints one line and ends with a code that Nagios and similar programs read: 0 is OK, 1 is WARNING, 2 is \
        CRITICAL. (A wrong usage ends with 2, too.) Changes nothing. For cron: with -q it prints nothing if all is well.

        CRITICAL is a state in which the hub does not work: it cannot be opened, it was set back, its clock is wrong, \
        a key is missing, capture is damaged, or a trigger of the app fails. WARNING are: refused bundles, copied \
        devices, devices on hold whose bundles wait, devices whose rows differ, whose disk is nearly full, or on which \
        the doctor found faults, and what the options name.
        """,
      options: [
        OptionSpec("silent-days", kind: .value("DAYS"), help: "warn of devices from which no bundle came for longer"),
        OptionSpec("conflicts", kind: .value("COUNT"), help: "warn if more conflicts are open"),
        OptionSpec("backup-days", kind: .value("DAYS"), help: "warn if the last backup is older, or if there is none"),
      ],
      examples: [
        Example("satchel-hub check --silent-days 14 --conflicts 10", "For Nagios."),
        Example("satchel-hub check -q --silent-days 14 --backup-days 7", "For cron, which mails what is printed."),
      ]
    ) { command, context in
      let limits = try WatchLimits(command)
      let now = context.platform.clock.milliseconds()
      do {
        let hub = try open(command, context)
        let status = try hub.status()
        let found = HubFinding.all(of: status, limits, now: now) + HubFinding.ofKeys { try hub.keys.check() }
        return answer(found, status, quiet: command.quiet)
      } catch {
        let failure = Failure(error)
        // Another command holds the hub, and will be done soon. The watching program will run `check` again.
        if failure.code == .busy { throw error }
        var answer = answer([HubFinding(level: .critical, words: failure.message)], nil, quiet: command.quiet)
        answer.members.append(.init(name: "error", value: failure.json))
        return answer
      }
    }
  }

  private static func answer(_ found: [HubFinding], _ status: HubStatus?, quiet isQuiet: Bool) -> Answer {
    let worst = found.map(\.level).max() ?? .ok
    let words = found.isEmpty ? "all is well" : found.map(\.words).joined(separator: "; ")
    let (devices, conflicts) = (status?.devices.count ?? 0, status?.openConflicts ?? 0)
    // Nagios reads the figures after the bar.
    let figures = "devices=\(devices) conflicts=\(conflicts)"
    let name = status.map { "\($0.configuration.name): " } ?? ""
    let line: TerminalText = "SATCHEL \(worst.word) - \(name)\(words) | \(figures)\n"
    var answer = Answer(
      line,
      [
        "level": .string(worst.word), "devices": .integer(Int64(devices)), "conflicts": .integer(conflicts),
        "found": .array(found.map { ["level": .string($0.level.word), "message": .string($0.words)] }),
      ], code: worst.code)
    // cron mails all output. With -q, only warnings are printed, so a mail comes only if something is wrong.
    if isQuiet, worst != .ok { answer.warnings = line }
    return answer
  }
}

/// The limits that a watching program sets. nil: there is no limit.
struct WatchLimits {
  var silentDays: Int64?
  var conflicts: Int64?
  var backupDays: Int64?

  init(_ command: ParsedCommand) throws {
    silentDays = try command.days("silent-days")
    backupDays = try command.days("backup-days")
    conflicts = try command.value("conflicts").map { text in
      guard let count = Int64(text), count >= 0 else { throw UsageError("--conflicts takes a number, from 0 on") }
      return count
    }
  }
}
