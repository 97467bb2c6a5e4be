import SatchelHub
import SatchelWorkspace

/// How fresh a device's data is, as a bar and in words.
struct DeviceFreshness {
  let entry: HubStatus.Device
  let now: Int64

  private var device: EnrolledDevice { entry.device }
  private var isOut: Bool { device.state == .revoked }
  /// The time without a bundle from the device, in milliseconds.
  private var silence: Int64 { max(0, now - (device.heard ?? device.enrolled)) }
  private var isSilent: Bool { !isOut && silence > Words.usualSilence }

  private var isUnwell: Bool { entry.presentHealth.map { $0.isDiskNearlyFull || $0.hasFaults } ?? false }

  /// How much trouble the device makes, from 0 (none) to 5. For a revoked device, -1.
  private var trouble: Int {
    if isOut { return -1 }
    if device.state == .flagged { return 5 }
    if entry.proof?.result == .differs || entry.isHeldFull || device.refusedKey != nil { return 4 }
    if entry.isExpired || isUnwell || device.hold != nil { return 3 }
    if isSilent { return 2 }
    return HubTool.standing(of: entry).hasSuffix("behind") ? 1 : 0
  }

  /// The devices of a hub. The device with the most trouble comes first. Among equals, the device that was silent for
  /// the longest time comes first.
  static func sorted(_ status: HubStatus, _ now: Int64) -> [DeviceFreshness] {
    status.devices.map { DeviceFreshness(entry: $0, now: now) }.sorted {
      ($1.trouble, $1.silence, $0.device.name) < ($0.trouble, $0.silence, $1.device.name)
    }
  }

  /// The text in the table. An example: `12 days ago, 3 bundles behind`.
  private var words: String {
    let age = device.heard == nil ? "never came" : Words.age(of: device.heard, now: now)
    return isOut ? age : "\(age), \(HubTool.standing(of: entry))"
  }

  private var state: String {
    HubTool.stateWords(device, isExpired: entry.isExpired)
  }

  private static let day: Int64 = 86_400_000

  private var bar: Markup {
    if isOut { return "" }
    let days = min(silence / Self.day, 45)
    return """
      <meter min="0" max="45" low="7" high="30" optimum="0" value="\(days)">\(Words.count(days, "day"))</meter> 
      """
  }

  private var problems: String {
    var words: [String] = []
    if entry.held > 0 { words.append("\(entry.held) held") }
    if !entry.missing.isEmpty { words.append("never came: \(Words.ranges(entry.missing))") }
    if entry.presentHealth?.isDiskNearlyFull == true { words.append("its disk is nearly full") }
    if entry.presentHealth?.hasFaults == true { words.append("its doctor found faults") }
    if let skew = Words.skew(device.skew) { words.append("its clock is \(skew)") }
    return words.joined(separator: "; ")
  }

  private var row: Markup {
    func cell(_ title: String, _ words: String, _ bar: Markup = "") -> Markup {
      words.isEmpty && bar.text.isEmpty ? "<td></td>" : "<td data-label=\"\(title)\">\(bar)\(words)</td>"
    }
    let isBad = trouble >= 2 ? " class=\"differs\"" as Markup : ""
    return """
      <tr><th scope="row"><a href="device?name=\(percentEncoded(device.name))">\(device.name)</a>\
      <small>\(device.user)</small></th><td data-label="State"\(isBad)>\(state)</td>\
      \(cell("Last bundle", words, bar))\(cell("Verified", HubTool.words(entry.proof, now)))\
      \(cell("Health", problems))</tr>

      """
  }

  static func table(_ devices: some Sequence<DeviceFreshness>, caption: String) -> Markup {
    """
    <div class="wide" tabindex="0"><table>
    <caption>\(caption)</caption>
    <thead><tr><th scope="col">Device, user</th><th scope="col">State</th>\
    <th scope="col">Last bundle from it, its rows</th>\
    <th scope="col">Verified</th><th scope="col">Health</th></tr></thead>
    <tbody>
    \(devices.map(\.row))</tbody></table></div>
    <p class="quiet">A long bar is a long time without a bundle: the scale ends at 45 days.</p>
    """
  }
}
