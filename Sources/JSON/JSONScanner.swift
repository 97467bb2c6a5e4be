/// The kinds of value in a JSON text.
public enum JSONKind: Hashable, Sendable {
  case object, array, string, number, bool, null
}

/// Reads one JSON text from bytes, token by token, exactly as RFC 8259 defines JSON.
///
/// The scanner refuses a byte order mark, a trailing comma, a comment, ill-formed UTF-8 and a lone surrogate. It
/// accepts duplicate keys: the caller decides about them. The caller requests the kind of value that it expects. A
/// value of another kind is refused:
///
///     var scanner = JSONScanner(bytes)
///     try scanner.beginArray()
///     while try scanner.nextElement() { numbers.append(try scanner.readNumber()) }
///     try scanner.finish()
///
/// After an error the scanner must not be used again.
public struct JSONScanner: Sendable {
  let bytes: [UInt8]
  let limits: JSONLimits
  var index = 0
  private var depth = 0
  private var members = 0
  /// Whether the last token opened an array or an object. Only the first member or element needs no comma before it.
  private var justOpened = false

  public init(_ bytes: [UInt8], limits: JSONLimits = .init()) {
    self.bytes = bytes
    self.limits = limits
  }

  /// The position of the next byte. Callers use it in their own errors.
  public var offset: Int { index }

  /// The kind of the next value. This function does not consume the value.
  public mutating func peek() throws(JSONError) -> JSONKind {
    skipSpace()
    guard index < bytes.count else { throw error("the text ends before a value") }
    switch bytes[index] {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
    case UInt8(ascii: "n"): return .null
    default: throw error("no value begins like this")
    }
  }

  /// Enters an object. The caller must call `nextKey` next.
  public mutating func beginObject() throws(JSONError) {
    try open(UInt8(ascii: "{"), else: "expected an object")
  }

  /// Returns the key of the object's next member. The caller must then read the member's value. nil: there is no
  /// further member, and the scanner has left the object.
  public mutating func nextKey() throws(JSONError) -> [UInt8]? {
    guard try advanceToMember() else { return nil }
    let key = try readString()
    try passColon()
    return key
  }

  /// Enters an array. The caller must call `nextElement` next.
  public mutating func beginArray() throws(JSONError) {
    try open(UInt8(ascii: "["), else: "expected an array")
  }

  /// Returns true if the array has another element. The caller must then read this element. Returns false if there is
  /// no further element. The scanner has then left the array.
  public mutating func nextElement() throws(JSONError) -> Bool {
    try advance(to: UInt8(ascii: "]"), else: "expected ',' or ']'")
  }

  public mutating func readBool() throws(JSONError) -> Bool {
    skipSpace()
    if passWord("true") { return true }
    if passWord("false") { return false }
    throw error("expected true or false")
  }

  public mutating func readNull() throws(JSONError) {
    skipSpace()
    guard passWord("null") else { throw error("expected null") }
  }

  /// Skips one value of any kind. The value is checked as strictly as if it were read.
  public mutating func skipValue() throws(JSONError) {
    var open: [JSONKind] = []
    repeat {
      let kind = try peek()
      switch kind {
      case .object:
        try beginObject()
        open.append(kind)
      case .array:
        try beginArray()
        open.append(kind)
      case .string: _ = try passString()
      case .number: _ = try readNumber()
      case .bool: _ = try readBool()
      case .null: try readNull()
      }
      while let container = open.last {
        let more = container == .object ? try passKey() : try nextElement()
        if more { break }
        open.removeLast()
      }
    } while !open.isEmpty
  }

  /// Checks that only white space follows the value.
  public mutating func finish() throws(JSONError) {
    skipSpace()
    guard index == bytes.count else { throw error("there is more text after the value") }
  }
}

extension JSONScanner {
  func error(_ reason: String) -> JSONError { JSONError(offset: index, reason: reason) }

  @inline(__always)
  mutating func skipSpace() {
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x0a, 0x0d, 0x09: index += 1
      default: return
      }
    }
  }

  /// Skips optional white space, and then this byte. Throws if another byte follows.
  mutating func pass(_ byte: UInt8, else reason: String) throws(JSONError) {
    skipSpace()
    guard index < bytes.count, bytes[index] == byte else { throw error(reason) }
    index += 1
  }

  private mutating func open(_ bracket: UInt8, else reason: String) throws(JSONError) {
    try pass(bracket, else: reason)
    depth += 1
    guard depth <= limits.maxDepth else { throw error("nested more than \(limits.maxDepth) levels deep") }
    justOpened = true
  }

  /// Moves to the next member or element and returns true. At the closing bracket, leaves the array or object and
  /// returns false.
  private mutating func advance(to bracket: UInt8, else reason: String) throws(JSONError) -> Bool {
    skipSpace()
    guard index < bytes.count else { throw error("the text ends inside an array or object") }
    if bytes[index] == bracket {
      index += 1
      depth -= 1
      justOpened = false
      return false
    }
    if justOpened {
      justOpened = false
    } else {
      try pass(UInt8(ascii: ","), else: reason)
    }
    members += 1
    guard members <= limits.maxMembers else { throw error("more than \(limits.maxMembers) members") }
    return true
  }

  mutating func advanceToMember() throws(JSONError) -> Bool {
    try advance(to: UInt8(ascii: "}"), else: "expected ',' or '}'")
  }

  private mutating func passKey() throws(JSONError) -> Bool {
    guard try advanceToMember() else { return false }
    _ = try passString()
    try passColon()
    return true
  }

  mutating func passColon() throws(JSONError) {
    try pass(UInt8(ascii: ":"), else: "expected ':' after a key")
  }

  private mutating func passWord(_ word: StaticString) -> Bool {
    let letters = word.description.utf8
    guard bytes.count - index >= letters.count, bytes[index..<index + letters.count].elementsEqual(letters) else {
      return false
    }
    index += letters.count
    return true
  }
}
