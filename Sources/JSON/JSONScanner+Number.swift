/// A number. The form of its literal decides whether it is an integer or a real.
public enum JSONNumber: Hashable, Sendable {
  /// A number that is written without a point and without an exponent.
  case integer(Int64)
  /// A number that is written with a point or an exponent. It is always finite.
  case real(Double)
}

extension JSONScanner {
  /// Reads the next number. A number with a point or an exponent is rounded to the nearest `Double`.
  ///
  /// Throws if an integer does not fit `Int64`, or if a real would round to infinity. `-0` is the integer 0, and `-0.0`
  /// is a real.
  public mutating func readNumber() throws(JSONError) -> JSONNumber {
    skipSpace()
    let bytes = bytes
    let start = index
    var i = start
    let isNegative = i < bytes.count && bytes[i] == UInt8(ascii: "-")
    if isNegative { i += 1 }

    let firstDigit = i
    var magnitude: UInt64 = 0
    var overflows = false
    while i < bytes.count, let digit = Self.digit(bytes[i]) {
      Self.append(digit, to: &magnitude, &overflows)
      i += 1
    }
    guard i > firstDigit else { throw JSONError(offset: i, reason: "expected a number") }
    guard bytes[firstDigit] != UInt8(ascii: "0") || i == firstDigit + 1 else {
      throw JSONError(offset: firstDigit, reason: "a number must not have extra zeros at its beginning (7, not 07)")
    }

    var isInteger = true
    var hasExponent = false
    var places = 0
    if i < bytes.count, bytes[i] == UInt8(ascii: ".") {
      isInteger = false
      let point = i
      i += 1
      while i < bytes.count, let digit = Self.digit(bytes[i]) {
        Self.append(digit, to: &magnitude, &overflows)
        i += 1
      }
      places = i - point - 1
      guard places > 0 else { throw JSONError(offset: i, reason: "expected a digit") }
    }
    if i < bytes.count, bytes[i] | 0x20 == UInt8(ascii: "e") {
      isInteger = false
      hasExponent = true
      i += 1
      if i < bytes.count, bytes[i] == UInt8(ascii: "+") || bytes[i] == UInt8(ascii: "-") { i += 1 }
      i = try endOfDigits(from: i)
    }
    guard i - start <= limits.maxNumberBytes else { throw error("a number longer than \(limits.maxNumberBytes) bytes") }
    index = i

    if isInteger {
      let limit = isNegative ? Int64.min.magnitude : Int64.max.magnitude
      guard !overflows, magnitude <= limit else { throw JSONError(offset: start, reason: "number out of range") }
      return .integer(isNegative ? Int64(truncatingIfNeeded: 0 &- magnitude) : Int64(magnitude))
    }
    if !hasExponent, !overflows, let real = Double(magnitude, places: places) {
      return .real(isNegative ? -real : real)
    }
    guard let real = Double(String(decoding: bytes[start..<i], as: UTF8.self)), real.isFinite else {
      throw JSONError(offset: start, reason: "number out of range")
    }
    return .real(real)
  }

  private func endOfDigits(from start: Int) throws(JSONError) -> Int {
    var i = start
    while i < bytes.count, Self.digit(bytes[i]) != nil { i += 1 }
    guard i > start else { throw JSONError(offset: i, reason: "expected a digit") }
    return i
  }

  @inline(__always)
  private static func append(_ digit: UInt8, to magnitude: inout UInt64, _ overflows: inout Bool) {
    let (tens, high) = magnitude.multipliedReportingOverflow(by: 10)
    let (sum, low) = tens.addingReportingOverflow(UInt64(digit))
    overflows = overflows || high || low
    magnitude = sum
  }

  @inline(__always)
  private static func digit(_ byte: UInt8) -> UInt8? {
    let digit = byte &- UInt8(ascii: "0")
    return digit < 10 ? digit : nil
  }
}
