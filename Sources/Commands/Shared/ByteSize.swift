/// Sizes as people write them.
enum ByteSize {
  /// Reads `700M`, `4G` or `64K` (powers of 1024), or a number of bytes. nil for any other text.
  static func bytes(_ text: String) -> Int64? {
    let units: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    let unit = text.last.flatMap { units[Character($0.uppercased())] }
    let digits = unit == nil ? text[...] : text.dropLast()
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(digits) else {
      return nil
    }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: unit ?? 1)
    return overflow ? nil : bytes
  }
}
