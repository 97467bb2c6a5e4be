import SatchelDataset
import SatchelMerge
import SatchelValues
import Testing

/// Two replicas make one row and count in it. Equal counts are as frequent as different counts.
@Suite("Counters of rows that two replicas made")
struct EqualCounterTests {
  private static let sum = rules(.manual, #", "columns": { "a": "sum" }"#)
  private static let counts: [Int64] = [0, 1, 2, 3]

  private func others(_ stamp: Int64) -> OthersChanges {
    OthersChanges(columns: [0: Stamp(stamp), 1: Stamp(stamp), 2: Stamp(stamp)], presence: true, newest: Stamp(stamp))
  }

  @Test("the hub adds the counts of three devices, whether they are equal or not", arguments: counts, counts)
  func added(first: Int64, second: Int64) {
    for third in Self.counts {
      var row: Row?
      for (number, count) in [first, second, third].enumerated() {
        let result = merge(
          .insert(r(count, 5)), at: Stamp(Int64(number) * 10 + 10), onto: row,
          others: row == nil ? OthersChanges() : others(Int64(number) * 10), by: Self.sum.addingEqualCounters)
        #expect(result.disagreement == nil)
        row = result.row
      }
      #expect(row == r(first + second + third, 5))
    }
  }

  @Test("a device that imports first adds its counts to the row from the hub", arguments: counts, counts)
  func rebased(own: Int64, theirs: Int64) {
    let image = PreImage(
      generation: Generation(1), stamp: Stamp(10), first: FirstWrite(stamp: Stamp(10), isOnly: true), row: nil)
    let result = rebase([image], to: r(own, 5), onto: r(theirs, 5), at: Stamp(100), by: Self.sum.addingEqualCounters)
    #expect(result.row == r(own + theirs, 5))
    #expect(result.conflicts.isEmpty)
  }

  @Test("rows that may be one row count once: a row that came back, a row from before its device joined")
  func once() {
    #expect(merge(.insert(r(3, 5)), at: Stamp(20), onto: r(3, 5), others: others(10), by: Self.sum).row == r(3, 5))
    let joined = Self.sum.forChange(.insert(r(3, 5)), first: nil).addingEqualCounters
    #expect(merge(.insert(r(3, 5)), at: Stamp(20), onto: r(3, 5), others: others(10), by: joined).row == r(3, 5))
  }

  @Test(
    "no policy decides about other counts of rows from before their devices joined",
    arguments: [Policy.newest, .device, .hub, .manual])
  func unknownStart(policy: Policy) {
    let own = rules(policy, #", "columns": { "a": "sum" }"#)
    let merged = merge(
      .insert(r(3, 5)), at: Stamp(20), onto: r(4, 6), others: others(10),
      by: own.forChange(.insert(r(3, 5)), first: nil).addingEqualCounters)
    #expect(merged.row?[1] == .integer(4))
    #expect(merged.disagreement?.state == .open)
    #expect(merged.disagreement?.winners[1] == .hub)
    let image = PreImage(generation: Generation(1), stamp: Stamp(20), row: nil)
    let rebased = rebase([image], to: r(3, 5), onto: r(4, 6), at: Stamp(10), by: own)
    #expect(rebased.row?[1] == .integer(4))
    #expect(rebased.conflicts.map(\.disagreement.state) == [.open])
  }

  @Test("a row that its device deleted and made again counts once")
  func madeAgain() {
    let first = FirstWrite(stamp: Stamp(10), isOnly: true)
    let images = [
      PreImage(generation: Generation(1), stamp: Stamp(10), first: first, row: r(3, 5)),
      PreImage(generation: Generation(2), stamp: Stamp(20), first: first, row: nil),
    ]
    let result = rebase(images, to: r(3, 5), onto: r(3, 6), at: Stamp(100), by: Self.sum.addingEqualCounters)
    #expect(result.row?[1] == .integer(3))
  }

  @Test("NULL is no count, and a sum that is too great is for people")
  func edges() {
    let empty = Row([.string("k"), .null, .integer(5)])
    let none = merge(.insert(empty), at: Stamp(20), onto: empty, others: others(10), by: Self.sum.addingEqualCounters)
    #expect(none == MergeResult(row: empty))
    let great = merge(
      .insert(r(.max, 5)), at: Stamp(20), onto: r(.max, 5), others: others(10), by: Self.sum.addingEqualCounters)
    #expect(great.row == r(.max, 5) && great.disagreement?.state == .open)
  }

  @Test(
    "a copy that repeated its own insert on the other copy's row delivers only its later counts", arguments: counts)
  func ofCopies(later: Int64) {
    // Both copies made the row with the count 3. Then this copy added `later`.
    let replayed = Change.update([ColumnChange(column: 1, was: .integer(3), value: .integer(6 + later))])
    let rest = remainder(of: replayed, after: .insert(r(3, 5)), isReplayed: true, by: Self.sum)
    let expected =
      later == 0 ? [] : [ColumnChange(column: 1, was: .integer(3), value: .integer(3 + later))]
    #expect(rest == .update(expected))
  }
}
