import SatchelHub
import SatchelWorkspace

/// One matter that needs a person, shown as a card with a number and one button.
struct Need {
  enum Urgency: String {
    /// Work stops until a person acts.
    case bad
    case warn
  }

  let urgency: Urgency
  let title: String
  /// nil: the matter has no number.
  var count: Int64?
  let words: String
  /// The address and the words of the button.
  let button: (address: String, words: String)

  var markup: Markup {
    """
    <li class="card \(urgency.rawValue)"><h3>\(title)</h3>\(count.map { "<b>\($0)</b>" as Markup } ?? "")
    <p>\(Words.clipped(words))</p><a class="button" href="\(button.address)">\(button.words)</a></li>

    """
  }

  /// A person is reminded if the last backup is older than this time, in milliseconds.
  private static let oldBackup: Int64 = 14 * 86_400_000

  /// The matters in a hub's status that need a person. The most urgent come first.
  static func all(_ status: HubStatus, _ now: Int64) -> [Need] {
    stops(status) + conflicts(status) + bundles(status) + devices(status, now) + backup(status, now)
  }

  /// Faults that stop the hub.
  private static func stops(_ status: HubStatus) -> [Need] {
    let next = ("steps", "See what to do")
    var needs: [Need] = []
    if let found = status.setBack {
      needs.append(
        Need(urgency: .bad, title: "Set back", words: "\(found.words) \(found.wayOut)", button: next))
    }
    if let words = status.wordsOfOlderKeys {
      needs.append(
        Need(
          urgency: .bad, title: "Keys", words: "This hub's keys \(words). \(HubStatus.wayOutOfOlderKeys)",
          button: next))
    }
    if let fault = status.clockFault {
      needs.append(Need(urgency: .bad, title: "Clock", words: "\(fault.words) \(fault.wayOut)", button: next))
    }
    if let fault = status.triggerFault {
      needs.append(Need(urgency: .bad, title: "A trigger of the app", words: fault.message, button: next))
    }
    if let damage = status.damage.first {
      needs.append(
        Need(
          urgency: .bad, title: "Damage", count: Int64(status.damage.count),
          words: "\(damage.words): some writes may not be recorded.", button: next))
    }
    if status.recovery != nil {
      needs.append(
        Need(
          urgency: .warn, title: "Recovery", words: "Devices bring back what this hub lost.", button: next))
    }
    return needs
  }

  private static func conflicts(_ status: HubStatus) -> [Need] {
    var needs: [Need] = []
    if status.openConflicts > 0 {
      needs.append(
        Need(
          urgency: .bad, title: "Conflicts", count: status.openConflicts,
          words: "wait for your decision. Both values are kept until then.", button: ("conflicts?state=open", "Decide"))
      )
    }
    if status.heldConflicts > 0 {
      needs.append(
        Need(
          urgency: .warn, title: "Held changes", count: status.heldConflicts,
          words: "wait for something else, such as a row that has not come. Usually there is nothing to do.",
          button: ("conflicts?state=held", "Look at them")))
    }
    return needs
  }

  private static func bundles(_ status: HubStatus) -> [Need] {
    var needs: [Need] = []
    let braked = status.braked.count
    if braked > 0 {
      needs.append(
        Need(
          urgency: .bad, title: "Braked bundles", count: Int64(braked),
          words: "delete or change very many rows. Ask their users, then accept or reject them.",
          button: ("bundles#waiting", "Look at them")))
    }
    let others = status.waiting.count { if case .braked = $0.reason { false } else { true } }
    if others > 0 {
      needs.append(
        Need(
          urgency: .warn, title: "Waiting bundles", count: Int64(others), words: "cannot be imported yet.",
          button: ("bundles#waiting", "See why")))
    }
    if !status.failedImports.isEmpty {
      needs.append(
        Need(
          urgency: .bad, title: "Failed imports", count: Int64(status.failedImports.count),
          words: "are not accepted yet.", button: ("steps", "See why")))
    }
    if let newest = status.stillRefused.first {
      needs.append(
        Need(
          urgency: .warn, title: "Refused files", count: Int64(status.stillRefused.count),
          words: "changed nothing. The newest is \(Words.short(newest.file)).", button: ("bundles", "See why")))
    }
    return needs
  }

  private static func devices(_ status: HubStatus, _ now: Int64) -> [Need] {
    func names(_ devices: [HubStatus.Device]) -> String {
      let names = devices.prefix(5).map(\.device.name).joined(separator: ", ")
      return devices.count > 5 ? "\(names) and \(devices.count - 5) more" : names
    }
    var needs: [Need] = []
    func add(_ urgency: Urgency, _ title: String, _ words: String, _ found: [HubStatus.Device], _ address: String) {
      if found.isEmpty { return }
      needs.append(
        Need(
          urgency: urgency, title: title, count: Int64(found.count), words: "\(words): \(names(found)).",
          button: (address, "See what to do")))
    }
    let active = status.devices.filter { $0.device.state == .active }
    add(
      .bad, "Copied devices", "Two histories came under one name",
      status.devices.filter { $0.device.state == .flagged },
      "steps")
    add(
      .bad, "Rows differ", "These devices do not have the expected rows",
      active.filter { $0.proof?.result == .differs }, "steps")
    add(
      .warn, "Silent devices", "Nothing came for \(Words.span(Words.usualSilence)) or more",
      active.filter { now - ($0.device.heard ?? $0.device.enrolled) > Words.usualSilence }, "devices")
    add(
      .warn, "Full disks", "The disks of these devices are nearly full",
      active.filter { $0.presentHealth?.isDiskNearlyFull ?? false }, "steps")
    add(
      .warn, "Faults on devices", "The doctor found faults there",
      active.filter { $0.presentHealth?.hasFaults ?? false }, "steps")
    add(.warn, "Expired devices", "Their last day is over", active.filter(\.isExpired), "devices")
    return needs
  }

  private static func backup(_ status: HubStatus, _ now: Int64) -> [Need] {
    let words: String
    if let last = status.backedUp {
      if now - last < oldBackup { return [] }
      words = "The last one was made \(Words.age(of: last, now: now))."
    } else {
      words = "There is none yet."
    }
    return [Need(urgency: .warn, title: "Backup", words: words, button: ("upkeep", "Back up"))]
  }
}
