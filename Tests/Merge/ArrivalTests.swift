import SatchelDataset
import SatchelMerge
import SatchelValues
import Testing

/// Two devices change one row without contact, and deliver their changes one after the other.
@Suite("Under newest, the result of two changes does not depend on the order of arrival")
struct ArrivalTests {
  private static let base = r(1, 2)

  /// The row after each device's change; nil: the device deletes the row.
  private static let outcomes: [Row?] = [r(7, 2), r(9, 2), r(1, 7), r(7, 7), r(9, 7), r(9, 9), nil]

  private struct Arrival {
    var row: Row? = ArrivalTests.base
    var others = OthersChanges()
    var isOpen = false
    var lost: [Value] = []

    mutating func take(_ mine: Row?, at stamp: Stamp, by rules: MergeRules) throws {
      let change = try #require(Change(from: ArrivalTests.base, to: mine))
      let result = merge(change, at: stamp, onto: row, others: others, by: rules)
      if result.disagreement?.state == .open { isOpen = true }
      switch Change(from: row, to: result.row) {
      case .update(let changes)?: for change in changes { others.columns[change.column] = stamp }
      case .delete?: others.presence = true
      case .insert?, nil: break
      }
      if Change(from: row, to: result.row) != nil { others.newest = max(others.newest, stamp) }
      row = result.row
    }
  }

  @Test("the row is the same, or a person decides in both orders", arguments: outcomes, outcomes)
  func alike(first: Row?, second: Row?) throws {
    for grain in ["column", "row"] {
      let rules = rules(.newest, #", "merge": "\#(grain)""#)
      var (forth, back) = (Arrival(), Arrival())
      try forth.take(first, at: Stamp(10), by: rules)
      try forth.take(second, at: Stamp(20), by: rules)
      try back.take(second, at: Stamp(20), by: rules)
      try back.take(first, at: Stamp(10), by: rules)
      #expect(forth.isOpen == back.isOpen, "\(grain)")
      if !forth.isOpen { #expect(forth.row == back.row, "\(grain)") }
    }
  }

  @Test("an edit that follows a device's accepted change is no disagreement with what that change met")
  func laterEdit() throws {
    let rules = rules(.newest, #", "merge": "row""#)
    let later = try #require(Change(from: r(7, 7), to: r(7, 8)))
    // The office wrote a. Then the device wrote both columns. Later the device wrote b again.
    var others = OthersChanges(columns: [1: Stamp(10)], newest: Stamp(20))
    others.own = [1, 2]
    let result = merge(later, at: Stamp(30), onto: r(7, 7), others: others, by: rules)
    #expect(result.row == r(7, 8))
    #expect(result.disagreement?.state != .open)
  }

  @Test("two inserts of a row that counts as a whole: one of the two rows is the result")
  func inserts() throws {
    let rules = rules(.newest, #", "merge": "row""#)
    let others = OthersChanges(columns: [1: Stamp(10), 2: Stamp(30)], presence: true, newest: Stamp(30))
    let result = merge(.insert(r(2, 9)), at: Stamp(20), onto: r(5, 6), others: others, by: rules)
    #expect(result.row == r(5, 6))
    #expect(result.disagreement?.winners.values.contains(.device) == false)
  }

  @Test("a row that counts as a whole is never mixed of two devices' rows by a policy", arguments: Policy.allCases)
  func neverMixed(policy: Policy) throws {
    let rules = rules(policy, #", "merge": "row""#)
    for first in Self.outcomes {
      for second in Self.outcomes {
        var arrival = Arrival()
        try arrival.take(first, at: Stamp(10), by: rules)
        try arrival.take(second, at: Stamp(20), by: rules)
        let written = [Self.base, first, second]
        #expect(written.contains(arrival.row), "\(String(describing: first)), \(String(describing: second))")
      }
    }
  }
}
