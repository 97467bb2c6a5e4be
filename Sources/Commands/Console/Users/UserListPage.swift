import SatchelHub
import SatchelPlatform

extension ConsoleSite {
  /// The number of users on one page. With it, a page stays below 20 KB.
  private static let usersOfPage = 40

  /// All users in pages, and the form that adds a user.
  func users(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let devices = try hub.devices().filter { $0.state != .revoked }
    let text = request.filled("text")?.lowercased()
    let users = try hub.users().filter { user in
      text.map { "\(user.name) \(Words.fields(user.attributes))".lowercased().hasPart($0) } ?? true
    }
    let page = PageOfList(users, by: Self.usersOfPage, for: request)
    let rows = page.items.map { user -> Markup in
      let own = devices.filter { $0.user == user.name }.map(\.name)
      let attributes = Words.short(Words.fields(user.attributes))
      return """
        <tr><th scope="row"><a href="user?name=\(percentEncoded(user.name))">\(user.name)</a></th>\
        <td data-label="Attributes">\(attributes)</td><td data-label="Last day">\(lastDay(user.expires))</td>\
        <td data-label="Devices">\(Words.short(own.joined(separator: ", ")))</td></tr>

        """
    }
    let table: Markup = """
      <div class="wide" tabindex="0"><table>
      <caption>\(Words.count(users.count, "user")), \(page.words)</caption>
      <thead><tr><th scope="col">User</th><th scope="col">Attributes</th><th scope="col">Last day</th>\
      <th scope="col">Devices</th></tr></thead>
      <tbody>
      \(rows)</tbody></table></div>
      """
    let empty: Markup =
      text == nil ? "<p>There is no user yet.</p>" : "<p>No user's name or attributes contain this text.</p>"
    return Self.frame(
      "Users",
      """
      \(Self.search("users", "User or attribute", text))
      \(users.isEmpty ? empty : table)
      \(Self.paging(page.number, of: page.count, Self.pages(of: "users", text), what: "users"))
      <h2>Add a user</h2>
      <form class="filter" method="get" action="user-add">
      <label>Name <input name="name" maxlength="100" required></label>
      \(try attributeFields(of: nil, hub))
      <button class="main">Add ...</button>
      </form>
      <p class="quiet">Many users at once come from a table: <code>satchel-hub user import FILE</code></p>
      """, at: .users, open: try hub.openConflicts())
  }

  /// The fields for the attributes that the dataset declares.
  func attributeFields(of user: User?, _ hub: HubWorkspace) throws -> Markup {
    let fields = try hub.attributes().map { attribute -> Markup in
      let value = user?.attributes.first { $0.name == attribute.name }.map { Words.value($0.value) }
      return """
        <label>\(attribute.name.text) (\(attribute.kind.rawValue)) \
        <input name="\(Self.attributePrefix)\(attribute.name.text)" value="\(value ?? "")" maxlength="1000"></label>

        """
    }
    return "\(fields)"
  }

  /// The prefix of the names of fields for attributes. With it, no attribute has the name of another field.
  static let attributePrefix = "attribute."

  /// The attributes that a person typed, if they differ from the present attributes. An empty field changes nothing.
  func typedAttributes(
    _ request: WebRequest, of user: User?, _ hub: HubWorkspace
  ) throws -> [(name: String, value: String)] {
    try hub.attributes().compactMap { attribute in
      guard let typed = request.filled(Self.attributePrefix + attribute.name.text) else { return nil }
      let present = user?.attributes.first { $0.name == attribute.name }.map { Words.value($0.value) }
      return typed == present ? nil : (attribute.name.text, typed)
    }
  }

  static func hidden(attributes: [(name: String, value: String)]) -> [Markup] {
    hidden(attributes.map { (attributePrefix + $0.name, $0.value) })
  }
}
