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
  /// The fields of a POST. The files in the form are not among them: see `WebIntake`.
  public let form: [Field]
  /// The receiver of the files in the form; nil: they were discarded.
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

  /// The value of a header; nil: the header is missing. A header that occurs twice counts as missing.
  /// - Parameter name: the header's name in lower case.
  public func header(_ name: String) -> String? {
    let found = headers.filter { $0.name.lowercased() == name }
    return found.count == 1 ? found[0].value : nil
  }

  /// The value of a field in the form, or else of a name in the address; nil: there is none.
  public func value(_ name: String) -> String? {
    form.last { $0.name == name }?.text ?? query.last { $0.name == name }?.value
  }
}

/// The answer to the browser.
public struct WebResponse: Sendable {
  public let status: Int
  public var headers: [(name: String, value: String)]
  public let body: [UInt8]
  /// An open file whose bytes are the body, in place of `body`. The server closes it after the answer. nil: there is
  /// none.
  public var file: (descriptor: Int32, bytes: Int64)?

  public init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// Receives the files of one form, piece by piece as they arrive. The server releases the receiver after the answer, or
/// when the browser closes the connection.
public protocol WebFiles: AnyObject {
  /// Begins a file. The browser gives this name to it, and the next pieces belong to it.
  func begin(_ name: String) throws
  func append(_ bytes: [UInt8]) throws
  /// The answer to the browser if `begin` or `append` failed. No more pieces follow then.
  func answer(to error: any Error) -> WebResponse
}

/// How to handle a request's body. The decision is made when only the headers are there.
public enum WebIntake {
  /// Nothing of the body is read, and the request counts as not admitted: its connection may be closed for a new one.
  case refused(WebResponse)
  /// The request needs no body. A body that comes is discarded. The function `answer` makes the answer.
  case nothing
  /// The body is read to its end and discarded, because browsers show no answer before the end of the body.
  case thrownAway(WebResponse)
  /// - Parameters:
  ///   - mostBytes: the limit on the bytes of all fields together. Fields are kept in memory.
  ///   - files: receives the files in the form; nil: they are discarded.
  case form(mostBytes: Int, files: (any WebFiles)?)
}

/// The interface to browsers on this machine.
public protocol WebServer: Sendable {
  /// Answers requests to this machine's own address, one after another. When `end` comes, completes the present answer
  /// and returns.
  ///
  /// - Parameters:
  ///   - port: the port to listen at; 0: any free port.
  ///   - ready: is called with the port, before the first request.
  ///   - receive: is called once for each request, before `answer`.
  func serve(
    port: UInt16, until end: any EndRequest, ready: (_ port: UInt16) -> Void,
    receive: @escaping @Sendable (WebRequest) -> WebIntake, answer: @escaping @Sendable (WebRequest) -> WebResponse
  ) throws(PlatformError)
}
