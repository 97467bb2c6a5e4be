import SatchelConflicts
import SatchelHub
import SatchelPlatform
import SatchelValues

/// The filter of a list of conflicts, as the address of a page gives it.
struct ConflictQuery {
  private(set) var filter = ConflictFilter()
  /// The names and values in the address. Empty values are left out.
  private(set) var fields: [(name: String, value: String)] = []

  /// The choices of states: the word in the address, the words on the page, and the states. The first choice is the
  /// usual one.
  static let states: [(word: String, words: String, states: [ConflictState])] = [
    ("waiting", "open and held", [.open, .held]), ("open", "open", [.open]), ("held", "held", [.held]),
    ("resolved", "resolved", [.resolved]), ("settled", "settled", [.settled]), ("all", "all", ConflictState.allCases),
  ]

  /// The longest text that is searched for.
  private static let mostText = 200

  /// - Throws: a `UsageError` if a value of the address has no meaning.
  init(_ request: WebRequest, _ hub: HubWorkspace, by clock: any WallClock) throws {
    func field(_ name: String) -> String? {
      guard let value = request.filled(name) else { return nil }
      fields.append((name, value))
      return value
    }
    func time(_ name: String, _ read: (String) -> Int64?) throws -> Int64? {
      guard let text = field(name) else { return nil }
      guard let time = read(text) else { throw UsageError("the day \"\(text)\" is written as in 2026-01-31") }
      return time
    }
    if let word = request.filled("state"), word != Self.states[0].word {
      guard let chosen = Self.states.first(where: { $0.word == word }) else {
        throw UsageError("there is no state \"\(word)\"")
      }
      filter.states = chosen.states
      fields.append(("state", word))
    }
    filter.table = field("table").map { Name($0) }
    filter.kind = try field("kind").map { word in
      guard let kind = ConflictKind(rawValue: word) else { throw UsageError("there is no kind \"\(word)\"") }
      return kind
    }
    filter.user = field("user")
    filter.device = try field("device").map { name in
      guard let device = try hub.devices().first(where: { $0.name == name }) else {
        throw UsageError("there is no device \"\(name)\"")
      }
      return device.id
    }
    filter.from = try time("from", clock.beginning)
    filter.until = try time("until", clock.endOfLocalDay)
    filter.text = field("text").map { String($0.unicodeScalars.prefix(Self.mostText)) }
  }

  /// Limits the filter to these conflicts. `address` does not contain this limit.
  mutating func limit(to ids: [ConflictID]) { filter.ids = ids }

  func value(_ name: String) -> String { fields.first { $0.name == name }?.value ?? "" }

  /// The filter as the end of an address. It begins with `&`, and is empty for the usual filter.
  var address: String { fields.map { "&\($0.name)=\(percentEncoded($0.value))" }.joined() }

  /// The filter as hidden fields of a form.
  var hidden: Markup {
    let inputs = fields.map { "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">" as Markup }
    return "\(inputs)"
  }
}

extension ConflictQuery {
  /// The most choices in a list. If there are more, the person types the name.
  private static let mostChoices = 50

  /// The form with which a person changes the filter.
  func form(_ list: ConflictList) -> Markup {
    let kinds = ConflictKind.allCases.map { ($0.rawValue, $0.rawValue) }
    return """
      <form class="filter" method="get" action="conflicts" role="search">
      <label>Text <input name="text" type="search" maxlength="200" value="\(value("text"))" data-live></label>
      \(Self.select("state", "State", Self.states.map { ($0.word, $0.words) }, value("state")))
      \(choice("table", "Table", list.tables.map(\.text)))
      \(Self.select("kind", "Kind", [("", "any")] + kinds, value("kind")))
      \(choice("device", "Device", list.devices.map(\.name)))
      \(choice("user", "User", list.users))
      <label>From <input name="from" type="date" value="\(value("from"))"></label>
      <label>To <input name="until" type="date" value="\(value("until"))"></label>
      <button>Filter</button>\(fields.isEmpty ? "" : " <a class=\"button\" href=\"conflicts\">Clear</a>" as Markup)
      </form>
      """
  }

  private func choice(_ name: String, _ title: String, _ words: [String]) -> Markup {
    let chosen = value(name)
    if words.count > Self.mostChoices || !(chosen.isEmpty || words.contains(chosen)) {
      return "<label>\(title) <input name=\"\(name)\" value=\"\(chosen)\"></label>"
    }
    return Self.select(name, title, [("", "any")] + words.map { ($0, $0) }, chosen)
  }

  private static func select(
    _ name: String, _ title: String, _ options: [(value: String, words: String)], _ chosen: String
  ) -> Markup {
    let items = options.map { option -> Markup in
      let selected: Markup = option.value == chosen ? " selected" : ""
      return option.value == option.words
        ? "<option\(selected)>\(option.words)</option>"
        : "<option value=\"\(option.value)\"\(selected)>\(option.words)</option>"
    }
    return "<label>\(title) <select name=\"\(name)\">\(items)</select></label>"
  }
}
