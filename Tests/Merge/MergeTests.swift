import SatchelDataset
import SatchelMerge
import SatchelValues
import Testing

/// Tests `merge` by orderings: the row that the device saw, the hub's change, the device's change, and the result.
@Suite struct MergeTests {
  static let orderings: [Ordering] = [
    // There is no disagreement.
    Ordering("the device changes a", .manual, base: r(1, 2), hub: r(1, 2), mine: r(7, 2), gives: r(7, 2)),
    Ordering("the hub changes a, the device b", .manual, base: r(1, 2), hub: r(9, 2), mine: r(1, 7), gives: r(9, 7)),
    Ordering("both change a alike", .manual, base: r(1, 2), hub: r(9, 2), mine: r(9, 2), gives: r(9, 2)),
    Ordering("the device inserts", .manual, base: nil, hub: nil, mine: r(1, 2), gives: r(1, 2)),
    Ordering("both insert alike", .manual, base: nil, hub: r(1, 2), mine: r(1, 2), gives: r(1, 2)),
    Ordering("the device deletes", .manual, base: r(1, 2), hub: r(1, 2), mine: nil, gives: nil),
    Ordering("both delete", .manual, base: r(1, 2), hub: nil, mine: nil, gives: nil),

    // Both sides change one column.
    Ordering(
      "the hub changes a, the device a; people decide", .manual, base: r(1, 2), hub: r(9, 2), mine: r(7, 2),
      gives: r(9, 2),
      (.updateUpdate, .open), "a hub"),
    Ordering(
      "the hub changes a, the device a; the hub wins", .hub, base: r(1, 2), hub: r(9, 2), mine: r(7, 2), gives: r(9, 2),
      (.updateUpdate, .settled), "a hub"),
    Ordering(
      "the hub changes a, the device a; the device wins", .device, base: r(1, 2), hub: r(9, 2), mine: r(7, 2),
      gives: r(7, 2),
      (.updateUpdate, .settled), "a device"),
    Ordering(
      "the hub changes a at 10, the device a at 20; the newest wins", .newest, base: r(1, 2), hub: r(9, 2), at: 10,
      mine: r(7, 2),
      at: 20, gives: r(7, 2), (.updateUpdate, .settled), "a device"),
    Ordering(
      "the device changes a at 20, the hub a at 30; the newest wins", .newest, base: r(1, 2), hub: r(9, 2), at: 30,
      mine: r(7, 2), at: 20, gives: r(9, 2), (.updateUpdate, .settled), "a hub"),
    Ordering(
      "both change a at 20; with equal stamps the hub wins", .newest, base: r(1, 2), hub: r(9, 2), at: 20,
      mine: r(7, 2),
      at: 20, gives: r(9, 2), (.updateUpdate, .settled), "a hub"),
    Ordering(
      "the hub changes a, the device a and b: b is taken", .manual, base: r(1, 2), hub: r(9, 2), mine: r(7, 8),
      gives: r(9, 8),
      (.updateUpdate, .open), "a hub"),
    Ordering(
      "both change both, one of them alike", .manual, base: r(1, 2), hub: r(9, 8), mine: r(7, 8), gives: r(9, 8),
      (.updateUpdate, .open), "a hub"),
    Ordering(
      "both change both; a's own policy is the device's", .manual, rest: #", "columns": { "a": "device" }"#,
      base: r(1, 2),
      hub: r(9, 8), mine: r(5, 6), gives: r(5, 8), (.updateUpdate, .open), "a device, b hub"),
    Ordering(
      "both change both; each column's own policy settles it", .manual,
      rest: #", "columns": { "a": "device", "b": "hub" }"#,
      base: r(1, 2), hub: r(9, 8), mine: r(5, 6), gives: r(5, 8), (.updateUpdate, .settled), "a device, b hub"),

    // Rows are merged as a whole.
    Ordering(
      "the hub changes a, the device b; the row counts as a whole", .manual, rest: #", "merge": "row""#, base: r(1, 2),
      hub: r(9, 2), mine: r(1, 7), gives: r(9, 2), (.updateUpdate, .open), "b hub"),
    Ordering(
      "the hub changes a, the device b; the row counts as a whole, and no policy mixes them", .device,
      rest: #", "merge": "row""#,
      base: r(1, 2), hub: r(9, 2), mine: r(1, 7), gives: r(9, 2), (.updateUpdate, .open), "b hub"),
    Ordering(
      "the hub changes a, the device both; the row counts as a whole, and the device wins", .device,
      rest: #", "merge": "row""#, base: r(1, 2), hub: r(9, 2), mine: r(5, 7), gives: r(5, 7),
      (.updateUpdate, .settled), "a device, b device"),
    Ordering(
      "the device makes the hub's change and one more; the row counts as a whole", .manual, rest: #", "merge": "row""#,
      base: r(1, 2), hub: r(9, 2), mine: r(9, 7), gives: r(9, 7)),
    Ordering(
      "the device changes b alone; the row counts as a whole", .manual, rest: #", "merge": "row""#, base: r(1, 2),
      hub: r(1, 2), mine: r(1, 7), gives: r(1, 7)),

    // One side deletes the row, and the other side changes it.
    Ordering(
      "the hub changes a, the device deletes; people decide", .manual, base: r(1, 2), hub: r(9, 2), mine: nil,
      gives: r(9, 2),
      (.deleteUpdate, .open), "row hub"),
    Ordering(
      "the hub changes a, the device deletes; the hub wins", .hub, base: r(1, 2), hub: r(9, 2), mine: nil,
      gives: r(9, 2),
      (.deleteUpdate, .settled), "row hub"),
    Ordering(
      "the hub changes a, the device deletes; the device wins", .device, base: r(1, 2), hub: r(9, 2), mine: nil,
      gives: nil,
      (.deleteUpdate, .settled), "row device"),
    Ordering(
      "the device deletes at 20, the hub changes a at 30; newest, and people decide", .newest, base: r(1, 2),
      hub: r(9, 2), at: 30,
      mine: nil, at: 20, gives: r(9, 2), (.deleteUpdate, .open), "row hub"),
    Ordering(
      "the hub changes a at 10, the device deletes at 20; the newest wins", .newest, base: r(1, 2), hub: r(9, 2),
      at: 10,
      mine: nil, at: 20, gives: nil, (.deleteUpdate, .settled), "row device"),
    Ordering(
      "the hub deletes, the device changes a; people decide", .manual, base: r(1, 2), hub: nil, mine: r(7, 2),
      gives: nil,
      (.updateDelete, .open), "row hub"),
    Ordering(
      "the hub deletes, the device changes a; the hub wins", .hub, base: r(1, 2), hub: nil, mine: r(7, 2), gives: nil,
      (.updateDelete, .settled), "row hub"),
    Ordering(
      "the hub deletes, the device changes a; an update brings nothing back, so people decide", .device, base: r(1, 2),
      hub: nil,
      mine: r(7, 2), gives: nil, (.updateDelete, .open), "row hub"),
    Ordering(
      "the hub deletes at 10, the device changes a at 20; newest, and people decide", .newest, base: r(1, 2), hub: nil,
      at: 10,
      mine: r(7, 2), at: 20, gives: nil, (.updateDelete, .open), "row hub"),
    Ordering(
      "the device changes a at 20, the hub deletes at 30; newest", .newest, base: r(1, 2), hub: nil, at: 30,
      mine: r(7, 2),
      at: 20, gives: nil, (.updateDelete, .settled), "row hub"),

    // Both sides insert a row with the same key.
    Ordering(
      "both insert; people decide", .manual, base: nil, hub: r(9, 2), mine: r(7, 2), gives: r(9, 2),
      (.insertInsert, .open),
      "a hub"),
    Ordering(
      "both insert; the hub wins", .hub, base: nil, hub: r(9, 8), mine: r(7, 6), gives: r(9, 8),
      (.insertInsert, .settled),
      "a hub, b hub"),
    Ordering(
      "both insert; the device wins", .device, base: nil, hub: r(9, 8), mine: r(7, 6), gives: r(7, 6),
      (.insertInsert, .settled),
      "a device, b device"),
    Ordering(
      "the hub inserts at 10, the device at 20; the newest wins", .newest, base: nil, hub: r(9, 8), at: 10,
      mine: r(7, 6),
      at: 20, gives: r(7, 6), (.insertInsert, .settled), "a device, b device"),
    Ordering(
      "the device inserts at 20, the hub at 30; the newest wins", .newest, base: nil, hub: r(9, 8), at: 30,
      mine: r(7, 6),
      at: 20, gives: r(9, 8), (.insertInsert, .settled), "a hub, b hub"),
    Ordering(
      "the hub has deleted the row since the device saw it; the device makes it again, and people decide", .manual,
      base: nil,
      hub: nil, presence: true, mine: r(7, 2), gives: nil, (.updateDelete, .open), "row hub"),

    // Columns whose changes on both sides are combined.
    Ordering("both add to a counter", .manual, rest: sum, base: r(5, 2), hub: r(7, 2), mine: r(6, 2), gives: r(8, 2)),
    Ordering(
      "both add the same to a counter", .manual, rest: sum, base: r(5, 2), hub: r(7, 2), mine: r(7, 2), gives: r(9, 2)),
    Ordering(
      "one takes from a counter, one adds", .manual, rest: sum, base: r(5, 2), hub: r(1, 2), mine: r(6, 2),
      gives: r(2, 2)),
    Ordering(
      "a counter that would be too great is for people", .manual, rest: sum, base: r(0, 2), hub: r(.max, 2),
      mine: r(1, 2),
      gives: r(.max, 2), (.updateUpdate, .open), "a hub"),
    Ordering(
      "both add the same to a counter, and it would be too great", .manual, rest: sum, base: r(.max - 2, 2),
      hub: r(.max, 2), mine: r(.max, 2), gives: r(.max, 2), (.updateUpdate, .open), "a hub"),
    Ordering(
      "of two the greatest", .manual, rest: #", "columns": { "a": "max" }"#, base: r(5, 2), hub: r(7, 2), mine: r(9, 2),
      gives: r(9, 2), (.updateUpdate, .settled), "a device"),
    Ordering(
      "of two the least", .manual, rest: #", "columns": { "a": "min" }"#, base: r(5, 2), hub: r(7, 2), mine: r(9, 2),
      gives: r(7, 2), (.updateUpdate, .settled), "a hub"),
    Ordering(
      "only the device changed it: it may fall", .manual, rest: #", "columns": { "a": "max" }"#, base: r(5, 2),
      hub: r(5, 2), mine: r(3, 2), gives: r(3, 2)),

    // Tables in which a deleted row is marked. A delete and a mark have the same effect.
    Ordering(
      "the device deletes; the row is marked", .manual, rest: soft, base: r(1, 0), hub: r(1, 0), mine: nil,
      gives: r(1, 1)),
    Ordering("the device marks", .manual, rest: soft, base: r(1, 0), hub: r(1, 0), mine: r(1, 5), gives: r(1, 5)),
    Ordering("both mark", .manual, rest: soft, base: r(1, 0), hub: r(1, 5), mine: r(1, 6), gives: r(1, 5)),
    Ordering(
      "the hub marks, the device deletes", .manual, rest: soft, base: r(1, 0), hub: r(1, 5), mine: nil, gives: r(1, 5)),
    Ordering(
      "the hub changes a, the device marks; people decide", .manual, rest: soft, base: r(1, 0), hub: r(9, 0),
      mine: r(1, 1),
      gives: r(9, 0), (.deleteUpdate, .open), "row hub"),
    Ordering(
      "the hub changes a, the device deletes; the device wins, and the row is marked", .device, rest: soft,
      base: r(1, 0),
      hub: r(9, 0), mine: nil, gives: r(9, 1), (.deleteUpdate, .settled), "row device"),
    Ordering(
      "the hub marks, the device changes a; what is deleted stays deleted", .device, rest: soft, base: r(1, 0),
      hub: r(1, 1),
      mine: r(7, 0), gives: r(1, 1), (.updateDelete, .open), "row hub"),
    Ordering(
      "the hub marks, the device changes a; the hub wins", .hub, rest: soft, base: r(1, 0), hub: r(1, 1), mine: r(7, 0),
      gives: r(1, 1), (.updateDelete, .settled), "row hub"),
  ]

  private static let sum = #", "columns": { "a": "sum" }"#
  private static let soft = #", "delete": "soft", "deleted": "b""#

  @Test("a delete of a row that another writer marked repeats a delete, unless the device had seen the mark")
  func repeatedDeletes() throws {
    let cases: [(base: Row, mine: Row?, marked: Int, repeats: Bool)] = [
      (r(1, 0), nil, 2, true), (r(1, 0), r(1, 6), 2, true), (r(1, 5), nil, 2, false), (r(1, 5), r(1, 6), 2, false),
      // The other writer changed only the other column.
      (r(1, 0), nil, 1, false),
    ]
    for (base, mine, column, repeats) in cases {
      let change = try #require(Change(from: base, to: mine))
      let result = merge(
        change, at: Stamp(20), onto: r(1, 7), others: OthersChanges(columns: [column: Stamp(10)], newest: Stamp(10)),
        by: rules(.manual, Self.soft))
      #expect(result.row == r(1, 7))
      #expect(result.disagreement == nil)
      #expect(result.repeatsDelete == repeats)
    }
  }

  @Test(
    "sets: what either side put in is in, and what either took out is out",
    arguments: [
      ("[1,2]", "[1,2,3]", "[1,2,4]", "[1,2,3,4]"), ("[1,2]", "[1]", "[1,2,4]", "[1,4]"),
      ("[1,2]", "[1,2,3]", "[2]", "[2,3]"),
      ("[1]", "[2,1]", "[1,2]", "[2,1]"),
      (#"["a",{"b":1}]"#, #"[{"b":1}]"#, #"["a",{"b":1},null]"#, #"[{"b":1},null]"#),
    ])
  func sets(base: String, hub: String, mine: String, expected: String) {
    func row(_ text: String) -> Row { Row([.string("k"), .string(text), .null]) }
    let result = merge(
      .update([ColumnChange(column: 1, was: .string(base), value: .string(mine))]), at: Stamp(20), onto: row(hub),
      others: OthersChanges(columns: [1: Stamp(10)], newest: Stamp(10)),
      by: rules(.manual, #", "columns": { "a": "union" }"#))
    #expect(result == MergeResult(row: row(expected)))
  }

  @Test("sets with very many elements are for people")
  func largeSets() {
    func row(_ text: String) -> Row { Row([.string("k"), .string(text), .null]) }
    func set(_ count: Int) -> String { "[\((0..<count).map(String.init).joined(separator: ","))]" }
    for (count, isMerged) in [(99_999, true), (100_001, false)] {
      let result = merge(
        .update([ColumnChange(column: 1, was: .string("[]"), value: .string(set(count)))]), at: Stamp(20),
        onto: row("[0]"), others: OthersChanges(columns: [1: Stamp(10)], newest: Stamp(10)),
        by: rules(.manual, #", "columns": { "a": "union" }"#))
      #expect((result.disagreement == nil) == isMerged)
    }
  }

  @Test(
    "a change that a counter or a set may contain already is for people, unless it changes nothing",
    arguments: [
      ("sum", Value.integer(105), Value.integer(5), true), ("sum", .integer(105), .null, false),
      ("union", .string("[1]"), .string("[1,2]"), true), ("union", .string("[1,2]"), .string("[2]"), false),
    ])
  func uncertain(word: String, hub: Value, mine: Value, isOpen: Bool) {
    func row(_ value: Value) -> Row { Row([.string("k"), value, .null]) }
    var others = OthersChanges(columns: [1: Stamp(10)], newest: Stamp(10), judge: .stamps)
    others.uncertain = [1]
    let changes: [Change] = [.insert(row(mine)), .update([ColumnChange(column: 1, was: .null, value: mine)])]
    for change in changes {
      let result = merge(
        change, at: Stamp(5), onto: row(hub), others: others,
        by: rules(.device, ", \"columns\": { \"a\": \"\(word)\" }"))
      #expect(result.row == row(hub))
      #expect(result.disagreement?.state == (isOpen ? .open : nil))
      #expect(result.disagreement?.kind == (isOpen ? .updateUpdate : nil))
    }
  }

  @Test("values that cannot be brought together are for people", arguments: ["sum", "union", "max"])
  func notCombinable(word: String) {
    func row(_ value: Value) -> Row { Row([.string("k"), value, .null]) }
    let result = merge(
      .update([ColumnChange(column: 1, was: .blob([0]), value: .blob([1]))]), at: Stamp(20), onto: row(.blob([2])),
      others: OthersChanges(columns: [1: Stamp(10)], newest: Stamp(10)),
      by: rules(.device, ", \"columns\": { \"a\": \"\(word)\" }"))
    #expect(result.row == row(.blob([2])) && result.disagreement?.state == .open)
  }

  @Test("the order of writes decides the result", arguments: orderings)
  func ordering(_ ordering: Ordering) throws {
    let change = try #require(Change(from: ordering.base, to: ordering.mine))
    let result = merge(
      change, at: Stamp(ordering.mineAt), onto: ordering.hub, others: ordering.others,
      by: rules(ordering.policy, ordering.rest))
    #expect(result.row == ordering.row)
    #expect(result.disagreement?.kind == ordering.conflict?.kind)
    #expect(result.disagreement?.state == ordering.conflict?.state)
    #expect(result.disagreement.map { Ordering.described($0) } ?? "" == ordering.winners)
  }

  @Test("a change of a value that only the device had changed causes no disagreement")
  func ownChanges() {
    // The hub's row differs from the row at the device's start. But no other writer has changed it since.
    let result = merge(
      .update([ColumnChange(column: 1, was: .integer(1), value: .integer(7))]), at: Stamp(20), onto: r(5, 2),
      others: OthersChanges(newest: Stamp(30)), by: rules(.manual))
    #expect(result == MergeResult(row: r(7, 2)))
  }

  @Test("a row that went and came back has been changed in all its columns")
  func presence() {
    let others = OthersChanges(columns: [0: Stamp(5), 1: Stamp(5), 2: Stamp(5)], presence: true, newest: Stamp(5))
    let result = merge(.delete(was: r(1, 2)), at: Stamp(20), onto: r(1, 2), others: others, by: rules(.manual))
    #expect(result.row == r(1, 2))
    #expect(result.disagreement == Disagreement(kind: .deleteUpdate, state: .open))
  }

  @Test(
    "a policy decides, and between equal stamps the hub wins",
    arguments: [
      (Policy.hub, 20, 10, Winner.hub, ConflictState.settled), (.hub, 10, 20, .hub, .settled),
      (.device, 10, 20, .device, .settled), (.device, 20, 10, .device, .settled),
      (.newest, 20, 10, .device, .settled), (.newest, 10, 20, .hub, .settled), (.newest, 20, 20, .hub, .settled),
      (.manual, 20, 10, .hub, .open), (.manual, 10, 20, .hub, .open),
    ] as [(Policy, Int64, Int64, Winner, ConflictState)])
  func deciding(policy: Policy, device: Int64, hub: Int64, winner: Winner, state: ConflictState) {
    let verdict = decide(policy, device: Stamp(device), hub: Stamp(hub))
    #expect(verdict.winner == winner)
    #expect(verdict.state == state)
  }

  @Test(
    "in a column that was decided before, the hub's value stays by any rule; the other columns are merged as usual",
    arguments: [#""a": "sum""#, #""a": "device""#, #""a": "max""#, #""b": "sum""#],
    [OthersChanges.Judge.policies, .stamps])
  func decidedBefore(columns: String, judge: OthersChanges.Judge) {
    let keeping = rules(.newest, ", \"columns\": { \(columns) }").keeping(decided: [1])
    let others = OthersChanges(columns: [1: Stamp(5)], newest: Stamp(5), judge: judge)
    let change = Change.update([
      ColumnChange(column: 1, was: .integer(1), value: .integer(9)),
      ColumnChange(column: 2, was: .integer(2), value: .integer(7)),
    ])
    for known in [others, OthersChanges()] {
      let result = merge(change, at: Stamp(10), onto: r(3, 2), others: known, by: keeping)
      #expect(result.row == r(3, 7))
      #expect(result.disagreement == Disagreement(kind: .updateUpdate, state: .settled, winners: [1: .hub]))
      let equal = merge(change, at: Stamp(10), onto: r(9, 2), others: known, by: keeping)
      #expect(equal.row == r(9, 7))
      #expect(equal.disagreement == nil)
    }
  }

  @Test(
    "if the later of two stamps is doubtful, newest leaves the hub's value and a person decides",
    arguments: [
      (5, 9, false), (9, 5, false), (15, 25, false), (25, 15, false), (15, 9, true), (9, 15, true), (10, 5, true),
      (20, 20, true), (19, 21, false),
    ] as [(Int64, Int64, Bool)])
  func doubting(device: Int64, hub: Int64, isInDoubt: Bool) {
    let doubtful = DoubtfulTimes([Stamp(10)...Stamp(20)])
    for policy in [Policy.hub, .device, .manual, .newest] {
      let (verdict, usual) = (
        decide(policy, device: Stamp(device), hub: Stamp(hub), doubtful),
        decide(policy, device: Stamp(device), hub: Stamp(hub))
      )
      let isOpened = policy == .newest && isInDoubt
      #expect(verdict.winner == (isOpened ? .hub : usual.winner))
      #expect(verdict.state == (isOpened ? .open : usual.state))
      #expect(policy.isInDoubt(by: verdict) == isOpened)
    }
  }
}

/// Properties of every merge. They are tested with random rows and changes.
@Suite struct MergeProperties {
  private static func value(_ random: inout SystemRandomNumberGenerator) -> Value {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: .null
    case 1: .string(["x", "y"].randomElement(using: &random) ?? "x")
    default: .integer(Int64.random(in: 0..<3, using: &random))
    }
  }

  private static func row(_ random: inout SystemRandomNumberGenerator) -> Row? {
    Int.random(in: 0..<5, using: &random) == 0 ? nil : Row([.string("k"), value(&random), value(&random)])
  }

  @Test(
    """
    identical changes and changes of different columns never disagree; every value comes from one side; the loser is \
    in the record
    """,
    arguments: Policy.allCases, [#""merge": "column""#, #""merge": "row""#, #""columns": { "a": "max", "b": "min" }"#])
  func properties(policy: Policy, rest: String) {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let (base, hub, mine) = (Self.row(&random), Self.row(&random), Self.row(&random))
      guard let change = Change(from: base, to: mine) else { continue }
      let theirs = Change(from: base, to: hub)
      let stamp = Stamp(Int64.random(in: 5..<15, using: &random))
      let ordering = Ordering("", policy, base: base, hub: hub, mine: mine, gives: nil)
      let result = merge(change, at: stamp, onto: hub, others: ordering.others, by: rules(policy, ", \(rest)"))
      if theirs == change { #expect(result.disagreement == nil && result.row == hub) }
      if theirs == nil { #expect(result.disagreement == nil && result.row == mine) }
      if case .update(let ours)? = Change(from: base, to: mine), case .update(let others)? = theirs,
        !rest.contains("row"),
        Set(ours.map(\.column)).isDisjoint(with: others.map(\.column))
      {
        #expect(result.disagreement == nil)
      }
      for column in 1...2 {
        if let made = result.row?[column] { #expect([base, hub, mine].contains { $0?[column] == made }) }
        // The disagreement must list every value that was not applied and is not in the row.
        if let mine, let base, let made = result.row, mine[column] != base[column], made[column] != mine[column] {
          let winners = result.disagreement?.winners
          #expect(winners?[column] == .hub || winners?.isEmpty == true, "\(base) \(hub as Any) \(mine)")
        }
      }
      // If the same change is merged again, nothing changes.
      if result.disagreement == nil, let row = result.row {
        let again = merge(
          change, at: stamp, onto: row, others: OthersChanges(newest: stamp), by: rules(policy, ", \(rest)"))
        if case .update = change { #expect(again.row == row && again.disagreement == nil) }
      }
    }
  }
}
