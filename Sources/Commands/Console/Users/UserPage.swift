import SatchelHub
import SatchelPlatform
import SatchelValues

/// The page of one user, with the form for attributes and the last day.
extension ConsoleSite {
  private static let mostDevices = 40

  func user(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let user = try hub.user(request.needed("name"))
    let name = percentEncoded(user.name)
    let done: Markup =
      request.value("done") == nil
      ? "" : "<p class=\"notice\" role=\"status\">Done. Devices get the rows with their next bundles.</p>\n"
    let day = lastDay(user.expires)
    return Self.frame(
      "User \(user.name)",
      """
      <p><a href="users">All users</a></p>
      \(done)<dl>
      <dt>Attributes</dt><dd>\(user.attributes.isEmpty ? "none" : Words.clipped(Words.fields(user.attributes)))</dd>
      <dt>Last day</dt><dd>\(day.isEmpty ? "none" : day)</dd>
      <dt>Rows</dt><dd><a href="scopes?user=\(name)">Which rows \(user.name) sees, and why</a></dd>
      </dl>
      <h2>Devices</h2>
      \(try devices(of: user, hub))
      <h2>Change it</h2>
      <p>The next page says what will happen. Nothing is changed before.</p>
      <form class="filter" method="get" action="user-set">
      \(Self.hidden([("name", user.name)]))
      \(try attributeFields(of: user, hub))\(dayField(user.expires))
      <button class="main">See what will happen ...</button>
      \(Self.noLastDay(user.expires))
      </form>
      """, at: .users, open: try hub.openConflicts())
  }

  private func devices(of user: User, _ hub: HubWorkspace) throws -> Markup {
    let devices = try hub.devices().filter { Name($0.user) == Name(user.name) && $0.state != .revoked }
    if devices.isEmpty {
      return "<p>\(user.name) has no device. <a class=\"button\" href=\"provision\">Prepare a new device ...</a></p>"
    }
    let items = devices.prefix(Self.mostDevices).map { device -> Markup in
      """
      <li><a href="device?name=\(percentEncoded(device.name))">\(device.name)</a>, last bundle
      \(Words.age(of: device.heard, now: now))</li>

      """
    }
    let more = devices.count - Self.mostDevices
    return "<ul>\n\(items)</ul>\(more > 0 ? "<p>And \(more) more.</p>" as Markup : "")"
  }
}
