import SatchelSQLite
import SatchelValues
import Testing

@Test("values are sorted as SQLite sorts them")
func valueOrder() throws {
  let database = try Database(path: ":memory:", mode: .create)
  let whole: [Int64] = [
    .min, .min + 1, -(1 << 53) - 1, -(1 << 53), -2, -1, 0, 1, 2, 1 << 53, (1 << 53) + 1, .max - 1, .max,
  ]
  let real: [Double] = [
    -.infinity, -1e300, -0x1p63, -9007199254740993.0, -1.5, -0.5, -0.0, 0.5, 1, 1.5, 9007199254740993.0, 0x1p62, 0x1p63,
    1e300,
    .infinity,
  ]
  let texts: [[UInt8]] = ["", "a", "a b", "ab", "é"].map { Array($0.utf8) } + [[0xff], [0x61, 0], [0]]
  var values: [Value] = [.null]
  values += whole.map { .integer($0) }
  values += real.map { .real($0) }
  values += texts.map { .text($0) }
  values += texts.map { .blob($0) }
  let statement = try database.prepare("SELECT ?1 < ?2 OR (?1 IS NULL AND ?2 IS NOT NULL)")
  // Parameters have no affinity. SQLite sorts NULL first.
  for a in values {
    for b in values {
      statement.reset()
      try statement.bind([a, b])
      _ = try statement.step()
      #expect(a.isBeforeInSQL(b) == (statement.optionalInteger(0) == 1), "\(a) and \(b)")
    }
  }
  #expect(RowKey([.integer(1), .string("a")]).isBeforeInSQL(RowKey([.real(1), .string("b")])))
  #expect(!RowKey([.integer(1)]).isBeforeInSQL(RowKey([.integer(1)])))
}
