import SatchelPlatform
import SatchelValues
import Synchronization

/// Admits only the browser of the person who started the console. Other users of the machine do not know the token.
/// Pages of other sites can neither read an answer nor start an action.
///
/// A session has two secrets: a cookie, and the folder of all its pages. A cookie is valid for all ports, so the
/// browser would send it to any server on this machine. Because this cookie is for that folder alone, the browser sends
/// it only in requests for an address with the folder's name.
final class ConsoleGate: Sendable {
  private struct State {
    var port: UInt16 = 0
    /// The token, until it is used. Then nil.
    var token: String?
  }

  /// The verdict on a request.
  enum Verdict {
    case refused(WebResponse)
    /// The request has the token that begins the session.
    case enters(token: String)
    /// The request belongs to the session, and requests this page.
    case admitted(page: String)
  }

  private let state: Mutex<State>
  private let session: String
  private let folder: String
  /// The secret in the address that is shown.
  let token: String

  init(random: any RandomSource) {
    token = Hexadecimal.text(of: random.bytes(24))
    session = Hexadecimal.text(of: random.bytes(24))
    folder = "/\(Hexadecimal.text(of: random.bytes(24)))/"
    state = Mutex(State(token: token))
  }

  /// Sets the port under which the console is reachable from now on.
  func open(port: UInt16) { state.withLock { $0.port = port } }

  private var names: [String] {
    let port = state.withLock { $0.port }
    return ["127.0.0.1:\(port)", "localhost:\(port)"]
  }

  /// The port is in the name, so that two consoles on this machine have different cookies.
  private var cookie: String { "satchel-\(state.withLock { $0.port })" }

  /// Judges a request by its first lines. This changes nothing, so it can be called again.
  func verdict(on request: WebRequest) -> Verdict {
    if let refusal = refusal(of: request) { return .refused(refusal) }
    if request.method == "GET", request.path == "/", let token = request.value("token") {
      return isFresh(token) ? .enters(token: token) : .refused(Self.usedToken)
    }
    guard let given = request.cookie(cookie), isEqual(given, session),
      isEqual(String(request.path.prefix(folder.count)), folder)
    else {
      return .refused(
        .refusal(
          403,
          """
          Open the address that satchel-hub console shows. It works once. For another browser, start the console \
          again.
          """
        )
      )
    }
    return .admitted(page: String(request.path.dropFirst(folder.count)))
  }

  /// The refusal of a request. nil if the request uses the console's own address and comes from the console's own
  /// pages.
  private func refusal(of request: WebRequest) -> WebResponse? {
    // Another site's name may resolve to this machine, but the request still contains that name.
    guard let host = request.header("host"), names.contains(host) else {
      return .refusal(403, "This console has only one address, and it is on this machine.")
    }
    guard ["GET", "HEAD", "POST"].contains(request.method) else {
      return .refusal(405, "The console does not know this method.")
    }
    if request.method != "POST" { return nil }
    // Every browser sends the origin of a form.
    guard let origin = request.header("origin"), names.contains(where: { origin == "http://\($0)" }) else {
      return .refusal(403, "This form does not come from the console's own pages.")
    }
    return nil
  }

  private func isFresh(_ given: String) -> Bool {
    state.withLock { state in state.token.map { isEqual($0, given) } ?? false }
  }

  /// Begins the session. The token is worthless from then on.
  func enter(_ given: String) -> WebResponse {
    let isRight = state.withLock { state in
      guard let token = state.token, isEqual(token, given) else { return false }
      state.token = nil
      return true
    }
    if !isRight { return Self.usedToken }
    var response = WebResponse.seeOther(folder)
    response.headers.append(("Set-Cookie", "\(cookie)=\(session); HttpOnly; SameSite=Strict; Path=\(folder)"))
    return response
  }

  private static var usedToken: WebResponse {
    .refusal(403, "This address was used already, or belongs to another console. Start satchel-hub console again.")
  }
}

/// Compares in a time that does not depend on the length of the equal part.
private func isEqual(_ a: String, _ b: String) -> Bool {
  let (a, b) = (Array(a.utf8), Array(b.utf8))
  return a.count == b.count && zip(a, b).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
}

extension WebRequest {
  fileprivate func cookie(_ name: String) -> String? {
    for pair in (header("cookie") ?? "").split(separator: ";") {
      let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
      if parts.count == 2, parts[0] == name { return String(parts[1]) }
    }
    return nil
  }
}

extension WebResponse {
  static func page(_ page: Page, status: Int = 200) -> WebResponse {
    WebResponse(
      status: status,
      headers: [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Security-Policy", page.style.policy + "; frame-ancestors 'none'"),
      ], body: Array(page.markup.text.utf8))
  }

  /// An answer that is no page, such as a picture. If a browser showed it as a page, nothing in it would be run.
  static func bytes(_ bytes: [UInt8], type: String) -> WebResponse {
    WebResponse(status: 200, headers: [("Content-Type", type), noPage], body: bytes)
  }

  private static let noPage = ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")

  /// Redirects after a completed action, so that a reload of the page does not repeat the action.
  static func seeOther(_ address: String) -> WebResponse {
    WebResponse(status: 303, headers: [("Location", address), noPage], body: [])
  }

  static func refusal(_ status: Int, _ words: String) -> WebResponse {
    var response = page(Page(title: "Refused", content: "<p class=\"warning\">\(words)</p>"), status: status)
    response.headers.append(("Connection", "close"))
    return response
  }
}
