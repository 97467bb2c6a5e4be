import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension HubTool {
  static var users: [Command] { [add, set, importTable, remove, list] }

  private static let attributesArgument = ArgumentSpec(
    "ATTRIBUTE=VALUE", .zeroOrMore, help: "attributes that the dataset's rules use; the dataset declares them")

  private static var add: Command {
    Command(
      ["user", "add"], summary: "add a user",
      discussion:
        "Adds a user of the dataset's rows. The rules decide which rows the user may see and write.",
      arguments: [ArgumentSpec("NAME", help: "the user's name"), attributesArgument],
      examples: [Example("satchel-hub user add ann region=north", "Ann works in the north.")], changesData: true
    ) { command, context in
      let user = try open(command, context).addUser(command.argument("NAME"), attributes: try attributes(command))
      return Answer("Added the user \(words(user)).\n", ["user": json(user)])
    }
  }

  private static var set: Command {
    Command(
      ["user", "set"], summary: "change a user's attributes",
      discussion:
        """
        Changes the attributes that are named; the others stay. Rows that this grants or takes away go out with the \
        next emit. Before the change, the command shows how many rows the user gets and loses, and the user's devices. \
        At a terminal it asks if the user loses rows. --dry-run only shows.
        """,
      arguments: [ArgumentSpec("NAME", help: "the user's name"), attributesArgument],
      options: [expiry, Confirmation.yes],
      examples: [
        Example("satchel-hub user set ann region=south", "Ann moves to the south."),
        Example("satchel-hub user set ann --expires 2026-12-31", "Her contract ends."),
      ], changesData: true
    ) { command, context in
      let (hub, name) = (try open(command, context), command.argument("NAME"))
      let (typed, expires) = (try attributes(command), try command.expiry(context))
      let effect = try ScopePreviewText(asking: hub.preview(user: name, attributes: typed), command, context)
      let former = try hub.users().first { Name($0.name) == Name(name) }?.expires
      let user = try hub.setUser(name, attributes: typed, expires: expires)
      let keptOut = try expires == nil ? 0 : hub.changesKeptOut(of: user, after: former)
      return Answer(
        """
        \(effect.answer)The user \(command.dryRun ? "would be" : "is now") \(words(user)).
        \(letIn(keptOut))
        """,
        ["user": json(user), "effect": effect.json, "kept_out": .integer(Int64(keptOut))])
    }
  }

  static let expiry = OptionSpec(
    "expires", kind: .value("DATE"),
    help: "the last day, such as 2026-12-31: no bundle is made or accepted after it; never: no last day")

  private static var importTable: Command {
    Command(
      ["user", "import"], summary: "add and change users from a table",
      discussion: """
        Reads values that are separated by commas, semicolons or tabs, as spreadsheets write them. The first line \
        names the columns: the first column holds the user's name, the others attributes. Each further line is a user. \
        An empty field changes nothing. Either all users are accepted, or none. Before the change, the command shows \
        how many rows the users get and lose, and their devices. At a terminal it asks if users lose rows.
        """,
      arguments: [ArgumentSpec("FILE", help: "the table")], options: [Confirmation.yes],
      examples: [Example("satchel-hub user import team.csv", "user,region / ann,north / ben,south")], changesData: true
    ) { command, context in
      let path = command.path(command.argument("FILE"))
      let bytes = try context.platform.files.read(path, limit: 64 << 20)
      guard let rows = CSV.rows(String(decoding: bytes, as: UTF8.self)) else {
        throw WorkspaceError(.badCsv, "In \(path) a quote is not closed.", hint: "Save it as CSV again.")
      }
      let hub = try open(command, context)
      let effect = try ScopePreviewText(asking: hub.preview(users: rows), command, context)
      let (added, changed) = try hub.importUsers(rows)
      return Answer(
        """
        \(effect.answer)\(command.dryRun ? "Would add" : "Added") \(Words.count(added, "user")), changed \(changed).

        """,
        ["added": .integer(Int64(added)), "changed": .integer(Int64(changed)), "effect": effect.json])
    }
  }

  private static var remove: Command {
    Command(
      ["user", "remove"], summary: "remove a user who has no device",
      discussion: "Removes a user. The user's changes stay in the history.",
      arguments: [ArgumentSpec("NAME", help: "the user's name")],
      examples: [Example("satchel-hub user remove ann", "Ann has left.")], changesData: true
    ) { command, context in
      let name = command.argument("NAME")
      try open(command, context).removeUser(name)
      return Answer("Removed the user \(name).\n", ["user": .string(name)])
    }
  }

  private static var list: Command {
    Command(
      ["user", "list"], summary: "list the users", discussion: "Shows all users with their attributes.",
      examples: [Example("satchel-hub user list", "Shows the users.")]
    ) { command, context in
      let users = try open(command, context).users()
      var table = TextTable(["USER", "ATTRIBUTES", "UNTIL"])
      for user in users {
        let until = user.expires.map { context.platform.clock.localText(milliseconds: $0) }
        table.add([user.name, Words.fields(user.attributes), until ?? ""])
      }
      let text: TerminalText =
        users.isEmpty ? "There is no user yet: satchel-hub user add NAME\n" : table.text(width: nil)
      return Answer(text, ["users": .array(users.map(json))])
    }
  }

  private static func attributes(_ command: ParsedCommand) throws -> [(name: String, value: String)] {
    try command.arguments("ATTRIBUTE=VALUE").map { word in
      guard let assignment = Assignment(word) else {
        throw UsageError("an attribute is given as NAME=VALUE, not as \"\(word)\"")
      }
      return (assignment.name, assignment.value)
    }
  }

  private static func words(_ user: User) -> String {
    user.attributes.isEmpty ? user.name : "\(user.name) (\(Words.fields(user.attributes)))"
  }

  private static func json(_ user: User) -> JSONValue {
    ["name": .string(user.name), "attributes": .fields(user.attributes), "expires": .time(user.expires)]
  }
}

extension ParsedCommand {
  /// The value of `--expires`, in milliseconds since 1970. nil if the option is absent; `.some(nil)` for "never".
  ///
  /// If the last day is over, a person at the terminal must confirm it.
  func expiry(_ context: CommandContext) throws -> Int64?? {
    guard let text = value(HubTool.expiry.long) else { return nil }
    let time = try HubTool.lastDay(text, by: context.platform.clock)
    if let time, time <= context.platform.clock.milliseconds() {
      try Confirmation.ask("\(HubTool.dayIsOver(text)) Is that meant?", self, context)
    }
    return .some(time)
  }
}

extension HubTool {
  /// The end of a typed day, in milliseconds since 1970. nil for "never".
  static func lastDay(_ text: String, by clock: any WallClock) throws -> Int64? {
    if text == "never" { return nil }
    guard let time = clock.endOfLocalDay(text) else {
      throw UsageError("--expires takes a day such as 2026-12-31, or never")
    }
    return time
  }

  /// The next step for changes that the hub refused because of a former last day. Empty if there are none.
  static func letIn(_ count: Int) -> TerminalText {
    if count == 0 { return "" }
    return """
      The former last day kept out \(Words.count(count, "change")). To see them: satchel-hub conflicts
      To let a change in: satchel-hub conflicts resolve ID --keep device

      """
  }

  /// The effect of a last day in the past.
  static func dayIsOver(_ day: String) -> String { "\(day) is over: no bundle is made or accepted any more." }
}
