import SatchelHub
import SatchelPlatform
import SatchelWorkspace

extension ConsoleSite {
  func overview(_ hub: HubWorkspace) throws -> WebResponse {
    let status = try hub.status()
    let rows = HubTool.facts(status, now).map { [$0.name, $0.words] }
    let facts = StatusSheet.Table(titles: ["What", "How"], rows: rows)
    let steps = HubTool.steps(status).map { "<li>\($0)</li>\n" as Markup }
    let devices: Markup =
      status.devices.isEmpty
      ? "<p>There is no device yet.</p>"
      : HubTool.devices(status, now).markup(caption: "Which devices have reported, and which bundles are on their way")
    return frame(
      "Hub \(status.configuration.name) of the dataset \(status.configuration.dataset)",
      """
      <h2>What to do next</h2>
      <ol>\(steps)</ol>
      \(Self.upload)
      <h2>Devices</h2>
      \(devices)
      <h2>How it stands</h2>
      \(facts.markup(caption: "The hub"))
      """)
  }

  private static let upload: Markup = """
    <h2>Bring a bundle in</h2>
    <form method="post" action="import" enctype="multipart/form-data">
    <label for="files">Files from devices, chosen or dropped here </label><br>
    <input type="file" id="files" name="files" accept=".satchel" multiple required>
    <button>Import</button>
    </form>
    """

  /// Imports the uploaded files, as the command does.
  func take(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let sent = (request.files as? ConsoleUpload)?.paths ?? [:]
    if sent.isEmpty { throw UsageError("no file was chosen") }
    let names = sent.keys.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    let (taken, _) = try HubTool.take(names, into: hub, command) { name, body in try body(sent[name] ?? name) }
    let answer = Hooks.run(after: taken, command, context)
    let warnings: Markup = answer.warnings.isEmpty ? "" : "<pre class=\"warning\">\(answer.warnings)</pre>"
    let text: Markup = answer.text.isEmpty ? "" : "<pre class=\"notice\">\(answer.text)</pre>"
    return frame("What came of it", "\(text)\(warnings)<p><a href=\"./\">To the overview</a></p>")
  }

  func bundles(_ hub: HubWorkspace) throws -> WebResponse {
    let refused = Report.Section.refused(try hub.status().quarantined)
    let bundles = Report.Section.bundles(try hub.log(limit: 200), by: context.platform.clock)
    return frame(
      "Bundles",
      [refused, bundles].map { section in
        """
        <h2>\(section.heading)</h2>
        \(section.table.rows.isEmpty ? "<p>\(section.ifEmpty)</p>" : section.table.markup(caption: section.heading))
        """ as Markup
      }.reduce("") { $0 + $1 })
  }
}
