import SatchelHub

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

  /// The states in which the hub accepts no bundle, or devices accept none from the hub.
  private static func critical(_ status: HubStatus) -> [HubFinding] {
    var words: [String] = []
    if status.setBack != nil { words.append("the hub was set back: satchel-hub status") }
    if !status.devicesWithNewerKey.isEmpty {
      words.append("the hub's keys may be older than its devices' keys: satchel-hub status")
    }
    switch status.clockFault?.kind {
    case nil: break
    case .stamps: words.append("the hub's times are far ahead of its clock: satchel-hub status")
    case .behind, .leapt, .writes: words.append("the hub's clock is wrong: satchel-hub status")
    }
    if !status.damage.isEmpty { words.append("capture is damaged: satchel-hub doctor") }
    if status.triggerFault != nil { words.append("a trigger of the app fails: satchel-hub status") }
    return words.map { HubFinding(level: .critical, words: $0) }
  }

  private static func warnings(_ status: HubStatus) -> [HubFinding] {
    var words: [String] = []
    if !status.failedImports.isEmpty {
      words.append("\(Words.count(status.failedImports.count, "bundle")) could not be imported")
    }
    if !status.stillRefused.isEmpty { words.append("\(Words.count(status.stillRefused.count, "file")) refused") }
    if !status.braked.isEmpty {
      words.append(
        "deletes or changes very many rows, and waits: \(status.braked.map(\.device).joined(separator: ", "))")
    }
    if !status.heldForUser.isEmpty {
      let names = status.heldForUser.map(\.device).joined(separator: ", ")
      words.append("works for another user than the hub's record names: \(names)")
    }
    if !status.onHold.isEmpty {
      words.append("on hold, with bundles that wait: \(status.onHold.joined(separator: ", "))")
    }
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
      named("the most changes wait already from") { $0.isHeldFull },
      named("the disk is nearly full on") { $0.presentHealth?.isDiskNearlyFull ?? false },
      named("the doctor found faults on") { $0.presentHealth?.hasFaults ?? false },
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

  /// A day, in milliseconds.
  private static let day: Int64 = 86_400_000
}
