import SatchelHub
import SatchelPlatform
import SatchelWorkspace

extension ConsoleSite {
  private static let bundlesOfPage: Int64 = 25
  /// The most waiting bundles and refused files that the page names.
  private static let mostNamed = 20

  /// Waiting bundles, refused files, and the ledger in pages.
  func bundles(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let status = try hub.status()
    let page = min(request.page, 400)
    let size = Self.bundlesOfPage
    let entries = try hub.log(limit: page * size + 1).dropFirst(Int((page - 1) * size))
    let isLast = entries.count <= size
    let section = Report.Section.bundles(Array(entries.prefix(Int(size))), by: context.platform.clock)
    let ledger =
      section.table.rows.isEmpty
      ? "<p>\(section.ifEmpty)</p>" : section.table.markup(caption: "\(section.heading), page \(page)")
    return Self.frame(
      "Bundles",
      """
      \(page > 1 ? "" : Self.waiting(status) + Self.refused(status))
      <h2>\(section.heading)</h2>
      \(ledger)
      \(Self.paging(page, of: isLast ? page : page + 1, "bundles?page=", what: "bundles"))
      """, at: .bundles, open: status.openConflicts)
  }

  private static func waiting(_ status: HubStatus) -> Markup {
    if status.waiting.isEmpty { return "" }
    let braked = Set(status.braked.map(\.name))
    let rows = status.waiting.prefix(mostNamed).map { bundle in
      let way =
        braked.contains(bundle.name)
        ? "ask its user; then satchel-hub import --accept \(bundle.name), or --reject \(bundle.name)" : ""
      return [bundle.name, HubTool.words(bundle.reason), way]
    }
    let table = StatusSheet.Table(titles: ["Bundle", "Why it waits", "Next step"], rows: Array(rows))
    return """
      <h2 id="waiting">Waiting bundles</h2>
      \(table.markup(caption: "\(Words.count(status.waiting.count, "bundle")) here, not imported yet"))
      """
  }

  private static func refused(_ status: HubStatus) -> Markup {
    let section = Report.Section.refused(Array(status.quarantined.prefix(mostNamed)))
    let more = status.quarantined.count - mostNamed
    return """
      <h2 id="refused">\(section.heading)</h2>
      \(section.table.rows.isEmpty ? "<p>\(section.ifEmpty)</p>" : section.table.markup(caption: section.heading))
      \(more > 0 ? "<p>And \(more) more: <code>satchel-hub quarantine list</code></p>" as Markup : "")
      """
  }
}
