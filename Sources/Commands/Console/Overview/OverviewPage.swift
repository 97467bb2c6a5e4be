import SatchelHub
import SatchelPlatform
import SatchelWorkspace

extension ConsoleSite {
  /// The most devices on the overview. The page of devices has all of them.
  private static let fewDevices = 12

  func overview(_ hub: HubWorkspace) throws -> WebResponse {
    let status = try hub.status()
    let needs = Need.all(status, now)
    let chart = DeliveryChart(try hub.deliveries(since: DeliveryChart.start(now)), now: now)
    return Self.frame(
      "Hub \(status.configuration.name) of the dataset \(status.configuration.dataset)",
      """
      <h2>What needs you</h2>
      \(needs.isEmpty ? Self.allIsWell : "<ul class=\"cards\">\n\(needs.map(\.markup))</ul>\n")
      \(Self.upload)
      <h2 id="devices">Devices</h2>
      \(Self.devices(status, now))
      <h2>Deliveries</h2>
      \(chart.markup)
      <p class="quiet">\(Self.size(status)) <a href="steps">All facts, and the next steps on the command line</a></p>
      """, at: .overview, open: status.openConflicts)
  }

  private static let allIsWell: Markup = """
    <p class="card good">Nothing waits for a person. When a stick comes, bring its bundles in below.</p>
    """

  private static func size(_ status: HubStatus) -> String {
    let rows = status.tables.reduce(0) { $0 + $1.rows }
    return "\(Words.count(rows, "row")) in \(Words.count(status.tables.count, "table"))."
  }

  private static func devices(_ status: HubStatus, _ now: Int64) -> Markup {
    if status.devices.isEmpty {
      return """
        <p>There is no device yet. <a class="button" href="provision">Prepare a new device ...</a></p>
        """
    }
    let devices = DeviceFreshness.sorted(status, now)
    let table = DeviceFreshness.table(devices.prefix(fewDevices), caption: "Devices, those with trouble first")
    return devices.count <= fewDevices
      ? table : "\(table)<p><a class=\"button\" href=\"devices\">All \(devices.count) devices</a></p>"
  }

  /// The facts and steps of `status`.
  func steps(_ hub: HubWorkspace) throws -> WebResponse {
    let status = try hub.status()
    let rows = HubTool.facts(status, now, by: context.platform.clock).map { [$0.name, $0.words] }
    let facts = StatusSheet.Table(titles: ["Subject", "State"], rows: rows)
    let steps = HubTool.steps(status).map { "<li>\($0)</li>\n" as Markup }
    return Self.frame(
      "Next steps",
      """
      <p>These steps are on the command line of this machine, the most urgent first.</p>
      <ol>\(steps)</ol>
      <h2 id="backup">A backup</h2>
      <p>The command <code>satchel-hub backup FILE</code> writes everything into one file, while the hub goes on.
      Keep the file on another disk, and a copy of the folder <code>keys</code> in another place.</p>
      <h2>The state of the hub</h2>
      \(facts.markup(caption: "The hub"))
      """, at: .overview, open: status.openConflicts)
  }

  private static let upload: Markup = """
    <h2 id="import">Bring a bundle in</h2>
    <form method="post" action="import" enctype="multipart/form-data" data-drop>
    <p><label for="files">Files from devices, chosen or dropped here</label></p>
    <p><input type="file" id="files" name="files" accept=".satchel" multiple required>
    <button class="main">Import</button></p>
    </form>
    """
}
