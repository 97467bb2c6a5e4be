extension Value {
  /// Whether SQLite sorts this value before another one, with the collation BINARY. The order is NULL, numbers, texts
  /// by their bytes, blobs.
  ///
  /// https://sqlite.org/datatype3.html, section 4.1.
  public func isBeforeInSQL(_ other: Value) -> Bool {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): a < b
    case (.real(let a), .real(let b)): a < b
    case (.integer(let a), .real(let b)): a.isBefore(b)
    case (.real(let a), .integer(let b)): !b.isBefore(a) && Double(exactly: b) != a
    case (.text(let a), .text(let b)), (.blob(let a), .blob(let b)): a.lexicographicallyPrecedes(b)
    default: classInSQL < other.classInSQL
    }
  }

  private var classInSQL: Int {
    switch self {
    case .null: 0
    case .integer, .real: 1
    case .text: 2
    case .blob: 3
    }
  }
}

extension Int64 {
  /// Whether this number is less than a double. Their exact values are compared, because a conversion could round one
  /// of them.
  fileprivate func isBefore(_ other: Double) -> Bool {
    if other >= 0x1p63 { return true }
    if other < -0x1p63 { return false }
    let whole = Int64(other.rounded(.down))
    return self == whole ? other > other.rounded(.down) : self < whole
  }
}

extension RowKey {
  /// Whether SQLite sorts this key before another key of the same table.
  public func isBeforeInSQL(_ other: RowKey) -> Bool {
    for (a, b) in zip(values, other.values) {
      if a.isBeforeInSQL(b) { return true }
      if b.isBeforeInSQL(a) { return false }
    }
    return false
  }
}
