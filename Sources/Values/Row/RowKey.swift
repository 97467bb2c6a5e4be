/// The values of a row's primary key, in the order of the key, as one row spells them.
///
/// Two keys are equal if their texts and blobs have the same bytes and their numbers are equal. So 1 and 1.0 are the
/// same key, because SQLite has only one row for both. A column without a type stores 1 and 1.0 as they were written,
/// so a write may change the spelling of a row's key. Texts that are equal only by a collation are different keys.
///
/// https://sqlite.org/datatype3.html, section 4.2.
public struct RowKey: Sendable {
  public let values: [Value]

  public init(_ values: [Value]) { self.values = values }

  /// The spelling of the key that all equal keys have in common. Real numbers without a fraction are written as
  /// integers.
  public var oneSpelling: RowKey { RowKey(values.map { $0.wholeNumber.map { .integer($0) } ?? $0 }) }

  /// All spellings of the key, with each whole number as integer and as real number; nil if there are too many to
  /// look up.
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
  /// Whether SQLite treats both values as the same value of a key: equal bytes or equal numbers.
  public func isSameInKey(as other: Value) -> Bool {
    switch (self, other) {
    case (.integer, .real), (.real, .integer), (.real, .real):
      if let whole = wholeNumber { return whole == other.wholeNumber }
      return self == other
    default: return self == other
    }
  }

  /// All values that are the same number as this value. SQLite stores the real number -0.0 as it is.
  fileprivate var equalNumbers: [Value] {
    guard let whole = wholeNumber else { return [self] }
    if whole == 0 { return [.integer(0), .real(0), .real(-0.0)] }
    let real = Double(whole)
    return [.integer(whole)] + (Int64(exactly: real) == whole ? [.real(real)] : [])
  }

  /// The value as a whole number; nil if it is neither an integer nor a real number without a fraction.
  fileprivate var wholeNumber: Int64? {
    switch self {
    case .integer(let number): number
    case .real(let number): Int64(exactly: number)
    case .null, .text, .blob: nil
    }
  }
}
