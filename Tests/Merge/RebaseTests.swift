import SatchelDataset
import SatchelMerge
import SatchelValues
import Testing

/// Tests `rebase` by orderings: the device's pending writes by generation, then the row that a bundle from the hub
/// brings.
@Suite struct RebaseTests {
  /// - Parameter history: the row before the first pending write, and after the writes of the generations 1, 2, 3, ...
  private func replay(
    _ history: [Row?], onto incoming: Row?, _ policy: Policy = .manual, at incomingStamp: Int64 = 100
  ) -> Rebased {
    let images = history.dropLast().enumerated().map { index, row in
      PreImage(generation: Generation(Int64(index + 1)), stamp: Stamp(Int64(index + 1) * 10), row: row)
    }
    return rebase(images, to: history.last!, onto: incoming, at: Stamp(incomingStamp), by: rules(policy))
  }

  private func generations(_ lost: [Rebased.Lost]) -> [Int64] { lost.map(\.image.generation.rawValue) }

  @Test("the hub sends the row as the device had it: nothing changes")
  func unchanged() {
    let result = replay([r(1, 2), r(7, 2), r(7, 8)], onto: r(1, 2))
    #expect(result.row == r(7, 8))
    #expect(result.images.map(\.row) == [r(1, 2), r(7, 2)])
    #expect(result.conflicts.isEmpty)
  }

  @Test("the device changes a, the hub b: both count, and the pending step starts from the hub's row")
  func differentColumns() {
    let result = replay([r(1, 2), r(7, 2)], onto: r(1, 9))
    #expect(result.row == r(7, 9))
    #expect(result.images == [PreImage(generation: Generation(1), stamp: Stamp(10), row: r(1, 9))])
    #expect(result.conflicts.isEmpty)
  }

  @Test(
    "the device changes a, the hub a; people decide: the hub's value is shown, the device's kept, nothing is pending")
  func sameColumn() {
    let result = replay([r(1, 2), r(7, 2)], onto: r(9, 2))
    #expect(result.row == r(9, 2))
    #expect(generations(result.conflicts) == [1])
    #expect(result.conflicts[0].disagreement == Disagreement(kind: .updateUpdate, state: .open, winners: [1: .hub]))
    #expect(result.conflicts[0].met == r(9, 2))
    #expect(changes(from: result.images, to: result.row).isEmpty)
  }

  @Test("a loses in generation 1; b of generation 2 wins and stays in its generation")
  func partly() {
    let result = replay([r(1, 2), r(7, 2), r(7, 8)], onto: r(9, 2))
    #expect(result.row == r(9, 8))
    #expect(generations(result.conflicts) == [1])
    let pending = changes(from: result.images, to: result.row)
    #expect(pending.map(\.image.generation) == [Generation(2)])
    #expect(pending.map(\.change) == [.update([ColumnChange(column: 2, was: .integer(2), value: .integer(8))])])
  }

  @Test("a is written in two generations and loses: each of its values is kept")
  func twice() {
    let result = replay([r(1, 2), r(7, 2), r(8, 2)], onto: r(9, 2))
    #expect(result.row == r(9, 2))
    #expect(generations(result.conflicts) == [1, 2])
  }

  @Test("a is written in two generations and wins: the last value stays, and both steps travel")
  func twiceWinning() {
    let result = replay([r(1, 2), r(7, 2), r(8, 2)], onto: r(9, 2), .device)
    #expect(result.row == r(8, 2))
    #expect(result.images.map(\.row) == [r(9, 2), r(7, 2)])
    #expect(result.conflicts.allSatisfy { $0.disagreement.state == .settled })
  }

  @Test("the device changes a, the row is revoked: it leaves, and the change is kept")
  func revoked() {
    let result = replay([r(1, 2), r(7, 2)], onto: nil)
    #expect(result.row == nil)
    #expect(result.conflicts.map(\.disagreement.kind) == [.updateDelete])
    #expect(changes(from: result.images, to: result.row).isEmpty)
  }

  @Test("the device inserts a row that the hub has not: it stays pending")
  func insertion() {
    let result = replay([nil, r(1, 2), r(7, 2)], onto: nil)
    #expect(result.row == r(7, 2))
    #expect(result.images.map(\.row) == [nil, r(1, 2)])
    #expect(result.conflicts.isEmpty)
  }

  @Test("the device inserts and changes a row that the hub sends otherwise: both steps are kept, the hub's row wins")
  func insertionMeetsInsertion() {
    let result = replay([nil, r(1, 2), r(7, 2)], onto: r(9, 2))
    #expect(result.row == r(9, 2))
    #expect(result.conflicts.map(\.disagreement.kind) == [.insertInsert, .updateUpdate])
  }

  @Test("the device deletes a row that the hub left alone: it stays deleted")
  func deletion() {
    let result = replay([r(1, 2), nil], onto: r(1, 2))
    #expect(result.row == nil)
    #expect(result.images.map(\.row) == [r(1, 2)])
    #expect(result.conflicts.isEmpty)
  }

  @Test("the device deletes a row that the hub changed; people decide: it is there again")
  func deletionMeetsUpdate() {
    let result = replay([r(1, 2), nil], onto: r(9, 2))
    #expect(result.row == r(9, 2))
    #expect(result.conflicts.map(\.disagreement.kind) == [.deleteUpdate])
  }

  @Test("the device deletes a row that the hub marked: nothing is pending, and the delete is known for its unit")
  func deletionMeetsMark() {
    let image = PreImage(generation: Generation(1), stamp: Stamp(10), row: r(1, 0))
    let result = rebase(
      [image], to: nil, onto: r(1, 1), at: Stamp(100), by: rules(.manual, #", "delete": "soft", "deleted": "b""#))
    #expect(result.row == r(1, 1))
    #expect(result.images.map(\.row) == [r(1, 1)])
    #expect(result.conflicts.isEmpty)
    #expect(result.repeatedDeletes.map(\.disagreement) == [Disagreement(kind: .updateDelete, state: .open)])
  }

  @Test("the device deletes and inserts again, the hub changes: both steps are kept")
  func reborn() {
    let result = replay([r(1, 2), nil, r(5, 6)], onto: r(9, 2))
    #expect(result.row == r(9, 2))
    #expect(result.conflicts.map(\.disagreement.kind) == [.deleteUpdate, .insertInsert])
  }

  @Test("a row that was changed and changed back takes the hub's row")
  func changedBack() {
    let result = replay([r(1, 2), r(1, 2)], onto: r(9, 9))
    #expect(result.row == r(9, 9))
    #expect(result.images.map(\.row) == [r(9, 9)])
    #expect(result.conflicts.isEmpty)
  }

  @Test("the newest wins: the device's later write stays, its earlier write is kept as a conflict")
  func newest() {
    // The write of generation 1 has the stamp 10, and the write of generation 2 has the stamp 20.
    let result = replay([r(1, 2), r(7, 2), r(8, 2)], onto: r(9, 2), .newest, at: 15)
    #expect(result.row == r(8, 2))
    #expect(result.conflicts.map { Ordering.described($0.disagreement) } == ["a hub", "a device"])
  }

  @Test("the same row sent again changes nothing more", arguments: Policy.allCases)
  func repetition(policy: Policy) {
    let histories: [[Row?]] = [
      [r(1, 2), r(7, 2)], [r(1, 2), r(7, 2), r(7, 8)], [nil, r(7, 2), r(7, 8)], [r(1, 2), nil],
      [r(1, 2), nil, r(5, 6)],
    ]
    for history in histories {
      for incoming in [r(1, 2), r(9, 2), r(9, 9), nil] {
        let once = replay(history, onto: incoming, policy)
        let again = rebase(once.images, to: once.row, onto: incoming, at: Stamp(100), by: rules(policy))
        #expect(again.row == once.row)
        #expect(again.images == once.images)
        #expect(again.conflicts.isEmpty)
      }
    }
  }
}
