extension JSONValue {
  /// Reads a text that contains exactly one value.
  ///
  /// This function is as strict as `JSONScanner`. It also refuses an object with two members of the same name, because
  /// other readers differ about which member counts.
  public static func parse(_ bytes: [UInt8], limits: JSONLimits = .init()) throws(JSONError) -> JSONValue {
    var scanner = JSONScanner(bytes, limits: limits)
    let value = try JSONValue(reading: &scanner)
    try scanner.finish()
    return value
  }

  /// Reads the scanner's next value, with the checks of `parse`.
  public init(reading scanner: inout JSONScanner) throws(JSONError) {
    switch try scanner.peek() {
    case .null:
      try scanner.readNull()
      self = .null
    case .bool: self = .bool(try scanner.readBool())
    case .number:
      switch try scanner.readNumber() {
      case .integer(let number): self = .integer(number)
      case .real(let number): self = .real(number)
      }
    case .string: self = .string(String(decoding: try scanner.readString(), as: UTF8.self))
    case .array:
      var elements: [JSONValue] = []
      try scanner.beginArray()
      while try scanner.nextElement() { elements.append(try JSONValue(reading: &scanner)) }
      self = .array(elements)
    case .object: self = .object(try Self.members(from: &scanner))
    }
  }

  private static func members(from scanner: inout JSONScanner) throws(JSONError) -> [Member] {
    var members: [Member] = []
    var names: Set<[UInt8]> = []
    try scanner.beginObject()
    while let name = try scanner.nextKey() {
      guard names.insert(name).inserted else { throw scanner.error("a name that this object has already") }
      members.append(Member(name: String(decoding: name, as: UTF8.self), value: try JSONValue(reading: &scanner)))
    }
    return members
  }
}
