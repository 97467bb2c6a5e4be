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
  /// What stands behind the question mark.
  public let query: [(name: String, value: String)]
  private let headers: [(name: String, value: String)]
  /// Of a POST. Files that were chosen in the form are not among them: `WebIntake` says where they go.
  public let form: [Field]
  /// Where those files went.
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

  /// A header by its name, in lower case; nil where it is not there. One that is there twice counts as missing.
  public func header(_ name: String) -> String? {
    let found = headers.filter { $0.name.lowercased() == name }
    return found.count == 1 ? found[0].value : nil
  }

  /// What a form or the address says under a name; nil: nothing.
  public func value(_ name: String) -> String? {
    form.last { $0.name == name }?.text ?? query.last { $0.name == name }?.value
  }
}

/// What the browser gets.
public struct WebResponse: Sendable {
  public let status: Int
  public var headers: [(name: String, value: String)]
  public let body: [UInt8]

  public init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// Takes the files of one form, piece by piece as they arrive. The server lets it go when the answer was given, or when
/// the browser hung up.
public protocol WebFiles: AnyObject {
  /// The pieces that come next are those of a file which the browser gives this name.
  func begin(_ name: String) throws
  func append(_ bytes: [UInt8]) throws
  /// What to answer where one of these failed. Nothing more is given to it then.
  func answer(to error: any Error) -> WebResponse
}

/// What is to become of a request's body: it is asked for when the headers are there, and nothing else.
public enum WebIntake {
  /// Nothing of it is read, and the browser may have to wait behind others.
  case refused(WebResponse)
  /// It has none; if it has one, that is thrown away. `answer` says what is answered.
  case nothing
  /// It is read to its end and thrown away, because browsers show no answer before that.
  case thrownAway(WebResponse)
  /// - Parameters:
  ///   - mostBytes: how much its fields may hold together, which are kept in memory.
  ///   - files: takes the files in it; nil: they are thrown away.
  case form(mostBytes: Int, files: (any WebFiles)?)
}

/// The door to browsers on this machine.
public protocol WebServer: Sendable {
  /// Answers requests that come to this machine's own address, one after another, until somebody wants it to end. The
  /// answer that is being given then is given to its end.
  ///
  /// - Parameters:
  ///   - port: 0: any that is free.
  ///   - ready: is told the port, before the first request.
  ///   - receive: is asked once for each request, before `answer`.
  func serve(
    port: UInt16, until end: any EndRequest, ready: (_ port: UInt16) -> Void,
    receive: @escaping @Sendable (WebRequest) -> WebIntake, answer: @escaping @Sendable (WebRequest) -> WebResponse
  ) throws(PlatformError)
}
