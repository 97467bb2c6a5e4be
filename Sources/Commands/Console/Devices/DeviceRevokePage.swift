import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension ConsoleSite {
  private static func first(_ request: WebRequest) throws -> SequenceNumber? {
    try request.filled("from").map(HubTool.firstRefused)
  }

  /// Says what happens if a device is revoked. Changes nothing.
  func revoking(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    try revoking(try request.needed("name"), try Self.first(request), hub, status: 200)
  }

  private func revoking(
    _ name: String, _ from: SequenceNumber?, _ hub: HubWorkspace, status: Int
  ) throws -> WebResponse {
    let deleted = try hub.waitingBundles(deletedByRevoking: name, from: from)
    let device = try rehearsing().revoke(name, from: from)
    let first = device.revokedFrom ?? device.merged.next
    let named = from.map { [(name: "from", value: String($0.rawValue))] } ?? []
    let lost: Markup =
      deleted.isEmpty
      ? "" : "<p class=\"warning\">These bundles wait here, and are deleted: \(Self.names(deleted)).</p>\n"
    return Self.frame(
      "Revoke the device \(device.name)",
      """
      \(status == 200 ? "" : Self.otherEffect)<h2>What will happen</h2>
      <p class="notice">\(HubTool.effectOfRevoking) Its bundles are refused from \(first.rawValue) on.</p>
      \(lost)<h2>Undoing it</h2>
      <p>A revoked device stays revoked. If it is found again, it joins as another device: <code>satchel renew</code> in
      its folder, and then <a href="enrol">enrol its request</a>.</p>
      <h2>Bundles on their way</h2>
      <p>Bundles from before it was lost may still come. Name the first bundle that is refused, to let them in.</p>
      <form class="filter" method="get" action="device-revoke">\(Self.hidden([("name", device.name)]))
      <label>First refused bundle <input name="from" type="number" min="1" value="\(first.rawValue)"></label>
      <button>See what will happen ...</button></form>
      <form method="post" action="device-revoke">
      \(Self.hidden([("name", device.name), ("seen", Self.mark(first, deleted))] + named))
      <div class="bar"><button class="main">Revoke \(device.name) now</button>
      <a class="button" href="device?name=\(percentEncoded(device.name))">Back, change nothing</a></div>
      </form>
      """, at: .devices, open: try hub.openConflicts(), status: status)
  }

  private static func names(_ bundles: [WaitingBundle]) -> String {
    bundles.map(\.name).joined(separator: ", ")
  }

  private static func mark(_ first: SequenceNumber, _ deleted: [WaitingBundle]) -> String {
    "\(first.rawValue); \(names(deleted))"
  }

  /// Revokes a device, if the effect is still the effect that the person saw.
  func revoke(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let (name, from, seen) = (try request.needed("name"), try Self.first(request), try request.needed("seen"))
    let deleted = try hub.waitingBundles(deletedByRevoking: name, from: from)
    let first = try rehearsing().revoke(name, from: from).revokedFrom ?? .zero
    guard Self.mark(first, deleted) == seen else { return try revoking(name, from, hub, status: 409) }
    let device = try hub.revoke(name, from: from)
    return Self.frame(
      "Revoked",
      """
      <p class="notice" role="status">\(HubTool.text(ofRevoked: device, deleted, .commit))</p>
      <p><a class="button main" href="devices">To the devices</a></p>
      """, at: .devices, open: try hub.openConflicts())
  }
}
