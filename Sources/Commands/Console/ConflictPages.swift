import SatchelDataset
import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension ConsoleSite {
  private static let pageSize: Int64 = 50

  func conflicts(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let isAll = request.value("state") == "all"
    let states: [ConflictState] = isAll ? ConflictState.allCases : [.open, .held]
    let table = request.filled("table").map { Name($0) }
    let page = min(max(1, request.value("page").flatMap { Int64($0) } ?? 1), Int64(Int32.max))
    let found = try hub.conflicts(states, table: table, from: (page - 1) * Self.pageSize, count: Self.pageSize)
    let layers = try hub.layers()
    let rows = found.conflicts.map { conflict -> Markup in
      let record = conflict.record
      let moves = ConflictView(conflict: conflict, layers: layers).moves
      let more = record.unit == nil ? "" : ", with others of its unit"
      return """
        <tr><th scope="row"><a href="conflict?id=\(record.id.text)">\(String(record.id.text.prefix(8)))</a></th>\
        <td>\(ConflictView.row(of: conflict))\(moves)\(more)</td>\
        <td>\(ConflictView.explain(record.kind))\(conflict.isReported ? " (reported)" : "")</td>\
        <td>\(record.state.rawValue)</td><td>\(record.user)</td><td>\(Words.age(of: conflict.noted, now: now))</td></tr>

        """
    }
    let tables = try hub.status().tables.map(\.table)
    let list: Markup =
      rows.isEmpty
      ? "<p>No conflict waits for a decision.</p>"
      : """
      <div class="wide" tabindex="0"><table>
      <caption>\(found.total) in all, page \(page) of \(max(1, (found.total + Self.pageSize - 1) / Self.pageSize))</caption>
      <thead><tr><th scope="col">Conflict</th><th scope="col">Row</th><th scope="col">What happened</th><th scope="col">State</th>\
      <th scope="col">User</th><th scope="col">Noted</th></tr></thead>
      <tbody>
      \(rows)</tbody></table></div>
      \(paging(page, found.total, isAll: isAll, table))
      """
    return frame(
      "Conflicts",
      "\(filter(tables, isAll: isAll, table))\n\(list)\n\(Self.many(tables, table))")
  }

  private func filter(_ tables: [Name], isAll: Bool, _ table: Name?) -> Markup {
    """
    <form method="get" action="conflicts">
    <label for="state">Show</label>
    <select id="state" name="state"><option value="waiting">those that wait</option>\
    <option value="all"\(isAll ? " selected" as Markup : "")>all that ever were</option></select>
    <label for="table">of the table</label>
    <select id="table" name="table"><option value="">any</option>\(Self.options(tables, table))</select>
    <button>Show</button>
    </form>
    """
  }

  private static func options(_ tables: [Name], _ chosen: Name?) -> [Markup] {
    tables.map { "<option\($0 == chosen ? " selected" as Markup : "")>\($0.text)</option>" }
  }

  private func paging(_ page: Int64, _ total: Int64, isAll: Bool, _ table: Name?) -> Markup {
    func link(_ page: Int64, _ words: String, _ rel: String) -> Markup {
      let address =
        "conflicts?state=\(isAll ? "all" : "waiting")&table=\(percentEncoded(table?.text ?? ""))&page=\(page)"
      return "<li><a rel=\"\(rel)\" href=\"\(address)\">\(words)</a></li>"
    }
    let earlier = page > 1 ? link(page - 1, "Earlier ones", "prev") : ""
    let later = page * Self.pageSize < total ? link(page + 1, "Later ones", "next") : ""
    return "<nav aria-label=\"More conflicts\"><ul>\(earlier)\(later)</ul></nav>"
  }

  private static func many(_ tables: [Name], _ table: Name?) -> Markup {
    """
    <h2>Decide many by a rule</h2>
    <form method="post" action="conflicts">
    <p>Rows that were changed since their conflict was found are left as they are.</p>
    <label for="policy">All that are open:</label>
    <select id="policy" name="policy"><option value="hub">keep the hub's values</option><option value="device">take the devices' values</option>\
    <option value="newest">take the later change, each time</option></select>
    <label for="of">of the table</label>
    <select id="of" name="table"><option value="">any</option>\(options(tables, table))</select>
    <label for="why">Why</label> <input id="why" name="note" maxlength="500">
    <button>Decide all</button>
    </form>
    """
  }

  /// Decides all open conflicts by a rule.
  func decideAll(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    guard let policy = Policy(rawValue: try request.needed("policy")), [.hub, .device, .newest].contains(policy) else {
      throw UsageError("the rule is hub, device or newest")
    }
    let result = try hub.resolveAll(
      policy, table: request.filled("table").map { Name($0) }, note: request.filled("note"))
    let left = result.left.prefix(Int(Self.pageSize)).map { record, why in
      """
      <li><a href=\"conflict?id=\(record.id.text)\">\(record.table.text) [\(Words.key(record.key))]</a>: \
      \(why.message)</li>\n
      """
        as Markup
    }
    let rest: Markup =
      result.left.isEmpty
      ? "" : "<p>\(Words.count(result.left.count, "conflict")) left, because:</p>\n<ul>\(Array(left))</ul>\n"
    return frame(
      "Decided",
      """
      <p class="notice">\(Words.count(result.resolved.count, "conflict")) decided by the rule \(policy.rawValue).</p>
      \(rest)<p><a href="conflicts">To the conflicts</a></p>
      """)
  }
}
