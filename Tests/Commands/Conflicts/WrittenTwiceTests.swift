import SatchelJSON
import Testing

/// The office writes a value, and only the tablet receives it. Then the phone writes the same value independently.
@Suite("A value that two writers wrote counts as written by both")
struct WrittenTwiceTests {
  enum Act: String, CaseIterable {
    case delete = "DELETE FROM t WHERE id = 'k'"
    case update = "UPDATE t SET a = 'later' WHERE id = 'k'"
    case updateOfBoth = "UPDATE t SET a = 'later', b = 'later' WHERE id = 'k'"
  }

  private static let policies = [
    #""newest""#, #""hub""#, #""manual""#, #""device""#,
    #""manual", "columns": { "a": "max" }"#, #""newest", "delete": "soft", "deleted": "gone""#,
  ]

  private func open(_ policy: String, more: String = "") throws -> TwoDeviceFixture {
    let field = try TwoDeviceFixture(
      """
      CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT, b TEXT, gone INTEGER NOT NULL DEFAULT 0);
      INSERT INTO t (id, a, b) VALUES ('k', 'a0', 'b0');
      """, #""t": { "conflict": \#(policy)\#(more) }"#)
    for name in ["tablet", "phone"] { try field.answer(name) }
    return field
  }

  /// The tablet receives the office's write, and then makes its own write. The phone writes later, without the office's
  /// write.
  private func write(office: String, tablet: String, phone: String, in field: TwoDeviceFixture) throws {
    try field.sql("office", office)
    try field.answer("tablet")
    try field.wait()
    try field.sql("tablet", tablet)
    try field.wait()
    try field.sql("phone", phone)
  }

  /// The office and the phone write the same value. Then both devices deliver in this order.
  private func play(_ act: String, _ write: String, _ order: [String], in field: TwoDeviceFixture) throws {
    try self.write(office: write, tablet: act, phone: write, in: field)
    for name in order { try field.deliver(name) }
  }

  private func outcome(_ act: Act, _ policy: String, _ order: [String]) throws -> (rows: String, kinds: [String]) {
    let field = try open(policy)
    try play(act.rawValue, "UPDATE t SET a = 'same' WHERE id = 'k'", order, in: field)
    let result = (try field.rows("office", "SELECT * FROM t"), try field.kinds())
    try field.peace(["SELECT * FROM t"])
    return result
  }

  @Test(
    "a change that knew only the first write meets the second one, in both orders", arguments: Act.allCases, policies)
  func met(_ act: Act, _ policy: String) throws {
    let tabletFirst = try outcome(act, policy, ["tablet", "phone"])
    let phoneFirst = try outcome(act, policy, ["phone", "tablet"])
    #expect(!tabletFirst.kinds.isEmpty && !phoneFirst.kinds.isEmpty, "\(tabletFirst) \(phoneFirst)")
    if policy == Self.policies[0], act != .delete { #expect(tabletFirst.rows == phoneFirst.rows) }
  }

  @Test(
    "values that are there already are no changes: they are not taken, and no brake asks for them",
    arguments: [#""manual""#, #""manual", "delete": "soft", "deleted": "gone""#])
  func unbraked(policy: String) throws {
    let field = try open(policy)
    try field.sql(
      "office",
      """
      WITH n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 60)
      INSERT INTO t (id, a) SELECT 'r' || i, 'open' FROM n;
      INSERT INTO t (id, a) SELECT 's' || id, 'open' FROM t WHERE id LIKE 'r_' OR id LIKE 'r1_' OR id LIKE 'r2_'
      """)
    for name in ["tablet", "phone"] { try field.answer(name) }
    let column = policy.contains("soft") ? "gone = 1" : "a = 'closed'"
    for name in ["office", "phone"] { try field.sql(name, "UPDATE t SET \(column) WHERE id LIKE 'r%'") }
    // With these further changes, a brake that counted all writes of the phone would stop the bundle.
    try field.sql("phone", "UPDATE t SET a = 'closed' WHERE id LIKE 's%'")
    let outcome = field.camp.hub("import", try field.export("phone"), "--json")
    #expect(outcome.code == 0, "\(outcome.out)")
    #expect(try outcome.json["bundles"]?.arrayValue?.first?["taken"] == 29)
    #expect(try field.kinds().isEmpty)
    try field.peace(["SELECT * FROM t ORDER BY id"])
  }

  @Test("in whole rows, a change that was not accepted has no part in the row")
  func wholeRows() throws {
    let field = try open(#""hub", "merge": "row""#)
    try field.sql("office", "UPDATE t SET a = 'same', b = 'office' WHERE id = 'k'")
    try field.answer("tablet")
    try field.sql("phone", "UPDATE t SET a = 'same', b = 'phone' WHERE id = 'k'")
    try field.sql("tablet", "UPDATE t SET b = 'tablet' WHERE id = 'k'")
    for name in ["phone", "tablet"] { try field.deliver(name) }
    #expect(try field.rows("office", "SELECT b FROM t WHERE id = 'k'") == "tablet")
    try field.peace(["SELECT * FROM t"])
  }

  /// How the phone's write of the same value gets into the hub's row.
  enum Way: String, CaseIterable {
    case softDelete, afterWaiting, withTrade

    var policy: String {
      switch self {
      case .softDelete: #""newest", "delete": "soft", "deleted": "gone""#
      case .afterWaiting: #""newest""#
      case .withTrade: #""manual""#
      }
    }
    var office: String { self == .softDelete ? "UPDATE t SET gone = 1 WHERE id = 'k'" : WrittenTwiceTests.same }
    var tablet: String {
      self == .softDelete ? "UPDATE t SET gone = 0 WHERE id = 'k'" : "UPDATE t SET a = 'later' WHERE id = 'k'"
    }
    var phone: String {
      switch self {
      case .softDelete: office
      case .afterWaiting: "UPDATE t SET a = 'same', p = 'p' WHERE id = 'k'"
      case .withTrade:
        """
        UPDATE t SET u = 3 WHERE id = 'k';
        UPDATE t SET u = 1 WHERE id = 'l';
        UPDATE t SET u = 2, a = 'same' WHERE id = 'k';
        """
      }
    }
  }

  private static let same = "UPDATE t SET a = 'same' WHERE id = 'k'"

  @Test("whichever way the second write comes into the row, both orders end alike", arguments: Way.allCases)
  func ways(_ way: Way) throws {
    func outcome(_ order: [String]) throws -> String {
      let field = try TwoDeviceFixture(
        """
        CREATE TABLE parents (id TEXT PRIMARY KEY);
        CREATE TABLE t (
          id TEXT PRIMARY KEY, a TEXT, u INTEGER UNIQUE, p TEXT REFERENCES parents (id),
          gone INTEGER NOT NULL DEFAULT 0);
        INSERT INTO parents VALUES ('p');
        INSERT INTO t (id, a, u) VALUES ('k', 'a0', 1), ('l', 'a0', 2);
        """, #""parents": {}, "t": { "conflict": \#(way.policy) }"#)
      for name in ["tablet", "phone"] { try field.answer(name) }
      try write(office: way.office, tablet: way.tablet, phone: way.phone, in: field)
      if way == .afterWaiting { try field.sql("office", "DELETE FROM parents") }
      for name in order {
        try field.deliver(name)
        if way == .afterWaiting, name == "phone" {
          #expect(try field.kinds().contains { $0.contains("held") })
          try field.sql("office", "INSERT INTO parents VALUES ('p')")
          try field.answer("phone")
        }
      }
      let kinds = try field.kinds().filter { !$0.contains("foreign key") }
      let rows = try field.rows("office", "SELECT * FROM t ORDER BY id")
      try field.peace(["SELECT * FROM t ORDER BY id"])
      return way == .withTrade ? "\(!kinds.isEmpty)" : rows
    }
    let tabletFirst = try outcome(["tablet", "phone"])
    #expect(try outcome(["phone", "tablet"]) == tabletFirst)
  }

  @Test("who may not change a row has no part in its values")
  func withoutRight() throws {
    let field = try open(#""manual""#, more: #", "write": ":user = 'ann'""#)
    try play(Act.delete.rawValue, "UPDATE t SET a = 'same' WHERE id = 'k'", ["phone", "tablet"], in: field)
    #expect(try field.kinds().isEmpty)
    #expect(try field.rows("office", "SELECT * FROM t").isEmpty)
  }
}
