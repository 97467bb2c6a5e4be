extension Double {
  /// The double that is nearest to `digits` / 10^`places`. A tie goes to the even number. nil: there are more than 19
  /// places.
  ///
  /// The standard library's conversion from text costs more than all other work for a row. Coordinates, weights and
  /// prices are decimals of at most 19 digits. For such decimals, one division of integers is exact enough. The
  /// quotient has at least 62 bits, and a double keeps 53 of them. The quotient's lowest bit is set if there was a
  /// remainder.
  init?(_ digits: UInt64, places: Int) {
    guard places < Self.powersOfTen.count else { return nil }
    guard digits > 0 else {
      self = 0
      return
    }
    let power = Self.powersOfTen[places]
    let shift = digits.leadingZeroBitCount
    let powerShift = power.leadingZeroBitCount
    let dividend = digits << shift
    let (quotient, rest) = (power << powerShift).dividingFullWidth((dividend >> 1, dividend << 63))
    let sticky: UInt64 = rest == 0 ? 0 : 1
    // The result is between 10^-19 and 2^64. In this range, scaling by a power of two causes no second rounding.
    self = Double(sign: .plus, exponent: powerShift - shift - 63, significand: Double(quotient | sticky))
  }

  private static let powersOfTen: [UInt64] = {
    var powers: [UInt64] = [1]
    while powers.count < 20 { powers.append(powers[powers.count - 1] * 10) }
    return powers
  }()
}
