import SatchelHub
import SatchelPlatform
import SatchelWorkspace

/// The page of the dataset: its rules in words, its versions, and which device has which version.
extension ConsoleSite {
  private static let devicesOfPage = 50

  func dataset(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let (report, rules) = (try hub.dataset(), try hub.ruleSummaries())
    let notes = RuleText.notes(rules)
    let versions = StatusSheet.Table(
      titles: ["Version", "Since"], numbers: [],
      rows: report.versions.suffix(20).reversed().map { [String($0.version), local($0.at)] })
    return Self.frame(
      "The dataset \(report.definition.name)",
      """
      <h2>Who sees and changes what</h2>
      \(RuleText.sheet(rules).markup(caption: "The rules, as this hub understands them"))
      \(notes.isEmpty ? "" : "<pre class=\"notice\">\(notes)</pre>" as Markup)
      <p>Which rows one user sees, and why: <a href="scopes">Who sees what</a></p>
      <h2>Versions</h2>
      \(versions.markup(caption: "Versions of the definition, the newest first"))
      <p><a class="button" href="dataset.json" download>The definition as a file</a></p>
      <h2>Which device has which version</h2>
      \(devices(report, request))
      <p class="quiet">A new version comes by the command line:
      <code>satchel-hub dataset apply FILE --dry-run</code> shows first what it would change.</p>
      """, at: .dataset, open: try hub.openConflicts())
  }

  private func devices(_ report: DatasetReport, _ request: WebRequest) -> Markup {
    if report.devices.isEmpty { return "<p>There is no device yet.</p>" }
    let page = PageOfList(report.devices, by: Self.devicesOfPage, for: request)
    let table = StatusSheet.Table(
      titles: ["Device", "User", "Version", "On its way"], numbers: [2, 3],
      rows: page.items.map { device in
        [
          device.device, device.user, device.version.map { String($0) } ?? "not known",
          device.sent.map { String($0) } ?? "",
        ]
      })
    return """
      \(table.markup(caption: "\(Words.count(report.devices.count, "device")), \(page.words)"))
      \(Self.paging(page.number, of: page.count, "dataset?page=", what: "devices"))
      """
  }

  /// The definition as its author wrote it.
  func definition(_ hub: HubWorkspace) throws -> WebResponse {
    var response = WebResponse.bytes(try hub.dataset().definition.source, type: "application/json")
    response.headers.append(("Content-Disposition", "attachment; filename=\"dataset.json\""))
    return response
  }
}
