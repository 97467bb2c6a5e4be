import SatchelHub
import SatchelPlatform
import SatchelWorkspace

/// The filter of the log, as the address of a page gives it.
struct LogQuery {
  private(set) var filter = LedgerFilter()
  /// The names and values in the address. Empty values are left out.
  private(set) var fields: [(name: String, value: String)] = []

  private static let mostText = 200
  private static let verdicts: [Verdict] = [
    .imported, .repeated, .stale, .collected, .redeliver, .written, .refused,
  ]

  /// - Throws: a `UsageError` if a value of the address has no meaning.
  init(_ request: WebRequest, by clock: any WallClock) throws {
    func field(_ name: String) -> String? {
      guard let value = request.filled(name) else { return nil }
      fields.append((name, value))
      return String(value.unicodeScalars.prefix(Self.mostText))
    }
    func time(_ name: String, _ read: (String) -> Int64?) throws -> Int64? {
      guard let text = field(name) else { return nil }
      guard let time = read(text) else { throw UsageError("the day \"\(text)\" is written as in 2026-01-31") }
      return time
    }
    filter.text = field("text")
    filter.peer = field("device")
    filter.direction = try field("way").map { word in
      guard let way = LedgerEntry.Direction(rawValue: word) else { throw UsageError("the way is in or out") }
      return way
    }
    filter.verdict = try field("verdict").map { word in
      guard let verdict = Verdict(rawValue: word) else { throw UsageError("there is no verdict \"\(word)\"") }
      return verdict
    }
    filter.from = try time("from", clock.beginning)
    filter.until = try time("until", clock.endOfLocalDay)
  }

  private func value(_ name: String) -> String { fields.first { $0.name == name }?.value ?? "" }

  /// The filter as the end of an address. It begins with `&`, and is empty if there is no filter.
  var address: String { fields.map { "&\($0.name)=\(percentEncoded($0.value))" }.joined() }

  /// The form with which a person changes the filter.
  var form: Markup {
    """
    <form class="filter" method="get" action="log" role="search">
    <label>Text <input name="text" type="search" maxlength="200" value="\(value("text"))" data-live></label>
    <label>Device <input name="device" maxlength="200" value="\(value("device"))"></label>
    \(choice("way", "Way", LedgerEntry.Direction.allCases.map(\.rawValue)))
    \(choice("verdict", "Verdict", Self.verdicts.map(\.rawValue)))
    <label>From <input name="from" type="date" value="\(value("from"))"></label>
    <label>To <input name="until" type="date" value="\(value("until"))"></label>
    <button>Filter</button>\(fields.isEmpty ? "" : " <a class=\"button\" href=\"log\">Clear</a>" as Markup)
    </form>
    """
  }

  private func choice(_ name: String, _ title: String, _ words: [String]) -> Markup {
    let options = words.map { "<option\($0 == value(name) ? " selected" as Markup : "")>\($0)</option>" as Markup }
    return "<label>\(title) <select name=\"\(name)\"><option value=\"\">any</option>\(options)</select></label>"
  }
}

/// The log: every bundle that was made, imported or refused here.
extension ConsoleSite {
  private static let entriesOfPage: Int64 = 25
  /// The most entries of a file for spreadsheets.
  private static let mostEntries: Int64 = 100_000

  func log(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let query = try LogQuery(request, by: context.platform.clock)
    let (page, size) = (request.page, Self.entriesOfPage)
    let found = try hub.log(query.filter, from: (page - 1) * size, limit: size + 1)
    let section = Report.Section.bundles(Array(found.prefix(Int(size))), by: context.platform.clock)
    let none: Markup =
      query.fields.isEmpty
      ? "<p>\(section.ifEmpty)</p>" : "<p>No bundle fits this filter. <a href=\"log\">Show all</a></p>"
    let pages = found.count > size ? page + 1 : page
    let csv = query.address.isEmpty ? "log.csv" : "log.csv?\(query.address.dropFirst())"
    return Self.frame(
      "Log",
      """
      \(query.form)
      \(found.isEmpty ? none : section.table.markup(caption: "Bundles, the newest first, page \(page)"))
      \(Self.paging(page, of: pages, "log?\(query.address.dropFirst())&page=", what: "bundles"))
      <p><a class="button" href="\(csv)" download>These bundles as CSV</a>
      <span class="quiet">for a spreadsheet; at most the newest \(Self.mostEntries)</span></p>
      """, at: .bundles, open: try hub.openConflicts())
  }

  /// The entries of a filter as a file for spreadsheets.
  func logCSV(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let query = try LogQuery(request, by: context.platform.clock)
    let entries = try hub.log(query.filter, from: 0, limit: Self.mostEntries)
    let table = Report.Section.bundles(entries, by: context.platform.clock).table
    var response = WebResponse.bytes(
      Array(CSV.text([table.titles] + table.rows).utf8), type: "text/csv; charset=utf-8")
    response.headers.append(("Content-Disposition", "attachment; filename=\"log.csv\""))
    return response
  }
}
