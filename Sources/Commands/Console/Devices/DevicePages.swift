import SatchelHub
import SatchelPlatform
import SatchelValues

/// The pages about devices and users. Each act has a page that says what will happen, and changes nothing. Its form
/// then does the act.
extension ConsoleSite {
  /// The page that receives the request file of a device.
  static let enrolPage = "enrol"

  static let peoplePages: Set<String> = [
    "devices", "device", "device-set", "device-hold", "device-revoke", enrolPage, "enrol-now", "provision",
    "users", "user", "user-set", "user-add",
  ]

  func people(_ page: String, _ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    switch page {
    case "devices": try devices(request, hub)
    case "device": try device(request, hub)
    case "device-set": try settingDevice(request, hub)
    case "device-hold": try holding(request, hub)
    case "device-revoke": try revoking(request, hub)
    case Self.enrolPage: try enrolment(hub)
    case "provision": try provisioning(request, hub)
    case "users": try users(request, hub)
    case "user": try user(request, hub)
    case "user-set": try settingUser(request, hub)
    case "user-add": try addingUser(request, hub)
    default: Self.nowhere
    }
  }

  func changePeople(_ page: String, _ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    switch page {
    case "device-set": try setDevice(request, hub)
    case "device-hold": try hold(request, hub)
    case "device-revoke": try revoke(request, hub)
    case Self.enrolPage: try comparison(request, hub)
    case "enrol-now": try enrol(request, hub)
    case "provision": try provision(request, hub)
    case "user-set": try setUser(request, hub)
    case "user-add": try addUser(request, hub)
    default: Self.nowhere
    }
  }

  /// The form with which a person searches a list.
  static func search(_ page: String, _ label: String, _ text: String?) -> Markup {
    """
    <form class="filter" method="get" action="\(page)" role="search">
    <label>\(label) <input type="search" name="text" maxlength="100" value="\(text ?? "")" data-live></label>
    <button>Find</button>
    </form>
    """
  }

  /// The address of a page of a searched list. The number of the page follows it.
  static func pages(of page: String, _ text: String?) -> String {
    "\(page)?\(text.map { "text=\(percentEncoded($0))&" } ?? "")page="
  }

  /// This text replaces the form for a device if the hub has no user.
  static let noUserYet: Markup =
    "<p>A device works for a user. <a class=\"button main\" href=\"users\">Add a user first</a></p>"

  /// Opens the hub for a dry run.
  func rehearsing() throws -> HubWorkspace {
    try HubWorkspace.open(
      command.directory, platform: context.platform, runMode: .dryRun, passwords: command.passwords(context))
  }

  /// The warning on the page of an act whose effect changed after the person saw it.
  static let otherEffect: Markup = """
    <p class="warning" role="alert">Nothing was changed: the effect is not the same any more. Look again.</p>

    """

  /// The last day of a user or a device, as a local date. Empty if there is none.
  /// - Parameter expires: the beginning of the day after the last day, in milliseconds since 1970.
  func lastDay(_ expires: Int64?) -> String {
    expires.map { context.platform.clock.localDay(milliseconds: $0 - 1) } ?? ""
  }

  /// The form field for a last day.
  func dayField(_ expires: Int64?) -> Markup {
    """
    <label>Last day <input name="expires" type="date" value="\(lastDay(expires))"></label>
    """
  }

  /// The button that removes the last day. In the form, it comes after the field of the day.
  static func noLastDay(_ expires: Int64?) -> Markup {
    expires == nil ? "" : "<button name=\"expires\" value=\"never\">No last day ...</button>"
  }

  /// Says what a typed last day does.
  func effect(ofLastDay text: String) throws -> Markup {
    guard let time = try HubTool.lastDay(text, by: context.platform.clock) else {
      return "<p class=\"notice\">There is no last day any more.</p>"
    }
    return time <= now
      ? "<p class=\"warning\">\(HubTool.dayIsOver(text))</p>"
      : "<p class=\"notice\">\(text) is the last day: no bundle is made or accepted after it.</p>"
  }

  /// The most users in a list of choices. If there are more, the person types the name.
  private static let mostChoices = 50

  /// The field in which a person chooses a user. Empty if there is no user to choose.
  static func userChoice(_ title: String, _ users: [User], besides present: String? = nil) -> Markup {
    let names = users.map(\.name).filter { $0 != present }
    if names.isEmpty { return "" }
    if names.count > mostChoices {
      return "<label>\(title) <input name=\"user\" maxlength=\"100\" required></label>"
    }
    return "<label>\(title) <select name=\"user\">\(names.map { "<option>\($0)</option>" as Markup })</select></label>"
  }

  static func hidden(_ fields: [(name: String, value: String)]) -> [Markup] {
    fields.map { "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">" }
  }

  /// The names of fields that are filled in, with their values.
  static func filled(_ names: [String], _ request: WebRequest) -> [(name: String, value: String)] {
    names.compactMap { name in request.filled(name).map { (name, $0) } }
  }
}

extension WebRequest {
  /// The typed last day; nil if nothing was typed. The button for no last day comes after the field and has the same
  /// name. So the button's value replaces the typed day.
  var typedLastDay: String? { all("expires").last { !$0.isEmpty } }
}
