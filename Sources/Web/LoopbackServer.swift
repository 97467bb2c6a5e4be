import CMicroHTTPD
import Glibc
import SatchelPlatform

/// A web server for browsers on this machine only, made with libmicrohttpd.
public struct LoopbackServer: WebServer {
  public init() {}

  public func serve(
    port: UInt16, until end: any EndRequest, ready: (_ port: UInt16) -> Void,
    receive: @escaping @Sendable (WebRequest) -> WebIntake, answer: @escaping @Sendable (WebRequest) -> WebResponse
  ) throws(PlatformError) {
    // The first call of `comes` blocks the signals. The server's thread starts after this call and inherits the block,
    // so the signals reach only the caller's thread.
    if try end.comes(within: 0) { return }
    let answering = Answering(receive: receive, answer: answer)
    let address = "127.0.0.1:\(port)"
    guard
      let daemon = satchel_http_start(
        port,
        { answering, connection, url, method, _, bytes, count, exchange in
          guard let answering, let connection, let url, let method, let count, let exchange else { return .NO }
          return Unmanaged<Answering>.fromOpaque(answering).takeUnretainedValue()
            .handle(connection, String(cString: url), String(cString: method), bytes, count, exchange)
        }, Unmanaged.passUnretained(answering).toOpaque(),
        { answering, connection, exchange, _ in
          if let answering, let connection {
            Unmanaged<Answering>.fromOpaque(answering).takeUnretainedValue().connections.noteEnd(of: connection)
          }
          guard let exchange, let object = exchange.pointee else { return }
          Unmanaged<Exchange>.fromOpaque(object).release()
          exchange.pointee = nil
        },
        { answering, connection, _, event in
          guard let answering, let connection else { return }
          let connections = Unmanaged<Answering>.fromOpaque(answering).takeUnretainedValue().connections
          switch event {
          case .CONNECTION_NOTIFY_STARTED: connections.open(connection)
          default: connections.close(connection)
          }
        })
    else { throw PlatformError.other(operation: "listen at", path: address, errno: errno == 0 ? EADDRINUSE : errno) }
    // This call ends the server's thread after the present answer.
    defer { withExtendedLifetime(answering) { MHD_stop_daemon(daemon) } }
    ready(satchel_http_port(daemon))
    while try !end.comes(within: 60_000) {}
  }
}

/// The data that the server's thread uses.
private final class Answering: @unchecked Sendable {
  /// Used only by the server's thread.
  let connections = Connections()
  private let receive: @Sendable (WebRequest) -> WebIntake
  private let answer: @Sendable (WebRequest) -> WebResponse

  init(
    receive: @escaping @Sendable (WebRequest) -> WebIntake, answer: @escaping @Sendable (WebRequest) -> WebResponse
  ) {
    self.receive = receive
    self.answer = answer
  }

  /// Handles one step of a request. libmicrohttpd calls this first when the headers are there, then for each piece of
  /// the body, and last with no bytes.
  func handle(
    _ connection: OpaquePointer, _ path: String, _ method: String, _ bytes: UnsafePointer<CChar>?,
    _ count: UnsafeMutablePointer<Int>, _ place: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  ) -> MHD_Result {
    func request(_ exchange: Exchange? = nil) -> WebRequest {
      WebRequest(
        method: method, path: path, query: values(of: connection, .GET_ARGUMENT_KIND),
        headers: values(of: connection, .HEADER_KIND), form: exchange?.form ?? [], files: exchange?.files)
    }
    guard let known = place.pointee else {
      let exchange: Exchange
      switch receive(request()) {
      case .refused(let answer): return send(answer, connection)
      case .nothing: exchange = Exchange(throwingAwayFor: nil)
      case .thrownAway(let answer): exchange = Exchange(throwingAwayFor: answer)
      case .form(let mostBytes, let files): exchange = Exchange(connection, mostBytes: mostBytes, files: files)
      }
      connections.admit(connection)
      place.pointee = Unmanaged.passRetained(exchange).toOpaque()
      return .YES
    }
    let exchange = Unmanaged<Exchange>.fromOpaque(known).takeUnretainedValue()
    if count.pointee > 0 {
      if let bytes { exchange.take(bytes, count.pointee) }
      count.pointee = 0
      return .YES
    }
    return send(exchange.failure ?? answer(request(exchange)), connection)
  }

  private func send(_ answer: WebResponse, _ connection: OpaquePointer) -> MHD_Result {
    guard let response = response(answer) else { return .NO }
    defer { MHD_destroy_response(response) }
    for header in answer.headers { MHD_add_response_header(response, header.name, header.value) }
    return MHD_queue_response(connection, UInt32(answer.status), response)
  }

  private func response(_ answer: WebResponse) -> OpaquePointer? {
    guard let (descriptor, bytes) = answer.file else {
      var body = answer.body
      return MHD_create_response_from_buffer(body.count, &body, .RESPMEM_MUST_COPY)
    }
    // libmicrohttpd closes the file at the end of the response.
    let response = MHD_create_response_from_fd64(UInt64(bytes), descriptor)
    if response == nil { close(descriptor) }
    return response
  }
}

/// All values of one kind in a request, such as the headers.
private func values(of connection: OpaquePointer, _ kind: MHD_ValueKind) -> [(name: String, value: String)] {
  var found: [(name: String, value: String)] = []
  withUnsafeMutablePointer(to: &found) { found in
    _ = MHD_get_connection_values(
      connection, kind,
      { found, _, name, value in
        guard let found, let name else { return .NO }
        found.assumingMemoryBound(to: [(name: String, value: String)].self).pointee
          .append((String(cString: name), value.map { String(cString: $0) } ?? ""))
        return .YES
      }, found)
  }
  return found
}
