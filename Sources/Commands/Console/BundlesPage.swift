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
      <p><a class="button" href="log">Search the log</a> <a class="button" href="emit">Bundles for devices</a></p>
      \(ledger)
      \(Self.paging(page, of: isLast ? page : page + 1, "bundles?page=", what: "bundles"))
      """, at: .bundles, open: status.openConflicts)
  }

  private static func waiting(_ status: HubStatus) -> Markup {
    if status.waiting.isEmpty { return "" }
    let braked = status.braked.prefix(mostNamed).map { bundle -> Markup in
      """
      <li class="card bad"><h3>\(bundle.name)</h3><p>\(HubTool.words(bundle.reason))</p>
      <a class="button" href="braked?bundle=\(percentEncoded(bundle.name))">Look at it and decide ...</a></li>

      """
    }
    let rows = status.waiting.prefix(mostNamed).map { bundle in
      [bundle.name, HubTool.words(bundle.reason)]
    }
    let table = StatusSheet.Table(titles: ["Bundle", "Why it waits"], rows: Array(rows))
    let cards: Markup = braked.isEmpty ? "" : "<ul class=\"cards\">\n\(braked)</ul>\n"
    return """
      <h2 id="waiting">Waiting bundles</h2>
      \(cards)
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
