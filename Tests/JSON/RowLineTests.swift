import SatchelJSON
import SatchelValues
import TestSupport
import Testing

/// Lines of rows, from which digests are computed.
@Suite("Lines of rows")
struct RowLineTests {
  private static let odd: [Value] = [
    .null, .integer(0), .integer(-1), .integer(1 << 53), .integer((1 << 53) - 1), .integer(-(1 << 53) + 1),
    .integer(.min), .integer(.max), .real(0), .real(-0.0), .real(1e300), .real(-1.5e-7), .real(.infinity),
    .real(-.infinity), .real(.nan), .string(""), .string("plain"), .string("a \"quote\""), .string("back\\slash"),
    .string("naïve 北"), .string("line\nend\u{7f}"), .text([0x61, 0, 0x62]), .text([0xff, 0xfe]), .blob([]),
    .blob([0, 1, 2, 255]),
  ]

  @Test(
    "a row's line is the same whether it is written in one go or value by value, and each value has its one spelling")
  func sameLine() throws {
    var random = SplitMix64(seed: 77)
    for round in 0..<2000 {
      let count = Int(random.next() % 9) + 1
      let row = Row((0..<count).map { _ in Self.value(&random) })
      let line = RowLine(
        row.values.indices.map { RowLine.Place(before: Array(($0 == 0 ? "[" : ",").utf8), position: $0) },
        end: Array("]".utf8))
      var (once, each, plain) = (JSONWriter(), JSONWriter(), JSONWriter())
      line.write(row, into: &once)
      line.write({ row[$0] }, into: &each)
      plain.beginArray()
      for value in row.values { plain.value(value) }
      plain.endArray()
      #expect(once.bytes == plain.bytes, "round \(round)")
      #expect(each.bytes == plain.bytes, "round \(round)")
    }
  }

  @Test("a line may have a long value more than once", arguments: [30, 100, 1000, 100_000])
  func repeated(size: Int) {
    let row = Row([.text([UInt8](repeating: 0x61, count: size)), .integer(1)])
    let line = RowLine(
      [0, 0, 1, 0].map { RowLine.Place(before: Array(",".utf8), position: $0) }, end: Array("]".utf8))
    var (once, each) = (JSONWriter(capacity: 16), JSONWriter())
    line.write(row, into: &once)
    line.write({ row[$0] }, into: &each)
    #expect(once.bytes == each.bytes)
  }

  private static func value(_ random: inout SplitMix64) -> Value {
    if random.next() % 2 == 0 { return odd[Int(random.next() % UInt64(odd.count))] }
    switch random.next() % 3 {
    case 0: return .integer(Int64(truncatingIfNeeded: random.next()) >> Int64(random.next() % 64))
    case 1: return .real(Double(Int64(truncatingIfNeeded: random.next() >> 20)) / 64)
    default: return .text((0..<random.next() % 40).map { _ in UInt8(0x20 + random.next() % 0x5f) })
    }
  }
}
