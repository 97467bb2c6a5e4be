import SatchelJSON
import Testing

@Suite("Camps that tests copy instead of opening them")
struct PreparedCampsTests {
  private func camp() throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try camp.open()
    return camp
  }

  @Test("no two living camps have the same keys, and each of them works in its own folder")
  func different() throws {
    // After these three camps, copies exist.
    for _ in 0..<3 { _ = try camp() }
    let camps = try (0..<4).map { _ in try camp() }
    let keys = try camps.map { try $0.hub("keys", "show", "--json").json["fingerprint"]?.stringValue }
    #expect(Set(keys).count == camps.count && !keys.contains(nil))
    for camp in camps {
      try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = '\(camp.root)' WHERE id = 'r1'")
      camp.deliver("tablet", 1)
      camp.answer("tablet", 2)
    }
    for camp in camps {
      #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == camp.root)
      #expect(camp.hub("doctor").out == "All is well.\n")
      #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    }
  }
}
