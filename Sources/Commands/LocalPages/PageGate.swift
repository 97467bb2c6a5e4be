import SatchelPlatform
import SatchelValues
import Synchronization

/// Why a request is not answered.
enum GateRefusal: CaseIterable {
  /// The request has no session.
  case noSession
  /// The address was used already, or belongs to another run.
  case usedToken
  /// The request names another address than this machine's own.
  case otherAddress
  case method
  /// The form comes from a page of another site.
  case foreignForm

  var status: Int { self == .method ? 405 : 403 }
}

/// Admits only the browser of the person who started the pages. Other users of the machine do not know the token.
/// Pages of other sites can neither read an answer nor start an action.
///
/// A session has two secrets: a cookie, and the folder of all its pages. A cookie is valid for all ports, so the
/// browser would send it to any server on this machine. Because this cookie is for that folder alone, the browser sends
/// it only in requests for an address with the folder's name.
final class PageGate: Sendable {
  /// Makes the answer to a request that is not admitted.
  typealias Refuse = @Sendable (GateRefusal, WebRequest) -> WebResponse

  private struct State {
    var port: UInt16 = 0
    /// The token. nil after it was used.
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
  private let refuse: Refuse
  /// The secret in the address that is shown.
  let token: String

  init(random: any RandomSource, refuse: @escaping Refuse) {
    self.refuse = refuse
    token = Hexadecimal.text(of: random.bytes(24))
    session = Hexadecimal.text(of: random.bytes(24))
    folder = "/\(Hexadecimal.text(of: random.bytes(24)))/"
    state = Mutex(State(token: token))
  }

  /// Sets the port under which the pages are reachable.
  func open(port: UInt16) { state.withLock { $0.port = port } }

  private var names: [String] {
    let port = state.withLock { $0.port }
    return ["127.0.0.1:\(port)", "localhost:\(port)"]
  }

  /// The name of the session's cookie. It contains the port, so that two sessions on this machine have different
  /// cookies.
  private var cookie: String { "satchel-\(state.withLock { $0.port })" }

  /// Judges a request by its first lines. This changes nothing, so it can be called again.
  func verdict(on request: WebRequest) -> Verdict {
    if let refusal = refusal(of: request) { return .refused(refuse(refusal, request)) }
    if request.method == "GET", request.path == "/", let token = request.value("token") {
      return isFresh(token) ? .enters(token: token) : .refused(refuse(.usedToken, request))
    }
    guard let given = request.cookie(cookie), isEqual(given, session),
      isEqual(String(request.path.prefix(folder.count)), folder)
    else { return .refused(refuse(.noSession, request)) }
    return .admitted(page: String(request.path.dropFirst(folder.count)))
  }

  /// Why a request is refused. nil if it uses this machine's own address and does not come from a page of another site.
  private func refusal(of request: WebRequest) -> GateRefusal? {
    // The name of another site may resolve to this machine. The request still contains that name, so it is refused.
    guard let host = request.header("host"), names.contains(host) else { return .otherAddress }
    guard ["GET", "HEAD", "POST"].contains(request.method) else { return .method }
    if request.method != "POST" { return nil }
    // Every browser sends the origin of a form. The origin must have the host of this request: a server at the same
    // port may use this machine's other name.
    guard request.header("origin") == "http://\(host)" else { return .foreignForm }
    return nil
  }

  private func isFresh(_ given: String) -> Bool {
    state.withLock { state in state.token.map { isEqual($0, given) } ?? false }
  }

  /// Begins the session. After that the token is worthless.
  func enter(_ given: String, _ request: WebRequest) -> WebResponse {
    let isRight = state.withLock { state in
      guard let token = state.token, isEqual(token, given) else { return false }
      state.token = nil
      return true
    }
    if !isRight { return refuse(.usedToken, request) }
    var response = WebResponse.seeOther(folder)
    response.headers.append(("Set-Cookie", "\(cookie)=\(session); HttpOnly; SameSite=Strict; Path=\(folder)"))
    return response
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
