import SatchelHub
import SatchelPlatform

/// The console's pages. Each request opens the hub again, as a command does, and calls the functions that commands use.
struct ConsoleSite: LocalSite {
  let command: ParsedCommand
  let context: CommandContext
  let gate: PageGate
  let work = PageWork<ConsoleTask>()

  /// The most bytes that all fields of a form may hold together: as many as a row may have.
  private static let mostBytes = 64 << 20

  func intake(_ page: String, _ request: WebRequest) -> WebIntake {
    guard page == Self.importPage || page == Self.enrolPage else { return .form(mostBytes: Self.mostBytes, files: nil) }
    do {
      let hub = try HubTool.open(command, context)
      let bytes = request.header("content-length").flatMap { Int64($0) }
      return .form(
        mostBytes: Self.mostBytes, files: try ConsoleUpload(bytes, in: hub.folder, platform: context.platform))
    } catch { return .thrownAway(Self.failed(error)) }
  }

  private static let importPage = "import"

  /// The answer to a request that the gate does not admit.
  static func refused(_ refusal: GateRefusal, _ request: WebRequest) -> WebResponse {
    let words =
      switch refusal {
      case .noSession:
        """
        Open the address that satchel-hub console shows. It works once. For another browser, start the console again.
        """
      case .usedToken:
        "This address was used already, or belongs to another console. Start satchel-hub console again."
      case .otherAddress: "This console has only one address, and it is on this machine."
      case .method: "The console does not know this method."
      case .foreignForm: "This form does not come from the console's own pages."
      }
    return .refusal(refusal, title: "Refused", words)
  }

  /// The answer to a request that failed.
  static func failed(_ error: any Error) -> WebResponse { failurePage(error).sealed }

  private static func failurePage(_ error: any Error) -> WebResponse {
    let failure = Failure(error)
    let content: Markup = """
      <p class="warning" role="alert">\(failure.message)</p>
      \(failure.hint.map { "<p>\($0)</p>" as Markup } ?? "")
      <p>Go back in the browser: what you filled in is still there. Or go <a href="./">to the overview</a>.</p>
      """
    return frame(
      "That did not work", content,
      status: failure.code == .usage ? 400 : 409)
  }

  func served(_ page: String, _ request: WebRequest) -> WebResponse {
    do {
      let hub = try HubTool.open(command, context)
      return try request.method == "POST"
        ? done(page, request, acting(hub, page, request)) : shown(page, request, hub)
    } catch { return Self.failurePage(error) }
  }

  /// The pages whose forms are acts of an operator. The pages about devices and users are in `peoplePages`.
  private static let decisions: Set<String> = ["conflict", "conflicts", "reopen"]

  /// The hub that records the form as an act of an operator. If the form is no act, the hub as it was.
  private func acting(_ hub: HubWorkspace, _ page: String, _ request: WebRequest) throws -> HubWorkspace {
    guard Self.decisions.contains(page) || Self.peoplePages.contains(page) else { return hub }
    let fields = request.form.filter { !["note", "seen", "row"].contains($0.name) }.map { "\($0.name)=\($0.text)" }
    return try OperatorOptions.acting(
      hub, as: OperatorOptions.name(command, context),
      ActDraft(what: "console \(page)", about: fields, why: request.filled("note")))
  }

  private func shown(_ page: String, _ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    switch page {
    case "": try overview(hub)
    case let page where Self.peoplePages.contains(page): try people(page, request, hub)
    case "steps": try steps(hub)
    case "conflicts": try conflicts(request, hub)
    case "decide": try rehearsal(request, hub)
    case "conflict": try conflict(request, hub)
    case "rows": try rows(request, hub)
    case "row", "history": try row(request, hub)
    case "file": try file(request, hub)
    case "reopen": try reopening(request)
    case "scopes": try scopes(request, hub)
    case "bundles": try bundles(request, hub)
    case "work": workPage()
    case "sticks": try sticks(hub)
    case "emit": try emitPage(request, hub)
    case "download": try download(request, hub)
    case "braked": try braked(request, hub)
    case "log": try log(request, hub)
    case "log.csv": try logCSV(request, hub)
    case "dataset": try dataset(request, hub)
    case "dataset.json": try definition(hub)
    case "upkeep": try upkeep(hub)
    case Page.styleName: .bytes(Array(StyleSheet.text.text.utf8), type: "text/css; charset=utf-8")
    case Page.scriptName: .bytes(Array(ConsoleScript.text.utf8), type: "text/javascript; charset=utf-8")
    default: Self.nowhere
    }
  }

  private func done(_ page: String, _ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    switch page {
    case "conflict": try decide(request, hub)
    case "conflicts": try decideMany(request, hub)
    case "reopen": try reopen(request, hub)
    case let page where Self.peoplePages.contains(page): try changePeople(page, request, hub)
    case Self.importPage: try take(request)
    case "sync": try sync(request)
    case "emit": try emit(request)
    case "braked": try decideBraked(request, hub)
    case "try-braked": try tryBraked(request, hub)
    case "backup": try backUp(request)
    case "doctor": try doctor(request)
    default: Self.nowhere
    }
  }

  /// Checks that a person typed a full path in a form. The person does not know the folder in which the console runs.
  static func fullPath(_ typed: String) throws -> String {
    guard Paths.isAbsolute(typed) else { throw UsageError("a path is written in full, as in /media/stick/tablet-1") }
    return typed
  }

  var now: Int64 { context.platform.clock.milliseconds() }

  /// A moment in local time, for people.
  /// - Parameter milliseconds: since 1970.
  func local(_ milliseconds: Int64) -> String { context.platform.clock.localText(milliseconds: milliseconds) }
}
