import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The command `check`: the state of a hub for programs that watch over machines, such as cron and Nagios.
extension HubTool {
  static var check: Command {
    Command(
      ["check"], summary: "answer to cron or Nagios whether all is well",
      discussion: """
        Prints one line and ends with a code that Nagios and similar programs read: 0 is OK, 1 is WARNING, 2 is \
        CRITICAL. (A wrong usage ends with 2, too.) Changes nothing. For cron: with -q it prints nothing if all is well.

        CRITICAL is a state in which the hub does not work: it cannot be opened, it was set back, its clock is wrong, \
        a key is missing, capture is damaged, or a trigger of the app fails. WARNING are: refused bundles, copied \
        devices, devices whose rows differ, and what the options name.
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
        // Another command will be done soon. A watching program asks again.
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
    // After the bar, Nagios reads figures.
    let figures = "devices=\(devices) conflicts=\(conflicts)"
    let name = status.map { "\($0.configuration.name): " } ?? ""
    let line: TerminalText = "SATCHEL \(worst.word) - \(name)\(words) | \(figures)\n"
    var answer = Answer(
      line,
      [
        "level": .string(worst.word), "devices": .integer(Int64(devices)), "conflicts": .integer(conflicts),
        "found": .array(found.map { ["level": .string($0.level.word), "message": .string($0.words)] }),
      ], code: worst.code)
    // cron mails what is printed, and -q prints warnings alone.
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

/// A finding of `check`.
struct HubFinding {
  enum Level: Int, Comparable {
    case ok, warning, critical

    static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

    /// The word that watching programs use.
    var word: String {
      switch self {
      case .ok: "OK"
      case .warning: "WARNING"
      case .critical: "CRITICAL"
      }
    }

    var code: ExitCode {
      switch self {
      case .ok: .done
      case .warning: .failed
      case .critical: .usage
      }
    }
  }

  let level: Level
  let words: String

  static func all(of status: HubStatus, _ limits: WatchLimits, now: Int64) -> [HubFinding] {
    critical(status) + warnings(status) + devices(status, limits, now) + limited(status, limits, now)
  }

  static func ofKeys(_ check: () throws -> Void) -> [HubFinding] {
    do { try check() } catch { return [HubFinding(level: .critical, words: Failure(error).message)] }
    return []
  }

  /// The states in which the hub takes no bundle.
  private static func critical(_ status: HubStatus) -> [HubFinding] {
    var words: [String] = []
    if status.setBack != nil { words.append("the hub was set back: satchel-hub status") }
    if status.clockFault != nil { words.append("the hub's clock is wrong: satchel-hub status") }
    if !status.damage.isEmpty { words.append("capture is damaged: satchel-hub doctor") }
    if status.triggerFault != nil { words.append("a trigger of the app fails: satchel-hub status") }
    return words.map { HubFinding(level: .critical, words: $0) }
  }

  private static func warnings(_ status: HubStatus) -> [HubFinding] {
    var words: [String] = []
    if !status.failedImports.isEmpty {
      words.append("\(Words.count(status.failedImports.count, "bundle")) could not be imported")
    }
    if !status.quarantined.isEmpty { words.append("\(Words.count(status.quarantined.count, "file")) refused") }
    if status.recovery != nil { words.append("the recovery of the lost time waits: satchel-hub status") }
    return words.map { HubFinding(level: .warning, words: $0) }
  }

  private static func devices(_ status: HubStatus, _ limits: WatchLimits, _ now: Int64) -> [HubFinding] {
    func named(_ words: String, _ isOne: (HubStatus.Device) -> Bool) -> HubFinding? {
      let names = status.devices.filter(isOne).map(\.device.name)
      return names.isEmpty ? nil : HubFinding(level: .warning, words: "\(words): \(names.joined(separator: ", "))")
    }
    let silent = limits.silentDays.flatMap { days in
      named("no bundle for \(Words.count(Int(days), "day")) from") { entry in
        let device = entry.device
        return device.state == .active && !entry.isExpired
          && now - (device.heard ?? device.enrolled) > days * Self.day
      }
    }
    return [
      silent, named("a copy must be chosen of") { $0.device.state == .flagged },
      named("rows differ on") { $0.proof?.result == .differs },
      named("no more changes may wait of") { $0.isHeldFull },
    ].compactMap { $0 }
  }

  private static func limited(_ status: HubStatus, _ limits: WatchLimits, _ now: Int64) -> [HubFinding] {
    var words: [String] = []
    if let most = limits.conflicts, status.openConflicts > most {
      words.append("\(Words.count(Int(status.openConflicts), "open conflict"))")
    }
    if let days = limits.backupDays, now - (status.backedUp ?? 0) > days * Self.day {
      words.append(status.backedUp.map { "the last backup is \(Words.age(of: $0, now: now))" } ?? "there is no backup")
    }
    return words.map { HubFinding(level: .warning, words: $0) }
  }

  /// In milliseconds.
  private static let day: Int64 = 86_400_000
}
