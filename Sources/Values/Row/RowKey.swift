/// The values of a row's primary key, in the key's own order, as one row spells them.
///
/// SQLite holds one row for the numbers 1 and 1.0, so they are one key here, too. Two keys are the same if their texts
/// and blobs have the same bytes and their numbers are equal. A column without a type stores 1 and 1.0 as they were
/// written. So a write may replace 1 by 1.0, and the row stays the same row. Texts that are equal only by a collation
/// are different keys.
///
/// https://sqlite.org/datatype3.html, section 4.2.
public struct RowKey: Sendable {
  public let values: [Value]

  public init(_ values: [Value]) { self.values = values }

  /// The canonical spelling of the key, which is the same for all equal keys. Real numbers without a fraction become
  /// integers.
  public var oneSpelling: RowKey { RowKey(values.map { $0.wholeNumber.map { .integer($0) } ?? $0 }) }

  /// The spellings of all keys that equal this key: each whole number may be an integer or a real. nil: there are too
  /// many to look for each of them.
  public var spellings: [RowKey]? {
    var keys: [[Value]] = [[]]
    for value in values {
      let equal = value.equalNumbers
      if keys.count * equal.count > Self.mostSpellings { return nil }
      keys = keys.flatMap { key in equal.map { key + [$0] } }
    }
    return keys.map { RowKey($0) }
  }

  private static let mostSpellings = 64
}

extension RowKey: Hashable {
  public static func == (a: RowKey, b: RowKey) -> Bool {
    a.values.count == b.values.count && zip(a.values, b.values).allSatisfy { $0.isSameInKey(as: $1) }
  }

  public func hash(into hasher: inout Hasher) {
    for value in values { hasher.combine(value.wholeNumber.map { Value.integer($0) } ?? value) }
  }
}

extension Value {
  /// Whether SQLite treats this value and another one as the same key value: the same bytes or the same number.
  public func isSameInKey(as other: Value) -> Bool {
    switch (self, other) {
    case (.integer, .real), (.real, .integer), (.real, .real):
      if let whole = wholeNumber { return whole == other.wholeNumber }
      return self == other
    default: return self == other
    }
  }

  /// This value and all values that are the same number. SQLite stores the real -0.0 as it is.
  fileprivate var equalNumbers: [Value] {
    guard let whole = wholeNumber else { return [self] }
    if whole == 0 { return [.integer(0), .real(0), .real(-0.0)] }
    let real = Double(whole)
    return [.integer(whole)] + (Int64(exactly: real) == whole ? [.real(real)] : [])
  }

  /// The value as a whole number, if it is an integer or a real without a fraction; nil otherwise.
  fileprivate var wholeNumber: Int64? {
    switch self {
    case .integer(let number): number
    case .real(let number): Int64(exactly: number)
    case .null, .text, .blob: nil
    }
  }
}
