import SatchelHub
import SatchelPlatform

/// The console's pages. Each request opens the hub again, as a command does, and calls the functions that commands use.
struct ConsoleSite: Sendable {
  let command: ParsedCommand
  let context: CommandContext
  let gate: ConsoleGate
  let work = ConsoleWork()

  /// The most bytes that all fields of a form may hold together: as many as a row may have.
  private static let mostBytes = 64 << 20

  /// Decides about a request before any byte of its body is stored. Rejects a request that the gate does not admit, or
  /// that is too large. Only forms have a body.
  func receive(_ request: WebRequest) -> WebIntake {
    let verdict = gate.verdict(on: request)
    if case .refused(let answer) = verdict { return .refused(Self.sealed(answer)) }
    guard request.method == "POST", case .admitted(let page) = verdict else { return .nothing }
    guard page == Self.importPage || page == Self.enrolPage else { return .form(mostBytes: Self.mostBytes, files: nil) }
    do {
      let hub = try HubTool.open(command, context)
      let bytes = request.header("content-length").flatMap { Int64($0) }
      return .form(
        mostBytes: Self.mostBytes, files: try ConsoleUpload(bytes, in: hub.folder, platform: context.platform))
    } catch { return .thrownAway(Self.failed(error)) }
  }

  private static let importPage = "import"

  func answer(_ request: WebRequest) -> WebResponse {
    switch gate.verdict(on: request) {
    case .refused(let answer): Self.sealed(answer)
    case .enters(let token): Self.sealed(gate.enter(token))
    case .admitted(let page): Self.sealed(served(page, request))
    }
  }

  private static func sealed(_ response: WebResponse) -> WebResponse {
    var response = response
    response.headers += [
      ("X-Frame-Options", "DENY"),
      ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"), ("Cache-Control", "no-store"),
    ]
    return response
  }

  /// The answer to a request that failed.
  static func failed(_ error: any Error) -> WebResponse { sealed(failurePage(error)) }

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

  private func served(_ page: String, _ request: WebRequest) -> WebResponse {
    do {
      let hub = try HubTool.open(command, context)
      return try request.method == "POST" ? done(page, request, hub) : shown(page, request, hub)
    } catch { return Self.failurePage(error) }
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

  /// A path that a person typed in a form. The console's own folder is not known to that person.
  static func fullPath(_ typed: String) throws -> String {
    guard Paths.isAbsolute(typed) else { throw UsageError("a path is written in full, as in /media/stick/tablet-1") }
    return typed
  }

  var now: Int64 { context.platform.clock.milliseconds() }

  /// A moment in local time, for people.
  /// - Parameter milliseconds: since 1970.
  func local(_ milliseconds: Int64) -> String { context.platform.clock.localText(milliseconds: milliseconds) }
}

extension WebRequest {
  /// A required field of a form or an address. Throws a `UsageError` if it is missing or empty.
  func needed(_ name: String) throws -> String {
    guard let value = value(name), !value.isEmpty else { throw UsageError("the field \(name) is empty") }
    return value
  }

  /// Like `value`, but nil for an empty field.
  func filled(_ name: String) -> String? { value(name).flatMap { $0.isEmpty ? nil : $0 } }
}

/// Text, encoded as a part of an address.
func percentEncoded(_ text: String) -> String {
  let plain = Array("-._~".utf8)
  return text.utf8.map { byte in
    let isPlain =
      (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || plain.contains(byte)
    return isPlain
      ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }.joined()
}
