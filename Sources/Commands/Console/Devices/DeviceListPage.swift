import SatchelHub
import SatchelPlatform

extension ConsoleSite {
  /// The number of devices on one page. With it, a page stays below 20 KB.
  private static let devicesOfPage = 25

  /// All devices, in pages. Devices with trouble come first.
  func devices(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let status = try hub.status()
    let text = request.filled("text")?.lowercased()
    let devices = DeviceFreshness.sorted(status, now).filter { entry in
      let device = entry.entry.device
      return text.map { device.name.lowercased().hasPart($0) || device.user.lowercased().hasPart($0) } ?? true
    }
    let page = PageOfList(devices, by: Self.devicesOfPage, for: request)
    let table = DeviceFreshness.table(
      page.items, caption: "\(Words.count(devices.count, "device")), \(page.words)")
    let empty: Markup = text == nil ? "<p>There is no device yet.</p>" : "<p>No device has this text.</p>"
    return Self.frame(
      "Devices",
      """
      <p><a class="button main" href="provision">Prepare a new device ...</a>
      <a class="button" href="enrol">Enrol a device that asks to join ...</a></p>
      \(Self.search("devices", "Device or user", text))
      \(devices.isEmpty ? empty : table)
      \(Self.paging(page.number, of: page.count, Self.pages(of: "devices", text), what: "devices"))
      """, at: .devices, open: status.openConflicts)
  }
}
