/// A request that a browser sent.
public struct WebRequest: Sendable {
  /// A field of a form, or a file that was chosen in it.
  public struct Field: Sendable {
    public let name: String
    /// The file's name as the browser gives it; nil: it is no file.
    public let file: String?
    public var bytes: [UInt8]

    public init(name: String, file: String? = nil, bytes: [UInt8]) {
      self.name = name
      self.file = file
      self.bytes = bytes
    }

    public var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  public let method: String
  public let path: String
  /// What stands behind the question mark.
  public let query: [(name: String, value: String)]
  private let headers: [(name: String, value: String)]
  /// Of a POST.
  public let form: [Field]

  public init(
    method: String, path: String, query: [(name: String, value: String)] = [], headers: [(name: String, value: String)] = [],
    form: [Field] = []
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.form = form
  }

  /// A header by its name, in lower case; nil where it is not there. One that is there twice counts as missing.
  public func header(_ name: String) -> String? {
    let found = headers.filter { $0.name.lowercased() == name }
    return found.count == 1 ? found[0].value : nil
  }

  /// What a form or the address says under a name; nil: nothing.
  public func value(_ name: String) -> String? {
    form.last { $0.name == name && $0.file == nil }?.text ?? query.last { $0.name == name }?.value
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

/// The door to browsers on this machine.
public protocol WebServer: Sendable {
  /// Answers requests that come to this machine's own address, one after another, until somebody wants it to end. The answer that is being
  /// given then is given to its end.
  ///
  /// - Parameters:
  ///   - port: 0: any that is free.
  ///   - mostBytes: the largest body of a request; a larger one is refused.
  ///   - ready: is told the port, before the first request.
  func serve(
    port: UInt16, mostBytes: Int, until end: any EndRequest, ready: (_ port: UInt16) -> Void,
    answer: @escaping @Sendable (WebRequest) -> WebResponse
  ) throws(PlatformError)
}
