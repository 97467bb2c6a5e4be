import SatchelHub
import SatchelPlatform
import SatchelWorkspace

/// The page of one device.
extension ConsoleSite {
  private static let bundlesOfDevice: Int64 = 10
  private static let mostWaiting = 10

  func device(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let entry = try hub.status(of: request.needed("name"))
    let device = entry.device
    let bundles = Report.Section.bundles(
      try hub.log(of: device.name, limit: Self.bundlesOfDevice), by: context.platform.clock)
    let done: Markup =
      request.value("done") == nil
      ? "" : "<p class=\"notice\" role=\"status\">Changed. It takes effect with the next bundle for the device.</p>"
    let ledger: Markup =
      bundles.table.rows.isEmpty
      ? "<p>No bundle of it or for it is known here.</p>" : bundles.table.markup(caption: "The newest first")
    let facts = (HubTool.facts(entry, now) + moreFacts(entry)).map {
      "<dt>\($0.name)</dt><dd>\(Words.clipped($0.words))</dd>\n" as Markup
    }
    return Self.frame(
      "Device \(device.name)",
      """
      <p><a href="devices">All devices</a></p>
      \(done)\(warnings(entry))<dl>
      \(facts)</dl>
      <h2>Waiting</h2>
      \(try waiting(entry, hub))
      <h2>Last bundles</h2>
      \(ledger)
      \(device.state == .revoked ? "" : try actions(device, hub))
      """, at: .devices, open: try hub.openConflicts())
  }

  private func warnings(_ entry: HubStatus.Device) -> Markup {
    let name = entry.device.name
    var words = entry.presentHealth.map { DeviceHealthText(health: $0, now: now).warnings(of: name) } ?? []
    if entry.device.state == .flagged {
      words.append(
        "Two histories came under its name. Settle it on the command line: satchel-hub device fork \(name)")
    }
    if entry.device.hold != nil {
      words.append("It is on hold, so what comes from it waits. The page below releases it.")
    }
    if entry.proof?.result == .differs {
      words.append("Its rows differ from the expected ones. See them: satchel-hub compare \(name)")
    }
    let items = words.map { "<p class=\"warning\">\($0)</p>\n" as Markup }
    return "\(items)"
  }

  private func moreFacts(_ entry: HubStatus.Device) -> [StatusSheet.Fact] {
    var facts = StatusSheet.Facts()
    let day = lastDay(entry.device.expires)
    facts.add("Last day", day.isEmpty ? "none" : day)
    facts.add("Its changes", entry.device.isReadOnly ? "are not accepted" : "are accepted")
    if let skew = Words.skew(entry.device.skew) { facts.add("Its clock", skew) }
    for former in entry.formerUsers where former.until > now {
      facts.add("Former user", "\(former.user), whose work counts until \(local(former.until))")
    }
    return facts.all
  }

  private func waiting(_ entry: HubStatus.Device, _ hub: HubWorkspace) throws -> Markup {
    let name = entry.device.name
    let bundles = try hub.waiting().filter { $0.device == name }
    var items = bundles.prefix(Self.mostWaiting).map {
      "<li>Bundle \($0.number): \(HubTool.words($0.reason))</li>\n" as Markup
    }
    let more = bundles.count - Self.mostWaiting
    if more > 0 { items.append("<li>\(Words.count(more, "more bundle"))</li>\n") }
    if entry.held > 0 {
      let address = "conflicts?state=held&device=\(percentEncoded(name))"
      items.append("<li><a href=\"\(address)\">\(Words.count(entry.held, "held change"))</a></li>\n")
    }
    if !entry.missing.isEmpty {
      items.append("<li>Bundles that never came: \(Words.ranges(entry.missing)). A later one has their changes.</li>\n")
    }
    if items.isEmpty { return "<p>Nothing of this device waits here.</p>" }
    return "<ul>\n\(items)</ul>"
  }

  private func actions(_ device: EnrolledDevice, _ hub: HubWorkspace) throws -> Markup {
    let name = Self.hidden([("name", device.name)])
    let users = Self.userChoice("Give it to another user", try hub.users(), besides: device.user)
    let give: Markup =
      users.text.isEmpty
      ? "<p>To give it away, <a href=\"users\">add another user</a> first.</p>"
      : """
      <form class="filter" method="get" action="device-set">\(name)
      \(users)
      <button>See what will happen ...</button></form>
      """
    let edits: (value: String, words: String) =
      device.isReadOnly ? ("yes", "Accept its changes ...") : ("no", "Accept no more changes ...")
    return """
      <h2>Change it</h2>
      <p>Each button leads to a page that says what will happen. Nothing is changed before.</p>
      \(give)
      <form class="filter" method="get" action="device-set">\(name)
      \(dayField(device.expires))
      <button>Set the last day ...</button>
      \(Self.noLastDay(device.expires))</form>
      <form class="filter" method="get" action="device-set">\(name)
      <button name="edits" value="\(edits.value)">\(edits.words)</button></form>
      <form class="filter" method="get" action="device-hold">\(name)
      <button>\(device.hold == nil ? "Put it on hold ..." : "Release it ...")</button></form>
      <form class="filter" method="get" action="device-revoke">\(name)
      <button>Revoke it, for example because it was stolen ...</button></form>
      <details><summary>Give it another name</summary>
      <p>A name belongs to the device's own history and keys, so only the device can take another one. In its folder:
      <code>satchel renew --name NEW-NAME --request FILE</code>. Then <a href="enrol">enrol the request</a> here.
      All its rows and its undelivered work stay. The former name stays in the list until you revoke it.</p></details>
      """
  }
}
