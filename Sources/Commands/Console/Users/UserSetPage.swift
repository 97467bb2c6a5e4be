import SatchelHub
import SatchelPlatform
import SatchelValues

/// Pages that add or change a user. A first page says what will happen, and its form then does it.
extension ConsoleSite {
  // MARK: A new user

  func addingUser(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let attributes = try typedAttributes(request, of: nil, hub)
    // The dry run throws before the page shows the form, if the hub refuses the user.
    let user = try rehearsing().addUser(request.needed("name"), attributes: attributes)
    let words = user.attributes.isEmpty ? "no attributes" : Words.clipped(Words.fields(user.attributes))
    return Self.frame(
      "Add the user \(user.name)",
      """
      <h2>What will happen</h2>
      <p class="notice">The user \(user.name) is added, with \(words). Rows go out only when the user has a device.</p>
      <h2>How to undo it</h2>
      <p>As long as the user has no device: <code>satchel-hub user remove NAME</code></p>
      <form method="post" action="user-add">
      \(Self.hidden([("name", user.name)]))\(Self.hidden(attributes: attributes))
      <div class="bar"><button class="main">Add \(user.name) now</button>
      <a class="button" href="users">Back, add nothing</a></div>
      </form>
      """, at: .users, open: try hub.openConflicts())
  }

  func addUser(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let user = try hub.addUser(
      request.needed("name"), attributes: try typedAttributes(request, of: nil, hub))
    return .seeOther("user?name=\(percentEncoded(user.name))&done=1")
  }

  // MARK: A change of a user

  func settingUser(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    try page(UserChange(request, hub, self), hub, status: 200)
  }

  private func page(_ change: UserChange, _ hub: HubWorkspace, status: Int) throws -> WebResponse {
    let effect = try change.effect(hub, now)
    let name = change.user.name
    let attributes = change.attributes.map { typed -> Markup in
      let present = change.user.attributes.first { $0.name == Name(typed.name) }.map { Words.value($0.value) }
      return """
        <p class="notice">\(typed.name) becomes \(Words.clipped(typed.value)) in place of \
        \(Words.clipped(present ?? "no value")).</p>

        """
    }
    return Self.frame(
      "Change the user \(name)",
      """
      \(status == 200 ? "" : Self.otherEffect)<h2>What will happen</h2>
      \(attributes)\(try change.day.map { try self.effect(ofLastDay: $0) } ?? "")
      \(effect.markup)
      <h2>How to undo it</h2>
      <p>Set the former values in the same way. Rows that were taken away come back with the bundle after that.</p>
      <form method="post" action="user-set">
      \(Self.hidden(change.fields + [("seen", change.mark(effect))]))\(Self.hidden(attributes: change.attributes))
      <div class="bar"><button class="main">Change \(name) now</button>
      <a class="button" href="user?name=\(percentEncoded(name))">Back, change nothing</a></div>
      </form>
      """, at: .users, open: try hub.openConflicts(), status: status)
  }

  /// Changes a user, if the effect is still the effect that the person saw.
  func setUser(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let change = try UserChange(request, hub, self)
    let seen = try request.needed("seen")
    guard try change.mark(change.effect(hub, now)) == seen else { return try page(change, hub, status: 409) }
    let user = try hub.setUser(change.user.name, attributes: change.attributes, expires: change.expires)
    return .seeOther("user?name=\(percentEncoded(user.name))&done=1")
  }
}

/// A change of a user's attributes and last day, as a person filled it in.
private struct UserChange {
  let user: User
  let attributes: [(name: String, value: String)]
  /// The typed last day. nil if the last day does not change.
  let day: String?
  let expires: Int64??

  init(_ request: WebRequest, _ hub: HubWorkspace, _ site: ConsoleSite) throws {
    user = try hub.user(request.needed("name"))
    attributes = try site.typedAttributes(request, of: user, hub)
    day = request.typedLastDay == site.lastDay(user.expires) ? nil : request.typedLastDay
    expires = try day.map { try HubTool.lastDay($0, by: site.context.platform.clock) }
    if attributes.isEmpty, day == nil { throw UsageError("nothing to change: the fields have the present values") }
  }

  var fields: [(name: String, value: String)] {
    [("name", user.name)] + (day.map { [("expires", $0)] } ?? [])
  }

  func effect(_ hub: HubWorkspace, _ now: Int64) throws -> EffectMarkup {
    EffectMarkup(preview: try hub.preview(user: user.name, attributes: attributes), now: now)
  }

  /// A text that changes if the effect or the present state of the user changes.
  func mark(_ effect: EffectMarkup) -> String {
    effect.mark(replacing: [Words.fields(user.attributes), String(user.expires ?? 0)])
  }
}
