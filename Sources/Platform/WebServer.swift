/// A request that a browser sent.
public struct WebRequest {
  /// A field of a form.
  public struct Field: Sendable {
    public let name: String
    public var bytes: [UInt8]

    public init(name: String, bytes: [UInt8]) {
      self.name = name
      self.bytes = bytes
    }

    public var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  public let method: String
  public let path: String
  /// The part of the address after the question mark.
  public let query: [(name: String, value: String)]
  private let headers: [(name: String, value: String)]
  /// The fields of a POST, without the files in the form. `WebIntake` says how files are handled.
  public let form: [Field]
  /// The receiver of the files in the form; nil if the files were discarded.
  public let files: (any WebFiles)?

  public init(
    method: String, path: String, query: [(name: String, value: String)] = [],
    headers: [(name: String, value: String)] = [],
    form: [Field] = [], files: (any WebFiles)? = nil
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.form = form
    self.files = files
  }

  /// The value of a header; nil if it is missing or occurs twice.
  /// - Parameter name: the name of the header in lower case.
  public func header(_ name: String) -> String? {
    let found = headers.filter { $0.name.lowercased() == name }
    return found.count == 1 ? found[0].value : nil
  }

  /// The value of a field in the form or, if there is none, of a name in the address; nil if there is neither.
  public func value(_ name: String) -> String? {
    form.last { $0.name == name }?.text ?? query.last { $0.name == name }?.value
  }
}

/// The answer to the browser.
public struct WebResponse: Sendable {
  public let status: Int
  public var headers: [(name: String, value: String)]
  public let body: [UInt8]
  /// An open file whose bytes are sent instead of `body`; nil if there is none. The server closes the file after the
  /// answer.
  public var file: (descriptor: Int32, bytes: Int64)?

  public init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// Receives the files of a form in pieces, as they arrive. The server releases this object after the answer, or when
/// the browser closes the connection.
public protocol WebFiles: AnyObject {
  /// Begins a file with the name from the browser. The next pieces belong to this file.
  func begin(_ name: String) throws
  func append(_ bytes: [UInt8]) throws
  /// The answer to the browser after `begin` or `append` failed. No further pieces come then.
  func answer(to error: any Error) -> WebResponse
}

/// How the server treats the body of a request. This is decided when only the headers have come.
public enum WebIntake {
  /// The body is not read. The request counts as not admitted, so its connection may be closed in favour of a new
  /// one.
  case refused(WebResponse)
  /// The request needs no body; a body that comes is discarded. Then the server calls `answer`.
  case nothing
  /// The body is read to its end and discarded, then this response is sent. Browsers show no response before that.
  case thrownAway(WebResponse)
  /// - Parameters:
  ///   - mostBytes: the most bytes of all fields together. They are kept in memory.
  ///   - files: receives the files in the form; nil discards them.
  case form(mostBytes: Int, files: (any WebFiles)?)
}

/// Answers the browsers of this machine.
public protocol WebServer: Sendable {
  /// Answers requests to this machine's own address, one after another. When `end` requests it, finishes the present
  /// answer and returns.
  ///
  /// - Parameters:
  ///   - port: the port to listen on; 0 means any free port.
  ///   - ready: called with the port before the first request.
  ///   - receive: called once for each request, before `answer`.
  func serve(
    port: UInt16, until end: any EndRequest, ready: (_ port: UInt16) -> Void,
    receive: @escaping @Sendable (WebRequest) -> WebIntake, answer: @escaping @Sendable (WebRequest) -> WebResponse
  ) throws(PlatformError)
}
