import SatchelHub
import SatchelPlatform

extension ConsoleSite {
  /// So many devices that a page stays below 20 KB.
  private static let devicesOfPage = 25

  /// All devices, in pages, those with trouble first.
  func devices(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let status = try hub.status()
    let text = request.filled("text")?.lowercased()
    let devices = DeviceFreshness.sorted(status, now).filter { entry in
      let device = entry.entry.device
      return text.map { device.name.lowercased().contains($0) || device.user.lowercased().contains($0) } ?? true
    }
    let pages = Int64(devices.count).pages(of: Int64(Self.devicesOfPage))
    let page = min(request.page, pages)
    let shown = devices.dropFirst(Int(page - 1) * Self.devicesOfPage).prefix(Self.devicesOfPage)
    let address = "devices?\(text.map { "text=\(percentEncoded($0))&" } ?? "")page="
    let caption = "\(Words.count(devices.count, "device")), page \(page) of \(pages)"
    let table = DeviceFreshness.table(shown, caption: caption)
    let empty: Markup = text == nil ? "<p>There is no device yet.</p>" : "<p>No device has this text.</p>"
    return Self.frame(
      "Devices",
      """
      <p><a class="button main" href="provision">Prepare a new device ...</a>
      <a class="button" href="enrol">Enrol a device that asks to join ...</a></p>
      <form class="filter" method="get" action="devices" role="search">
      <label>Device or user <input type="search" name="text" maxlength="100" value="\(text ?? "")" data-live></label>
      <button>Find</button>
      </form>
      \(devices.isEmpty ? empty : table)
      \(Self.paging(page, of: pages, address, what: "devices"))
      """, at: .devices, open: status.openConflicts)
  }
}
