import Testing

/// Children of a person that the hub has not accepted, because another person has the same PIN.
extension KeptRowTests {
  /// Ben gives the child another parent and deletes his waiting person. Each entry has a name, his exports' statements,
  /// and the child's last parent.
  static let moves: [(String, [String], String)] = [
    ("another parent", ["UPDATE children SET parent = 'ug'; DELETE FROM people WHERE id = 'ub'"], "ug"),
    ("first another parent", ["UPDATE children SET parent = 'ug'", "DELETE FROM people WHERE id = 'ub'"], "ug"),
    (
      "a new parent",
      [
        """
        INSERT INTO people VALUES ('uc', 2, '8', 'Bea'); UPDATE children SET parent = 'uc';
        DELETE FROM people WHERE id = 'ub'
        """
      ], "uc"
    ),
    (
      "a new parent that waits",
      [
        """
        UPDATE children SET parent = 'ug'; DELETE FROM people WHERE id = 'ub';
        INSERT INTO people VALUES ('uc', 2, '7', 'Bea'); UPDATE children SET parent = 'uc'
        """
      ], "uc"
    ),
  ]

  @Test("a child that gets another parent stays when the row is deleted", arguments: moves)
  func movedChild(move: (what: String, edits: [String], parent: String)) throws {
    let camp = try open(isRivalSeen: false)
    try camp.sql("office.sqlite", "INSERT INTO people VALUES ('ug', 2, '5', 'Gil')")
    try camp.deliver("tablet")
    try camp.deliver("phone")
    try camp.answer("phone")
    for edit in move.edits {
      try camp.sql("phone/data.sqlite", edit)
      try camp.deliver("phone")
      try camp.answer("phone")
      #expect(try phone(camp)[1] == "cb|\(move.parent)|Bo")
    }
    if move.what == "a new parent that waits" {
      #expect(try camp.rows("office.sqlite", Self.queries[1]) == "")
      let id = try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts WHERE state = 'open'")
      let decided = camp.hub("conflicts", "resolve", id, "--keep", "device")
      #expect(decided.code == 0, "\(decided.error)")
      try camp.answer("phone")
    }
    #expect(try camp.rows("office.sqlite", Self.queries[1]) == "cb|\(move.parent)|Bo")
    #expect(try phone(camp)[1] == "cb|\(move.parent)|Bo")
    let left = "SELECT count(*) FROM satchel_conflicts WHERE state IN ('open', 'held')"
    #expect(try camp.rows("office.sqlite", left) == "0")
    #expect(try camp.rows("phone/data.sqlite", left) == "0")
    try expectPeace(camp)
  }

  @Test("a child that gets another parent stays, also beside a delete that waits for another such child")
  func movedBesideDelete() throws {
    let camp = try open(isRivalSeen: false)
    try camp.sql(
      "office.sqlite",
      """
      INSERT INTO people VALUES ('u0', 2, '1', 'Zoe'), ('ug', 2, '5', 'Gil');
      INSERT INTO children VALUES ('c0', 'u0', 'Zed')
      """)
    try camp.deliver("tablet")
    try camp.deliver("phone")
    try camp.answer("phone")
    try camp.sql(
      "phone/data.sqlite", "UPDATE children SET parent = 'ug'; DELETE FROM people WHERE id IN ('u0', 'ub')")
    try camp.deliver("phone")
    try camp.answer("phone")
    #expect(try camp.rows("office.sqlite", Self.queries[1]) == "c0|ug|Zed\ncb|ug|Bo")
    #expect(try phone(camp)[1] == "c0|ug|Zed\ncb|ug|Bo")
    try expectPeace(camp)
  }

  @Test("a child that is deleted with the row, or left below it, ends with it", arguments: [false, true])
  func deletedChild(isLeft: Bool) throws {
    let camp = try open(isRivalSeen: false)
    try camp.deliver("tablet")
    try camp.deliver("phone")
    try camp.answer("phone")
    if isLeft {
      try camp.sql("phone/data.sqlite", "PRAGMA foreign_keys = OFF; DELETE FROM people WHERE id = 'ub'")
    } else {
      try camp.sql("phone/data.sqlite", "DELETE FROM children; DELETE FROM people WHERE id = 'ub'")
    }
    try camp.deliver("phone")
    let states = "SELECT DISTINCT state FROM satchel_conflicts"
    #expect(try camp.rows("office.sqlite", states) == "resolved")
    try camp.answer("phone")
    #expect(try phone(camp) == ["", ""])
    try expectPeace(camp)
  }
}
