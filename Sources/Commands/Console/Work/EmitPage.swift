import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The page on which bundles for devices are made and downloaded.
extension ConsoleSite {
  private static let devicesOfPage = 25

  func emitPage(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let status = try hub.status()
    let active = status.devices.filter { $0.device.state == .active }
    let page = PageOfList(active, by: Self.devicesOfPage, for: request)
    let newest = newestBundles(status, in: hub)
    let rows = try page.items.map { try row($0, newest[$0.device.name], hub) }
    let form: Markup = """
      <form method="post" action="emit">
      <p><button class="main" name="all" value="1">Make bundles for all devices</button></p>
      <table>
      <caption>\(Words.count(active.count, "active device")), \(page.words)</caption>
      <thead><tr><th scope="col">Device, user</th><th scope="col">Its rows</th>\
      <th scope="col">Newest bundle that waits to be carried</th><th scope="col">New bundle</th></tr></thead>
      <tbody>
      \(rows)</tbody></table>
      </form>
      """
    return Self.frame(
      "Bundles for devices",
      """
      <p>A bundle carries the rows that the user of a device may see and the device may lack. If nothing is new for a
      device, no bundle is made. To carry bundles on a stick, <a href="sticks">sync the stick</a> instead.</p>
      \(active.isEmpty ? "<p>There is no active device.</p>" : form)
      \(Self.paging(page.number, of: page.count, "emit?page=", what: "devices"))
      """, at: .sticks, open: status.openConflicts)
  }

  private func row(_ entry: HubStatus.Device, _ bundle: String?, _ hub: HubWorkspace) throws -> Markup {
    let device = entry.device
    let file: Markup =
      try bundle.map { name in
        let bytes = try context.platform.files.size(Paths.join(hub.folder.outbox, name))
        return """
          <a href="download?file=\(percentEncoded(name))" download>\(name)</a> <small>\(Words.kibibytes(bytes))</small>
          """
      } ?? ""
    return """
      <tr><th scope="row">\(device.name)<small>\(device.user)</small></th>\
      <td data-label="Its rows">\(HubTool.standing(of: entry))</td>\
      <td\(bundle == nil ? "" : " data-label=\"Newest bundle\"" as Markup)>\(file)</td>\
      <td data-label="New bundle"><button name="device" value="\(device.name)">\
      Make for \(device.name)</button></td></tr>

      """
  }

  /// The newest whole bundle in the outbox, by device.
  private func newestBundles(_ status: HubStatus, in hub: HubWorkspace) -> [String: String] {
    var newest: [String: String] = [:]
    for name in Self.bundles(status.outbox, hub) where BundleName.whole(ofVolume: name) == nil {
      let receiver = BundleName.receiver(
        of: name, from: hub.configuration.name, dataset: hub.configuration.dataset)
      guard let receiver else { continue }
      // The names differ in their numbers. A longer name has more digits, so its number is greater.
      let known = newest[receiver] ?? ""
      if (known.utf8.count, known) < (name.utf8.count, name) { newest[receiver] = name }
    }
    return newest
  }

  private static func bundles(_ names: [String], _ hub: HubWorkspace) -> [String] {
    names.filter { BundleName.fits($0, dataset: hub.configuration.dataset) }
  }

  /// Begins to make bundles for one device or for all.
  func emit(_ request: WebRequest) throws -> WebResponse {
    let isForAll = request.value("all") == "1"
    let device = try isForAll ? nil : request.needed("device")
    return try begin(
      ConsoleTask(
        device.map { "A bundle for \($0)" } ?? "Bundles for all devices", at: .sticks,
        words: ["emit"] + (device.map { ["--device=\($0)"] } ?? ["--all"]), on: command,
        next: { _ in "<p><a class=\"button main\" href=\"emit\">Download bundles</a></p>" }))
  }

  /// Sends a bundle of the outbox. No other file is sent.
  func download(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let (name, files) = (try request.needed("file"), context.platform.files)
    let path = Paths.join(hub.folder.outbox, name)
    guard try Self.bundles(files.list(hub.folder.outbox), hub).contains(name), try files.kind(path) == .file else {
      throw WorkspaceError(
        .noBundle, "The outbox has no bundle \"\(name)\".", hint: "Make a new one on the page of bundles for devices.")
    }
    let fd = try files.open(path)
    var response = WebResponse.bytes([], type: "application/octet-stream")
    do { response.file = (fd, try files.size(path)) } catch {
      files.close(fd)
      throw error
    }
    let isPlain = name.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }
    response.headers.append(
      ("Content-Disposition", "attachment; filename=\"\(isPlain ? name : "bundle.satchel")\""))
    return response
  }
}
