import SatchelHub
import SatchelPlatform
import SatchelValues

/// A change of a device's user, last day or rights, as a person filled it in.
private struct DeviceChange {
  static let names = ["name", "user", "expires", "edits"]

  let name: String
  let user: String?
  let day: String?
  let expires: Int64??
  let edits: String?

  init(_ request: WebRequest, by clock: any WallClock) throws {
    name = try request.needed("name")
    user = request.filled("user")
    day = request.typedLastDay
    expires = try day.map { try HubTool.lastDay($0, by: clock) }
    edits = request.filled("edits")
    guard edits == nil || edits == "yes" || edits == "no" else { throw UsageError("--edits takes yes or no") }
    guard user != nil || day != nil || edits != nil else {
      throw UsageError("nothing to change: choose a user or a day first")
    }
  }

  var fields: [(name: String, value: String)] {
    [("name", name)]
      + [("user", user), ("expires", day), ("edits", edits)].compactMap { field in
        field.1.map { (field.0, $0) }
      }
  }
}

extension ConsoleSite {
  /// Says what a change of a device will do. Changes nothing.
  func settingDevice(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    try page(DeviceChange(request, by: context.platform.clock), hub, status: 200)
  }

  private func effect(_ change: DeviceChange, _ hub: HubWorkspace) throws -> EffectMarkup {
    EffectMarkup(preview: try hub.preview(device: change.name, user: change.user), now: now)
  }

  private func page(_ change: DeviceChange, _ hub: HubWorkspace, status: Int) throws -> WebResponse {
    let effect = try effect(change, hub)
    let device = try hub.device(change.name)
    let back = "device?name=\(percentEncoded(device.name))"
    return Self.frame(
      "Change the device \(device.name)",
      """
      \(status == 200 ? "" : Self.otherEffect)<h2>What will happen</h2>
      \(words(change, device))
      \(try change.day.map { try self.effect(ofLastDay: $0) } ?? "")
      \(effect.markup)
      <h2>How to undo it</h2>
      <p>Set the former value in the same way. Rows that were taken away come back with the bundle after that.</p>
      <form method="post" action="device-set">
      \(Self.hidden(change.fields + [("seen", mark(effect, device))]))
      <div class="bar"><button class="main">Change \(device.name) now</button>
      <a class="button" href="\(back)">Back, change nothing</a></div>
      </form>
      """, at: .devices, open: try hub.openConflicts(), status: status)
  }

  private func words(_ change: DeviceChange, _ device: EnrolledDevice) -> Markup {
    var words: [Markup] = []
    if let user = change.user {
      words.append(
        """
        <p class="notice">\(device.name) works for \(user) in place of \(device.user). It gets all rows of \(user) with
        its next bundle, and loses the rows of \(device.user). Changes written on it before that bundle came count as
        those of \(device.user).</p>

        """)
    }
    switch change.edits {
    case "yes": words.append("<p class=\"notice\">The hub accepts changes of \(device.name) again.</p>\n")
    case "no":
      words.append(
        """
        <p class="notice">\(device.name) receives the rows of \(device.user), and none of its changes are accepted: each
        change becomes a conflict.</p>

        """)
    default: break
    }
    return "\(words)"
  }

  /// A text that changes if the effect or the present state of the device changes.
  private func mark(_ effect: EffectMarkup, _ device: EnrolledDevice) -> String {
    effect.mark(replacing: [
      device.user, lastDay(device.expires), device.isReadOnly ? "no" : "yes", device.state.rawValue,
    ])
  }

  /// Changes a device, if the effect is still the effect that the person saw.
  func setDevice(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let change = try DeviceChange(request, by: context.platform.clock)
    let seen = try request.needed("seen")
    guard try mark(effect(change, hub), hub.device(change.name)) == seen else {
      return try page(change, hub, status: 409)
    }
    _ = try hub.setDevice(
      change.name, user: change.user, expires: change.expires, readOnly: change.edits.map { $0 == "no" })
    return .seeOther("device?name=\(percentEncoded(change.name))&done=1")
  }
}
