extension JSONValue: ExpressibleByNilLiteral {
  public init(nilLiteral: ()) { self = .null }
}

extension JSONValue: ExpressibleByBooleanLiteral {
  public init(booleanLiteral truth: Bool) { self = .bool(truth) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
  public init(integerLiteral number: Int64) { self = .integer(number) }
}

extension JSONValue: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self = .string(text) }
}

extension JSONValue: ExpressibleByArrayLiteral {
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
  /// Keeps the order of the literal's members. The names must be distinct, but this initialiser does not check them.
  public init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(members.map { Member(name: $0.0, value: $0.1) })
  }
}
