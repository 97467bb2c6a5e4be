import SatchelValues

// The form of SQLite's values in JSON. Each value has one spelling:
//
//   NULL                           null
//   integer within ±(2^53 - 1)     a number without point and exponent: no reader rounds it
//   any other integer              {"integer":"9223372036854775807"}
//   finite real                    a number with a point or an exponent
//   infinite real                  {"real":"inf"}, {"real":"-inf"}
//   text: UTF-8 without NUL        a string
//   any other text                 {"text":"<base64>"}
//   blob                           {"blob":"<base64>"}
private enum Spelling {
  static let integer = Array("integer".utf8)
  static let real = Array("real".utf8)
  static let text = Array("text".utf8)
  static let blob = Array("blob".utf8)
  static let infinity = Array("inf".utf8)
  static let negativeInfinity = Array("-inf".utf8)

  static func isPlain(_ number: Int64) -> Bool { number.magnitude < 1 << 53 }

  /// The tag and the text of a value that needs a tag in JSON; nil: the value has a plain form, or is NaN.
  static func tagged(_ value: Value) -> (tag: [UInt8], text: [UInt8])? {
    switch value {
    case .integer(let number) where !isPlain(number): (integer, Array(String(number).utf8))
    case .real(let number) where number.isInfinite: (real, number < 0 ? negativeInfinity : infinity)
    case .text(let bytes) where !UTF8Sequences.isTextWithoutNUL(bytes): (text, Base64.encode(bytes))
    case .blob(let bytes): (blob, Base64.encode(bytes))
    default: nil
    }
  }
}

extension JSONWriter {
  /// Writes a value of SQLite in its one spelling. NaN is written as null, because SQLite stores NaN as NULL.
  public mutating func value(_ value: Value) {
    switch value {
    case .null: null()
    case .integer(let number) where Spelling.isPlain(number): integer(number)
    case .real(let number) where number.isFinite: real(number)
    case .text(let bytes):
      if plainString(utf8: bytes) { return }
      if UTF8Sequences.isTextWithoutNUL(bytes) { return string(utf8: bytes) }
      tagged(value)
    default: tagged(value)
    }
  }

  private mutating func tagged(_ value: Value) {
    guard let (tag, text) = Spelling.tagged(value) else { return null() }
    beginObject()
    key(bytes: tag)
    string(utf8: text)
    endObject()
  }
}

extension JSONScanner {
  /// Reads a value of SQLite.
  ///
  /// Throws if the value has a tag but could have a plain form, or has a plain form but needs a tag. Also refuses
  /// Booleans, arrays, and base64 or decimal digits in a form that the writer does not write. White space, escapes in
  /// strings and the digits of a real may vary. A caller that needs canonical bytes must compare them with the writer's
  /// output.
  public mutating func readValue() throws(JSONError) -> Value {
    switch try peek() {
    case .null:
      try readNull()
      return .null
    case .number: return try readPlainNumber()
    case .string:
      let start = index
      let text = try readString()
      guard !text.contains(0) else { throw JSONError(offset: start, reason: "text with a NUL must be tagged") }
      return .text(text)
    case .object: return try readTagged()
    case .bool: throw error("a Boolean is not a value of SQLite")
    case .array: throw error("an array is not a value of SQLite")
    }
  }

  private mutating func readPlainNumber() throws(JSONError) -> Value {
    let start = index
    switch try readNumber() {
    case .real(let number): return .real(number)
    case .integer(let number):
      guard Spelling.isPlain(number) else {
        throw JSONError(offset: start, reason: "an integer of this size must be tagged")
      }
      return .integer(number)
    }
  }

  private mutating func readTagged() throws(JSONError) -> Value {
    let start = index
    try beginObject()
    guard let tag = try nextKey() else { throw JSONError(offset: start, reason: "expected a tagged value") }
    let text = try readString()
    guard let value = Self.untag(tag, text) else {
      throw JSONError(offset: start, reason: "a tagged value that is not canonical")
    }
    guard try nextKey() == nil else { throw error("a tagged value has one member") }
    return value
  }

  private static func untag(_ tag: [UInt8], _ text: [UInt8]) -> Value? {
    switch tag {
    case Spelling.integer:
      let digits = String(decoding: text, as: UTF8.self)
      guard let number = Int64(digits), !Spelling.isPlain(number), Array(String(number).utf8) == text else {
        return nil
      }
      return .integer(number)
    case Spelling.real:
      return text == Spelling.infinity ? .real(.infinity) : text == Spelling.negativeInfinity ? .real(-.infinity) : nil
    case Spelling.text:
      guard let bytes = Base64.decode(text), !UTF8Sequences.isTextWithoutNUL(bytes) else { return nil }
      return .text(bytes)
    case Spelling.blob:
      return Base64.decode(text).map(Value.blob)
    default:
      return nil
    }
  }
}

extension JSONValue {
  /// Makes the JSON that `JSONWriter.value` writes for the value.
  public init(_ value: SatchelValues.Value) {
    if let (tag, text) = Spelling.tagged(value) {
      let member = Member(
        name: String(decoding: tag, as: UTF8.self), value: .string(String(decoding: text, as: UTF8.self)))
      self = .object([member])
      return
    }
    switch value {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .real(let number): self = number.isNaN ? .null : .real(number)
    case .text(let bytes), .blob(let bytes): self = .string(String(decoding: bytes, as: UTF8.self))
    }
  }
}
