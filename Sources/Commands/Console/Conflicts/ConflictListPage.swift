import SatchelConflicts
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The list of conflicts, with its filter and with boxes to choose conflicts for one decision.
extension ConsoleSite {
  /// The number of conflicts on one page. With it, a page stays below 20 KB.
  private static let pageSize: Int64 = 20

  func conflicts(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let query = try ConflictQuery(request, hub, by: context.platform.clock)
    let page = request.page
    let list = try hub.conflicts(query.filter, from: (page - 1) * Self.pageSize, count: Self.pageSize)
    let done: Markup =
      request.value("done") == nil ? "" : "<p class=\"notice\" role=\"status\">Decided. That was the last one.</p>"
    return Self.frame(
      "Conflicts",
      """
      \(done)\(query.form(list))
      \(list.conflicts.isEmpty ? Self.noConflicts(query) : rows(list, query, page))
      """, at: .conflicts, open: try hub.openConflicts())
  }

  private static func noConflicts(_ query: ConflictQuery) -> Markup {
    query.fields.isEmpty
      ? """
      <p class="card good">No conflict waits for a decision. A conflict arises if two people change the
      same value, or if a change is not allowed. Both values are kept here until you decide.</p>
      """
      : """
      <p>No conflict waits that this filter shows. <a class="button" href="conflicts">Show all that wait</a></p>
      """
  }

  private func rows(_ list: ConflictList, _ query: ConflictQuery, _ page: Int64) -> Markup {
    let pages = list.total.pages(of: Self.pageSize)
    let names = Dictionary(list.devices.map { ($0.id, $0.name) }) { first, _ in first }
    let rows = list.conflicts.map { conflict in
      row(conflict, list.layers, names[conflict.record.device] ?? "", query)
    }
    return """
      <form id="many" method="get" action="decide">
      \(query.hidden)
      <table>
      <caption>\(list.total) in all, page \(page) of \(pages)</caption>
      <thead><tr><th scope="col">Choose</th><th scope="col">Row</th><th scope="col">Hub</th><th scope="col">Device</th>\
      <th scope="col">Kind</th><th scope="col">By</th></tr></thead>
      <tbody>
      \(rows)</tbody></table>
      \(Self.many(list.total))
      </form>
      \(Self.paging(page, of: pages, "conflicts?\(query.address.dropFirst())&page=", what: "conflicts"))
      """
  }

  private func row(_ conflict: StoredConflict, _ layers: [Layer], _ device: String, _ query: ConflictQuery) -> Markup {
    let record = conflict.record
    let name = "\(record.table) [\(Words.key(record.key))]"
    let title = conflict.label.map { Words.value($0) } ?? name
    let id = record.id.text
    let box: Markup =
      record.state == .resolved || record.state == .settled
      ? "" : "<input type=\"checkbox\" name=\"id\" value=\"\(id)\" aria-label=\"Choose \(Words.short(title))\">"
    let row: Markup = conflict.label == nil ? "" : "<small>\(Words.short(name))</small>"
    let moves = ConflictView(conflict: conflict, layers: layers).moves
    let unit = record.unit == nil ? "" : ", with others of its unit"
    return """
      <tr><td>\(box)</td><th scope="row"><a href="conflict?id=\(id)\(query.address)">\
      \(Words.short(title))</a>\(row)</th>\
      <td data-label="Hub">\(Self.values(record.hubValues, record))</td>\
      <td data-label="Device">\(Self.values(record.deviceValues, record))</td>\
      <td data-label="Kind">\(record.kind.rawValue)\(conflict.isReported ? " (reported)" : "")\(moves)\(unit)\
      \(record.state == .open ? "" : ", \(record.state.rawValue)")</td>\
      <td data-label="By">\(record.user)<small> \(device) \(Words.age(of: conflict.noted, now: now))</small></td></tr>

      """
  }

  /// The most columns of a conflict whose values a list shows.
  private static let mostColumns = 2

  /// The values of one side in short, or words that say why there are none.
  private static func values(_ fields: [Field]?, _ record: ConflictRecord) -> Markup {
    guard let fields else { return record.operation == .delete ? "deleted" : "no row" }
    let columns = record.columns
    // A conflict about a whole row has no columns, so the page shows no values.
    let shown = columns.prefix(mostColumns).compactMap { name -> Markup? in
      guard let value = fields.first(where: { $0.name == name })?.value else { return nil }
      return "<small>\(Words.short(name.text))</small> \(Words.short(Words.value(value)))\n"
    }
    let more = columns.count - mostColumns
    return "\(Array(shown))\(more > 0 ? "and \(more) more" : "")"
  }

  /// The part of the form that chooses a rule for the chosen conflicts, or for all conflicts of the filter.
  private static func many(_ total: Int64) -> Markup {
    """
    <div class="bar"><label>Rule <select name="policy">\
    \(DecisionRule.allCases.map { "<option value=\"\($0.rawValue)\">\($0.words)</option>" as Markup })</select></label>
    <button class="main" data-chosen>Decide for the chosen ...</button>
    <button name="all" value="1">Decide for all \(Words.grouped(total)) ...</button>
    <small>The next page says what will happen. Nothing is decided before.</small></div>
    """
  }
}
