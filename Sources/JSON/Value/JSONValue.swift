/// A whole JSON value in memory. It is for small texts: manifests, definitions and reports. Rows are read with
/// `JSONScanner` instead.
public enum JSONValue: Sendable {
  /// One member of an object: its name and its value.
  public struct Member: Sendable {
    public let name: String
    public let value: JSONValue

    public init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  case null
  case bool(Bool)
  case integer(Int64)
  /// A finite number, because JSON has no infinities.
  case real(Double)
  case string(String)
  case array([JSONValue])
  /// The members in the order in which the text has them.
  case object([Member])
}

extension JSONValue {
  public var stringValue: String? { if case .string(let text) = self { text } else { nil } }
  public var integerValue: Int64? { if case .integer(let number) = self { number } else { nil } }
  public var boolValue: Bool? { if case .bool(let truth) = self { truth } else { nil } }
  public var arrayValue: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
  public var objectValue: [Member]? { if case .object(let members) = self { members } else { nil } }

  /// The value of an object's member. Names are compared as bytes. nil: the object has no such member, or this value is
  /// not an object.
  public subscript(_ name: String) -> JSONValue? {
    objectValue?.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }
}

/// Two values are equal if their canonical forms are equal. Texts are compared as bytes, 1 is not 1.0, and the order of
/// members matters.
extension JSONValue: Hashable {
  public static func == (a: JSONValue, b: JSONValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let x), .bool(let y)): x == y
    case (.integer(let x), .integer(let y)): x == y
    case (.real(let x), .real(let y)): x.bitPattern == y.bitPattern
    case (.string(let x), .string(let y)): x.utf8.elementsEqual(y.utf8)
    case (.array(let x), .array(let y)): x == y
    case (.object(let x), .object(let y)): x == y
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let truth): hasher.combine(truth)
    case .integer(let number): hasher.combine(number)
    case .real(let number): hasher.combine(number.bitPattern)
    case .string(let text): for byte in text.utf8 { hasher.combine(byte) }
    case .array(let elements): hasher.combine(elements)
    case .object(let members): hasher.combine(members)
    }
  }
}

extension JSONValue.Member: Hashable {
  public static func == (a: Self, b: Self) -> Bool { a.name.utf8.elementsEqual(b.name.utf8) && a.value == b.value }

  public func hash(into hasher: inout Hasher) {
    for byte in name.utf8 { hasher.combine(byte) }
    hasher.combine(value)
  }
}
