/// The value of one column of one row, with its SQLite storage class.
///
/// Two values are equal only if they have the same storage class and the same bits. 1 differs from 1.0, and 0.0 from
/// -0.0. Texts are compared as bytes.
public enum Value: Sendable {
  case null
  case integer(Int64)
  case real(Double)
  /// The bytes of a text. They should be UTF-8, but SQLite does not check that.
  case text([UInt8])
  case blob([UInt8])

  /// The text of a Swift string, as UTF-8 bytes.
  public static func string(_ text: String) -> Value { .text(Array(text.utf8)) }

  public var isNull: Bool { if case .null = self { true } else { false } }

  /// The approximate size of the value in memory, in bytes.
  public var byteCount: Int {
    switch self {
    case .text(let bytes), .blob(let bytes): bytes.count
    case .null, .integer, .real: 8
    }
  }
}

extension Value: Hashable {
  public static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.integer(let x), .integer(let y)): x == y
    case (.real(let x), .real(let y)): x.bitPattern == y.bitPattern
    case (.text(let x), .text(let y)): x == y
    case (.blob(let x), .blob(let y)): x == y
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let x): hasher.combine(x)
    case .real(let x): hasher.combine(x.bitPattern)
    case .text(let x): hasher.combine(x)
    case .blob(let x): hasher.combine(x)
    }
  }
}

extension Value {
  /// Whether both values look the same to people. A number and the text of this number look the same.
  public func saysSame(as other: Value) -> Bool {
    if self == other { return true }
    return switch (shown, other.shown) {
    case (let own?, let others?): own == others
    default: false
    }
  }

  private var shown: String? {
    switch self {
    case .integer(let number): String(number)
    case .real(let number): Int64(exactly: number).map { String($0) } ?? "\(number)"
    case .text(let bytes): String(decoding: bytes, as: UTF8.self)
    case .null, .blob: nil
    }
  }
}
