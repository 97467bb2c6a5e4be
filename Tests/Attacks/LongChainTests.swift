import SatchelHub
import SatchelJSON
import SatchelSQLite
import TestSupport
import Testing

/// Rows that refer to each other in long chains. The hub tries waiting changes only a few times, so it must find the
/// right order.
@Suite("Long chains")
struct LongChainTests {
  private let yard: CostFixture
  private let length = 1_500

  init() throws { yard = try CostFixture() }

  private func count(in table: String) throws -> Int64? {
    try Database(path: yard.hub.folder.path("data.sqlite"), mode: .readOnly)
      .first("SELECT count(*) FROM \(table)") { $0.integer(0) }
  }

  @Test("the new rows of a unit enter when the row above all of them comes, in whatever order they wait")
  func unit() throws {
    try yard.deliver { forger in
      (0..<length).map { number in
        let (key, next) = (yard.text("v\(number)"), yard.text(number > 0 ? "v\(number - 1)" : "gone"))
        var members = forger.insert("vines", key, ["id": key, "next": next]).objectValue ?? []
        members.set("unit", 1)
        return .object(members)
      }
    }
    #expect(try count(in: "vines") == 0)
    try yard.deliver { [$0.insert("vines", "gone", ["id": "gone", "next": nil])] }
    #expect(try count(in: "vines") == Int64(length) + 1)
  }

  @Test("rows that were deleted together, after their user had lost them, are deleted together")
  func lateFamily() throws {
    try yard.share(
      """
      WITH n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < \(length) - 1)
      INSERT INTO boughs SELECT 'b' || i, CASE WHEN i > 0 THEN 'b' || (i - 1) END, 1 FROM n
      """)
    _ = try yard.hub.setUser("ann", attributes: [("zone", "2")])
    try yard.deliver { forger in
      (0..<length).reversed().map { number in
        let key = yard.text("b\(number)")
        let next: JSONValue = number > 0 ? yard.text("b\(number - 1)") : nil
        return forger.delete("boughs", key, was: ["id": key, "next": next, "zone": 1])
      }
    }
    #expect(try count(in: "boughs") == 0)
  }
}
