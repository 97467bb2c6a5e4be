import SatchelPlatform
import Synchronization

/// The pages of the window. Each request opens the device again, as a command does.
struct WindowSite: LocalSite {
  let command: ParsedCommand
  let context: CommandContext
  let gate: PageGate
  let work = PageWork<WindowTask>()
  private let chosen: ChosenLanguage

  /// Throws a `UsageError` if the command line names an unknown language.
  init(command: ParsedCommand, context: CommandContext, gate: PageGate) throws {
    self.command = command
    self.context = context
    self.gate = gate
    chosen = ChosenLanguage(try WindowLanguage.named(by: command))
  }

  /// The most bytes of a form. The forms have a path and a few words.
  private static let mostBytes = 64 << 10

  func intake(_ page: String, _ request: WebRequest) -> WebIntake { .form(mostBytes: Self.mostBytes, files: nil) }

  func served(_ page: String, _ request: WebRequest) -> WebResponse {
    let words = WindowWords(chosen.language ?? Self.language(of: request))
    do {
      return try request.method == "POST" ? done(page, request, words) : shown(page, request, words)
    } catch {
      let failure = Failure(error)
      let content: Markup = """
        <div class="card bad" role="alert"\(Self.english(words))><p>\(failure.message)</p>
        \(failure.hint.map { "<p>\($0)</p>" as Markup } ?? "")</div>
        \(Self.toHome(words))
        """
      return frame(words(.didNotWork), content, words, status: failure.code == .usage ? 400 : 409)
    }
  }

  private func shown(_ page: String, _ request: WebRequest, _ words: WindowWords) throws -> WebResponse {
    switch page {
    case "": try home(words)
    case "work": workPage(words)
    case "language": choose(request)
    case Page.styleName: .bytes(Array(StyleSheet.text.text.utf8), type: "text/css; charset=utf-8")
    default: frame(words(.noPage), Self.toHome(words), words, status: 404)
    }
  }

  private func done(_ page: String, _ request: WebRequest, _ words: WindowWords) throws -> WebResponse {
    switch page {
    case "sync": try sync(request, words)
    default: frame(words(.noPage), Self.toHome(words), words, status: 404)
    }
  }

  // MARK: Languages

  private static func language(of request: WebRequest) -> WindowLanguage {
    .preferred(request.header("accept-language"))
  }

  /// Changes the language of the pages. An unknown language changes nothing.
  private func choose(_ request: WebRequest) -> WebResponse {
    if let language = request.value("to").flatMap({ WindowLanguage(rawValue: $0) }) { chosen.choose(language) }
    return .seeOther("./")
  }

  /// The answer to a request that the gate does not admit.
  static func refused(_ refusal: GateRefusal, _ request: WebRequest) -> WebResponse {
    let words = WindowWords(language(of: request))
    let text: WindowText =
      switch refusal {
      case .noSession: .noSession
      case .usedToken: .usedToken
      case .otherAddress: .otherAddress
      case .method: .badMethod
      case .foreignForm: .foreignForm
      }
    return .refusal(refusal, title: words(.refused), words(text), language: words.language)
  }

  // MARK: The frame of a page

  /// A page with links to the languages.
  func frame(_ title: String, _ content: Markup, _ words: WindowWords, status: Int = 200) -> WebResponse {
    let links = WindowLanguage.allCases.map { language -> Markup in
      let code = language.code
      let current: Markup = language == words.language ? " aria-current=\"true\"" : ""
      return """
        <li><a href="language?to=\(code)" lang="\(code)" hreflang="\(code)"\(current)>\(language.name)</a></li>

        """
    }
    let header: Markup = """
      <a class="skip" href="#main">\(words(.toContent))</a>
      <header class="top"><nav class="languages" aria-label="\(words(.language))"><ul>
      \(links)</ul></nav></header>
      """
    let page = Page(
      title: title, style: .besideAlone, header: header, content: content, language: words.language.code,
      direction: words.language.direction)
    return .page(page, status: status)
  }

  /// The state of a part of the page that a person can open and close.
  enum PartState {
    case open, closed
  }

  /// A part of the page in English. Its title is in the language of the page.
  static func inEnglish(
    _ content: Markup, named title: WindowText, _ words: WindowWords, state: PartState = .closed
  ) -> Markup {
    let open: Markup = state == .open ? " open" : ""
    let own: Markup = words.language.direction == .leftToRight ? "" : " dir=\"rtl\""
    return """
      <details\(english(words))\(open)><summary lang="\(words.language.code)"\(own)>\(words(title))</summary>
      \(content)</details>
      """
  }

  /// The attributes of a part of the page in English.
  private static func english(_ words: WindowWords) -> Markup {
    words.language.direction == .leftToRight ? " lang=\"en\"" : " lang=\"en\" dir=\"ltr\""
  }

  static func toHome(_ words: WindowWords) -> Markup {
    "<p><a class=\"button main big\" href=\"./\">\(words(.back))</a></p>"
  }
}

/// The language that a person chose in this window or on its command line. nil: the browser's language is used.
private final class ChosenLanguage: Sendable {
  private let state: Mutex<WindowLanguage?>

  init(_ language: WindowLanguage?) { state = Mutex(language) }

  var language: WindowLanguage? { state.withLock { $0 } }
  func choose(_ language: WindowLanguage) { state.withLock { $0 = language } }
}
