import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues

extension ConsoleSite {
  /// The most rows that a search shows.
  private static let mostRows: Int64 = 40
  private static let mostText = 200
  /// The most rows of a search for which the console evaluates whether a user sees them.
  private static let mostEvaluated: Int64 = 2000

  /// The address of a row's page.
  static func address(of key: RowKey, in table: Name) -> String {
    let key = String(decoding: canonicalKey(key), as: UTF8.self)
    return "row?table=\(percentEncoded(table.text))&key=\(percentEncoded(key))"
  }

  /// Finds rows by a text in their values.
  func rows(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let tables = try hub.tables()
    let text = request.filled("text").map { String($0.unicodeScalars.prefix(Self.mostText)) }
    let table = request.filled("table")
    let user = request.filled("as")
    let options = tables.map { entry -> Markup in
      let selected: Markup = entry.table.text == table ? " selected" : ""
      return
        "<option value=\"\(entry.table.text)\"\(selected)>\(entry.table.text) (\(Words.grouped(entry.rows)))</option>"
    }
    let form: Markup = """
      <form class="filter" method="get" action="rows" role="search">
      <label>Text in a row <input type="search" name="text" maxlength="200" value="\(text ?? "")"></label>
      <label>Table <select id="table" name="table"><option value="">all tables</option>\(options)</select></label>
      <label>As this user sees them <input name="as" maxlength="200" value="\(user ?? "")"></label>
      <button class="main">Find</button>
      </form>
      """
    let name = table.map { Name($0) }
    if let user {
      let seen = try hub.rows(
        seenBy: user, with: text, in: name, limit: Int(Self.mostRows), evaluating: Self.mostEvaluated)
      return Self.frame("Rows as \(Words.short(user)) sees them", "\(form)\(Self.list(seen, user))", at: .rows)
    }
    if text == nil, table == nil {
      return Self.frame(
        "Rows",
        """
        \(form)<p>Write a name, a number or a part of a text. The page of a row shows its values, its history, and who
        sees it.</p>
        """,
        at: .rows)
    }
    let found = try hub.rows(with: text, in: name, limit: Self.mostRows)
    if found.isEmpty { return Self.frame("Rows", "\(form)<p>No row has this text.</p>", at: .rows) }
    let count = Words.count(found.count, "row")
    let caption = found.count >= Self.mostRows ? "The first \(count): write more of the text to see others" : count
    return Self.frame("Rows", "\(form)\(Self.list(found, caption: caption))", at: .rows)
  }

  /// The rows that a user sees, and whether there may be more.
  private static func list(_ seen: VisibleRows, _ user: String) -> Markup {
    let more: Markup =
      seen.isPart ? "<p>There may be more. Choose a table, or write more of a text, to see others.</p>\n" : ""
    let why: Markup = "<p><a href=\"scopes?user=\(percentEncoded(user))\">How many rows \(user) sees, and why</a></p>\n"
    if seen.rows.isEmpty { return "<p>\(user) sees none of the rows that were looked at.</p>\n\(more)\(why)" }
    return "\(list(seen.rows, caption: "\(Words.count(seen.rows.count, "row")) that \(user) sees"))\n\(more)\(why)"
  }

  private static func list(_ found: [FoundRow], caption: String) -> Markup {
    let rows = found.map { row -> Markup in
      let key = Words.short(Words.key(row.key))
      let match = row.match.map { "\(Words.short($0.name.text)): \(Words.short(Words.value($0.value)))" } ?? ""
      return """
        <tr><th scope="row"><a href="\(address(of: row.key, in: row.table))">\
        \(row.label.map { Words.short(Words.value($0)) } ?? key)</a></th>\
        <td data-label="Table">\(row.table.text) [\(key)]</td>\
        <td data-label="Found in">\(match)</td></tr>

        """
    }
    return """
      <table>
      <caption>\(caption)</caption>
      <thead><tr><th scope="col">Row</th><th scope="col">Table, key</th><th scope="col">Found in</th></tr></thead>
      <tbody>
      \(rows)</tbody></table>
      """
  }

  // MARK: One row

  /// The most columns of a row, and the most users, that a page shows.
  private static let mostColumns = 100
  private static let mostUsers = 100
  private static let entriesOfPage = 20

  /// A row with its values, its files, its history, its conflicts, and who sees it.
  func row(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    guard let table = request.filled("table"), let key = request.filled("key") else { return try rows(request, hub) }
    let history = try hub.history(of: table, key: key)
    let pages = Int64(history.entries.count).pages(of: Int64(Self.entriesOfPage))
    let page = min(request.page, pages)
    let address = "\(Self.address(of: history.key, in: history.table))&page="
    return Self.frame(
      "\(Words.short(table)): \(Words.short(Words.key(history.key)))",
      """
      <h2>The row now</h2>
      \(try Self.values(history, hub))
      <h2>Who sees it</h2>
      \(try Self.viewers(history, hub))
      \(Self.conflicts(history))<h2>History</h2>
      \(timeLine(history, page))
      \(Self.paging(page, of: pages, address, what: "changes"))
      """, at: .rows)
  }

  private static func values(_ history: RowHistory, _ hub: HubWorkspace) throws -> Markup {
    guard let row = history.row else { return "<p>The row is gone.</p>" }
    let files = try hub.fileColumns(of: history.table)
    let items = try row.prefix(mostColumns).map { field -> Markup in
      let words = Words.value(field.value)
      let value: Markup =
        files.contains(field.name) && field.value != .null ? try file(words, hub) : "\(Words.beginning(words, 1000))"
      return "<dt>\(field.name.text)</dt><dd>\(value)</dd>\n"
    }
    let more = row.count - mostColumns
    return "<dl>\n\(items)</dl>\n\(more > 0 ? "<p>And \(more) more columns.</p>" as Markup : "")"
  }

  private static func viewers(_ history: RowHistory, _ hub: HubWorkspace) throws -> Markup {
    if history.row == nil { return "<p>A row that is gone is seen by no one.</p>" }
    let found = try hub.viewers(of: history.table, history.key, limit: mostUsers)
    let first = "the first \(Words.grouped(found.evaluated)) of \(Words.grouped(found.users)) users"
    let isPart = found.evaluated < found.users
    if found.viewers.isEmpty { return isPart ? "<p>None of \(first) sees it.</p>" : "<p>No user sees it.</p>" }
    let key = percentEncoded(String(decoding: canonicalKey(history.key), as: UTF8.self))
    let row = "&table=\(percentEncoded(history.table.text))&key=\(key)"
    let items = found.viewers.map { viewer -> Markup in
      """
      <li><a href="scopes?user=\(percentEncoded(viewer.user))\(row)">\
      \(viewer.user)</a>\(viewer.mayWrite ? "" : " (may not change it)")</li>

      """
    }
    let rest: Markup = isPart ? "<p>Only \(first) were looked at.</p>\n" : ""
    return "<ul>\n\(items)</ul>\n\(rest)"
  }

  private static func conflicts(_ history: RowHistory) -> Markup {
    if history.conflicts.isEmpty { return "" }
    let most = 20
    let items = history.conflicts.suffix(most).map {
      """
      <li><a href="conflict?id=\($0.record.id.text)">\($0.record.kind.rawValue)</a>, \($0.record.state.rawValue), by \
      \($0.record.user)</li>\n
      """
        as Markup
    }
    let more = history.conflicts.count - most
    return """
      <h2>Conflicts</h2>
      <ul>
      \(Array(items))</ul>\(more > 0 ? "<p>And \(more) older ones.</p>" as Markup : "")

      """
  }

  /// The changes of a page, the newest first.
  private func timeLine(_ history: RowHistory, _ page: Int64) -> Markup {
    let forgotten: Markup =
      history.forgotten > .zero
      ? "<p>What happened up to the hub's change \(history.forgotten.rawValue) is forgotten (satchel-hub compact).</p>"
      : ""
    if history.entries.isEmpty {
      return "\(forgotten)<p>It has not changed since the hub began, as far as is known.</p>"
    }
    let shown = history.entries.reversed().dropFirst(Int(page - 1) * Self.entriesOfPage).prefix(Self.entriesOfPage)
    let items = shown.map { entry -> Markup in
      let time = UTCTime.text(milliseconds: entry.stamp.milliseconds)
      let way = entry.bundle.map { ", bundle \($0.text.prefix(8))" } ?? ""
      let lines = HubTool.lines(entry).prefix(30).map { "\(Words.beginning($0, 400))<br>\n" as Markup }
      return """
        <li><time datetime="\(time)">\(local(entry.stamp.milliseconds))</time> \
        \(entry.operation.rawValue) by <b>\(entry.user)</b> \
        \(entry.device.map { "on \($0)" } ?? "at the hub")\(way)<br>\(Array(lines))\
        <small>taken by the hub \(local(entry.at))</small></li>

        """
    }
    return """
      \(forgotten)<p>\(Words.count(history.entries.count, "change")), the newest first.</p>
      <ol class="line" reversed>
      \(Array(items))</ol>
      """
  }
}
