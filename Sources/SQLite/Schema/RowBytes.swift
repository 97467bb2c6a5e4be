import SatchelValues

extension Database {
  /// All values of a query's rows as bytes. If two queries with the same number of columns have the same bytes, they
  /// have the same rows in the same order.
  public func bytes(ofRows sql: String) throws -> [UInt8] {
    var result: [UInt8] = []
    func add(_ number: UInt64) {
      for shift in stride(from: 0, to: 64, by: 8) { result.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
    try each(sql) { row in
      for column in 0..<row.columnCount {
        switch row.value(column) {
        case .null: result.append(0)
        case .integer(let number):
          result.append(1)
          add(UInt64(bitPattern: number))
        case .real(let number):
          result.append(2)
          add(number.bitPattern)
        case .text(let text):
          result.append(3)
          add(UInt64(text.count))
          result += text
        case .blob(let blob):
          result.append(4)
          add(UInt64(blob.count))
          result += blob
        }
      }
    }
    return result
  }
}
