import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The pages about the rows that a user sees.
extension ConsoleSite {
  private static func options(_ words: [String], _ chosen: String?) -> [Markup] {
    words.map { "<option\($0 == chosen ? " selected" as Markup : "")>\($0)</option>" }
  }

  /// The form fields that name a row.
  private static func rowFields(_ tables: [Name], table: String?, key: String?) -> Markup {
    """
    <label for="table">Table</label>
    <select id="table" name="table">\(options(tables.map(\.text), table))</select>
    <label for="key">Key (several columns: as a JSON array)</label>
    <input id="key" name="key" value="\(key ?? "")" required>
    """
  }

  func scopes(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let users = try hub.users()
    let user = request.filled("user")
    let choice: Markup = """
      <form class="filter" method="get" action="scopes">
      <label for="user">Which rows does this user see?</label>
      <select id="user" name="user">\(Self.options(users.map(\.name), user))</select>
      <button>Count</button>
      </form>
      """
    guard let user else {
      let list = freshness(of: users, try hub.devices()).markup(
        caption: "Users, and when their devices last reported")
      let content: Markup =
        users.isEmpty
        ? "<p>There is no user yet. <a class=\"button\" href=\"users\">Add a user</a></p>"
        : choice + list
      return Self.frame("Who sees what", content, at: .scopes)
    }
    let summary = try hub.scope(of: user)
    let why: Markup = """
      <h2>Why does \(user) see a row, or not?</h2>
      <form method="get" action="scopes">
      <input type="hidden" name="user" value="\(user)">
      \(Self.rowFields(summary.tables.map(\.table), table: request.filled("table"), key: request.filled("key")))
      <button>Explain</button>
      </form>
      """
    return Self.frame(
      "Who sees what",
      choice + summary.markup(caption: "Rows in \(user)'s next full bundle") + Self.asUser(user) + why
        + (try explanation(request, user, hub)), at: .scopes)
  }

  private static func asUser(_ user: String) -> Markup {
    "<p><a class=\"button\" href=\"rows?as=\(percentEncoded(user))\">See the rows as \(user) sees them</a></p>\n"
  }

  private func freshness(of users: [User], _ devices: [EnrolledDevice]) -> StatusSheet.Table {
    StatusSheet.Table(
      titles: ["User", "Attributes", "Last day", "Devices"],
      rows: users.map { user in
        let own = devices.filter { $0.user == user.name }.map { "\($0.name): \(Words.age(of: $0.heard, now: now))" }
        // `expires` is the beginning of the day after the last day.
        let last = user.expires.map { context.platform.clock.localDay(milliseconds: $0 - 1) } ?? ""
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
      <p class="notice">\(found.table.text) [\(Words.key(found.key))] is \
      \(found.isVisible ? "" : "not ")to be seen by \(user), \
      who may \(found.mayWrite ? "" : "not ")change it.</p>
      \(conditions.markup(caption: "Why"))
      """
  }
}

extension ScopeSummary {
  /// The rows that a user may see, as a table.
  func markup(caption: String) -> Markup {
    let table = StatusSheet.Table(
      titles: ["Table", "Rows to be seen", "Of"], numbers: [1, 2],
      rows: tables.map { [$0.table.text, String($0.visible), String($0.all)] })
    return table.markup(caption: caption)
  }
}
