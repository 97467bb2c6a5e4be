import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The pages about the history of a row, and about the rows that a user sees.
extension ConsoleSite {
  func history(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let tables = try hub.status().tables.map(\.table)
    let table = request.filled("table")
    let form: Markup = """
      <form method="get" action="history">
      \(Self.rowFields(tables, table: table, key: request.filled("key")))
      <button>Show</button>
      </form>
      """
    guard let table, let key = request.filled("key") else { return frame("A row's history", form) }
    let history = try hub.history(of: table, key: key)
    return frame(
      "A row's history", form + "<h2>\(history.table.text) [\(Words.key(history.key))]</h2>\n" + Self.changes(history))
  }

  /// The most changes of a row that a page shows.
  private static let mostEntries = 500

  private static func changes(_ history: RowHistory) -> Markup {
    let entries = StatusSheet.Table(
      titles: ["Changed", "What", "By", "On", "Taken", "Values"],
      rows: history.entries.suffix(mostEntries).map { entry in
        [
          UTCTime.text(milliseconds: entry.stamp.milliseconds), entry.operation.rawValue, entry.user,
          entry.device ?? "the hub",
          UTCTime.text(milliseconds: entry.at), HubTool.lines(entry).joined(separator: "\n"),
        ]
      })
    let earlier: Markup =
      history.entries.count > mostEntries
      ? "<p>The newest \(mostEntries) of \(history.entries.count) changes; satchel-hub history shows all.</p>" : ""
    let row: Markup =
      history.row.map {
        StatusSheet.Table(titles: ["Column", "Value"], rows: $0.map { [$0.name.text, Words.value($0.value)] })
          .markup(caption: "The row now")
      } ?? "<p>The row is gone.</p>"
    let forgotten: Markup =
      history.forgotten > .zero
      ? "<p>What happened up to the hub's change \(history.forgotten.rawValue) is forgotten (satchel-hub compact).</p>"
      : ""
    let conflicts = history.conflicts.prefix(200).map {
      """
      <li><a href=\"conflict?id=\($0.record.id.text)\">\($0.record.id.text.prefix(8))</a> \($0.record.kind.rawValue), \
      \($0.record.state.rawValue)</li>\n
      """
        as Markup
    }
    return """
      \(row)\(forgotten)\(earlier)
      \(entries.rows.isEmpty ? "<p>It has not changed since the hub began, as far as is known.</p>" : entries.markup(caption: "Its changes, oldest first"))
      \(conflicts.isEmpty ? "" : "<h2>Conflicts</h2><ul>\(Array(conflicts))</ul>" as Markup)
      """
  }

  /// The fields that name a row.
  private static func rowFields(_ tables: [Name], table: String?, key: String?) -> Markup {
    """
    <label for="table">Table</label>
    <select id="table" name="table">\(tables.map { "<option\($0.text == table ? " selected" as Markup : "")>\($0.text)</option>" as Markup })</select>
    <label for="key">Key (several columns: as a JSON array)</label>
    <input id="key" name="key" value="\(key ?? "")" required>
    """
  }

  func scopes(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let users = try hub.users()
    let user = request.filled("user")
    let choice: Markup = """
      <form method="get" action="scopes">
      <label for="user">Which rows does this user see?</label>
      <select id="user" name="user">\(users.map { "<option\($0.name == user ? " selected" as Markup : "")>\($0.name)</option>" as Markup })</select>
      <button>Count</button>
      </form>
      """
    guard let user else {
      let list = Self.freshness(of: users, try hub.devices(), now).markup(
        caption: "Users, and when their devices last reported")
      return frame("Who sees what", users.isEmpty ? "<p>There is no user yet.</p>" : choice + list)
    }
    let summary = try hub.scope(of: user)
    let table = StatusSheet.Table(
      titles: ["Table", "Rows to be seen", "Of"], numbers: [1, 2],
      rows: summary.tables.map { [$0.table.text, String($0.visible), String($0.all)] })
    let why: Markup = """
      <h2>Why does \(user) see a row, or not?</h2>
      <form method="get" action="scopes">
      <input type="hidden" name="user" value="\(user)">
      \(Self.rowFields(summary.tables.map(\.table), table: request.filled("table"), key: request.filled("key")))
      <button>Explain</button>
      </form>
      """
    return frame(
      "Who sees what",
      choice + table.markup(caption: "What \(user)'s next full bundle holds") + why
        + (try explanation(request, user, hub)))
  }

  private static func freshness(of users: [User], _ devices: [EnrolledDevice], _ now: Int64) -> StatusSheet.Table {
    StatusSheet.Table(
      titles: ["User", "Attributes", "Last day", "Devices"],
      rows: users.map { user in
        let own = devices.filter { $0.user == user.name }.map { "\($0.name): \(Words.age(of: $0.heard, now: now))" }
        // `expires` is the beginning of the day after the last day.
        let last = user.expires.map { String(UTCTime.text(milliseconds: $0 - 1).prefix(10)) } ?? ""
        return [user.name, Words.fields(user.attributes), last, own.joined(separator: "\n")]
      })
  }

  private func explanation(_ request: WebRequest, _ user: String, _ hub: HubWorkspace) throws -> Markup {
    guard let table = request.filled("table"), let key = request.filled("key") else { return "" }
    let found = try hub.explainScope(of: user, table: table, key: key)
    let conditions = StatusSheet.Table(
      titles: ["Condition of the rules", "Does it hold?"],
      rows: found.conditions.map { [$0.words, $0.holds ? "yes" : "no"] })
    return """
      <p class="notice">\(found.table.text) [\(Words.key(found.key))] is \(found.isVisible ? "" : "not ")to be seen by \(user), \
      who may \(found.mayWrite ? "" : "not ")change it.</p>
      \(conditions.markup(caption: "Why"))
      """
  }
}
