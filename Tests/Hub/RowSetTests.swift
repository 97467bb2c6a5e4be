import SatchelHub
import TestSupport
import Testing

/// A set of row numbers is stored in a compact form. Reading it must give the same set.
@Suite struct RowSetTests {
  static let sets: [(name: String, numbers: [Int64])] = [
    ("empty", []),
    ("the first number alone", [0]),
    ("both ends of a word", [63, 64, 127, 128]),
    ("the ends of the first block", [0, 65_535]),
    ("the first of the second block", [65_536]),
    ("far beyond empty blocks", [5, 1_000_000]),
    ("a whole block", Array(0..<65_536)),
    ("a whole block and one", Array(0..<65_537)),
    ("an empty block, then a whole one", Array(65_536..<131_072)),
    ("every third", Array(stride(from: 0, to: 200_000, by: 3))),
    ("every thousandth", Array(stride(from: 7, to: 3_000_000, by: 1000))),
    ("dense, then sparse, then dense", Array(0..<70_000) + [100_000] + Array(140_000..<141_000)),
  ]

  @Test("a set survives its compact form", arguments: sets.indices)
  func roundTrip(index: Int) {
    let (name, numbers) = Self.sets[index]
    check(Set(numbers), name)
  }

  @Test("random sets of every density survive their compact form", arguments: 0..<40)
  func randomRoundTrip(seed: Int) {
    var state = UInt64(seed) &* 0x9e37_79b9_7f4a_7c15 | 1
    func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
    let width = UInt64([64, 1000, 65_536, 65_600, 300_000][seed % 5])
    let count = Int(width) / [1, 2, 9, 100, 1000][seed / 8]
    check(Set((0..<count).map { _ in Int64(next() % width) }), "seed \(seed)")
  }

  private func check(_ numbers: Set<Int64>, _ name: String) {
    let set = RowSet(numbers)
    #expect(set.count == numbers.count, "\(name)")
    #expect(Array(set) == numbers.sorted(), "\(name)")
    #expect(RowSet(encoded: set.encoded) == set, "\(name)")
  }

  @Test("sparse sets and dense ones take the shorter form")
  func compactness() {
    #expect(RowSet([]).encoded.isEmpty)
    #expect(RowSet([5]).encoded.count == 3)
    #expect(RowSet(stride(from: Int64(0), to: 65_536, by: 2)).encoded.count <= 8192 + 4)
    #expect(RowSet(stride(from: Int64(0), to: 65_536, by: 5000)).encoded.count < 40)
  }

  @Test("sets combine as sets do")
  func algebra() {
    let a: Set<Int64> = [0, 1, 64, 65_536, 70_000]
    let b: Set<Int64> = [1, 2, 65_536]
    #expect(RowSet(a).union(RowSet(b)) == RowSet(a.union(b)))
    #expect(RowSet(a).intersection(RowSet(b)) == RowSet(a.intersection(b)))
    #expect(RowSet(a).subtracting(RowSet(b)) == RowSet(a.subtracting(b)))
    #expect(RowSet(a).subtracting(RowSet(a)).isEmpty)
    #expect(RowSet(b).subtracting(RowSet(a)) == RowSet([2]))
    #expect(RowSet(a).contains(70_000) && !RowSet(a).contains(70_001) && !RowSet(b).contains(1_000_000))
  }

  @Test("a number that is removed leaves a set equal to a set that never had it")
  func removal() {
    var set = RowSet([3, 100_000])
    set.remove(100_000)
    set.remove(9)
    #expect(set == RowSet([3]))
    #expect(set.hashValue == RowSet([3]).hashValue)
    set.remove(3)
    #expect(set.isEmpty)
  }

  @Test(
    "where one row in 25 is seen, or one in 50, in no order, a set takes less than a byte for each",
    arguments: [25, 50])
  func aByteARow(share: UInt64) {
    var random = SplitMix64(seed: share)
    let set = RowSet((Int64(0)..<400_000).filter { _ in random.next() % share == 0 })
    #expect(set.encoded.count < set.count)
    #expect(RowSet(encoded: set.encoded) == set)
  }

  @Test("the difference between two sets leads from either to the other")
  func differences() {
    let (a, b) = (RowSet([1, 5, 70_000]), RowSet([5, 6]))
    #expect(a.symmetricDifference(b) == RowSet([1, 6, 70_000]))
    #expect(a.symmetricDifference(a.symmetricDifference(b)) == b)
  }

  @Test(
    "bytes that are no set are refused",
    arguments: [
      [0], [1], [1, 2, 0], [255, 3, 1, 2, 3], [255, 8, 1, 2, 3], [17, 0], [254, 0],
      [16, 3, 1, 0, 0], [255, 0x80, 0x80, 1], [0, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
    ] as [[UInt8]])
  func refusals(bytes: [UInt8]) { #expect(RowSet(encoded: bytes) == nil) }
}
