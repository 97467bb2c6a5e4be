import SatchelPlatform
import Testing

/// The hub's clock was ahead once, and devices got its times. Now the clock is right.
@Suite("Times that a hub sent while its clock was ahead")
struct DoubtfulTimesTests {
  let camp: CommandLineFixture
  private static let hour: Int64 = 3_600_000
  private static let day: Int64 = 86_400_000
  static let leads: [Int64] = [2 * hour, 100 * day]
  /// Later than all that made the hub and its devices.
  private let now: Int64

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT, title TEXT UNIQUE);
      INSERT INTO notes VALUES ('n', 'first', 'one'), ('m', 'other', 'two'), ('z', 'none', 'three')
      """, CommandLineFixture.definition(#"{ "notes": { "conflict": "newest" } }"#), devices: ["tablet", "phone"])
    now = SystemClock().milliseconds()
  }

  private func set(_ time: Int64) { camp.setClock(time) }

  private static func database(_ who: String) -> String { who == "office" ? "office.sqlite" : "\(who)/data.sqlite" }

  /// A program's statement while the clock shows this time.
  private func write(_ sql: String, at who: String, _ time: Int64) throws {
    try camp.writeNote(Self.database(who), sql, at: time)
  }

  private func write(_ words: String, to id: String, at who: String, _ time: Int64) throws {
    try write("UPDATE notes SET words = '\(words)' WHERE id = '\(id)'", at: who, time)
  }

  private func deliver(_ name: String, at time: Int64) throws { try camp.deliver(name, at: time, hubAt: time) }

  private func answer(_ name: String, at time: Int64) throws { try camp.answer(name, at: time, hubAt: time) }

  /// The office writes while its clock is ahead, and both devices get the row. Then a person confirms the right clock.
  private func workAhead(by lead: Int64) throws {
    try write("ahead", to: "z", at: "office", now + lead)
    for name in ["tablet", "phone"] { try camp.answer(name, at: now, hubAt: now + lead) }
    set(now + 1000)
    let repaired = camp.hub("doctor", "--repair", "--yes")
    #expect(repaired.code == 0, "\(repaired.out)\(repaired.error)")
  }

  private func words(_ id: String, at who: String = "office") throws -> String {
    try camp.rows(Self.database(who), "SELECT words FROM notes WHERE id = '\(id)'")
  }

  private func expectOpen(_ kind: String, of key: String) throws {
    let found = try camp.rows(
      "office.sqlite",
      """
      SELECT kind, state, note LIKE '%The clock of this hub was wrong.%' FROM satchel_conflicts
      WHERE key = '["\(key)"]'
      """)
    #expect(found == "\(kind)|open|1")
  }

  @Test("a person decides between an older value of the office and a later one of a device", arguments: leads)
  func office(_ lead: Int64) throws {
    try workAhead(by: lead)
    try write("office, first", to: "n", at: "office", now + 2000)
    try write("tablet, later", to: "n", at: "tablet", now + 3000)
    try deliver("tablet", at: now + 4000)
    #expect(try words("n") == "office, first", "the hub's value stays")
    try expectOpen("update/update", of: "n")
    try answer("tablet", at: now + 5000)
    #expect(try words("n", at: "tablet") == "office, first", "the device follows the hub")
    #expect(camp.hub("status").out.contains("until then a person decides"))
    // A rule that takes the later change does not decide it either.
    let resolved = camp.hub("conflicts", "resolve", "--all", "--policy", "newest")
    #expect(resolved.out.contains("Left 1 conflict"), "\(resolved.out)\(resolved.error)")
    try expectOpen("update/update", of: "n")
  }

  @Test("a person decides between the values of two devices, in both orders of arrival", arguments: leads)
  func devices(_ lead: Int64) throws {
    try workAhead(by: lead)
    try write("phone, first", to: "n", at: "phone", now + 2000)
    try write("tablet, later", to: "n", at: "tablet", now + 3000)
    try write("tablet, first", to: "m", at: "tablet", now + 3000)
    try write("phone, later", to: "m", at: "phone", now + 4000)
    for name in ["phone", "tablet"] { try deliver(name, at: now + 5000) }
    for id in ["n", "m"] { try expectOpen("update/update", of: id) }
  }

  @Test("a person decides between two new rows that cannot both exist", arguments: leads)
  func rivals(_ lead: Int64) throws {
    try workAhead(by: lead)
    try write("INSERT INTO notes VALUES ('p', 'by the phone', 'four')", at: "phone", now + 2000)
    try write("INSERT INTO notes VALUES ('t', 'by the tablet', 'four')", at: "tablet", now + 3000)
    for name in ["phone", "tablet"] { try deliver(name, at: now + 5000) }
    #expect(try words("p") == "by the phone")
    try expectOpen("unique", of: "t")
  }

  @Test("a person decides between a delete and an update", arguments: leads)
  func deletes(_ lead: Int64) throws {
    try workAhead(by: lead)
    try write("by the phone", to: "n", at: "phone", now + 2000)
    try write("DELETE FROM notes WHERE id = 'm'", at: "phone", now + 2000)
    try write("DELETE FROM notes WHERE id = 'n'", at: "tablet", now + 3000)
    try write("by the tablet", to: "m", at: "tablet", now + 3000)
    for name in ["phone", "tablet"] { try deliver(name, at: now + 5000) }
    #expect(try words("n") == "by the phone")
    try expectOpen("delete/update", of: "n")
    try expectOpen("update/delete", of: "m")
  }

  @Test("a person also decides if the device imports the office's value before it delivers", arguments: [true, false])
  func importedFirst(isOfficeLater: Bool) throws {
    try workAhead(by: Self.leads[1])
    // Each write of a row raises its stamp. So the side with more writes has the later stamp.
    let often = isOfficeLater ? "office" : "tablet"
    for number in 0..<20 { try write("\(often) \(number)", to: "n", at: often, now + 2000) }
    try write("office", to: "n", at: "office", now + 3000)
    try write("tablet", to: "n", at: "tablet", now + 3000)
    try answer("tablet", at: now + 5000)
    try deliver("tablet", at: now + 6000)
    #expect(try words("n") == "office")
    try expectOpen("update/update", of: "n")
    try answer("tablet", at: now + 7000)
    #expect(try words("n", at: "tablet") == "office")
  }

  @Test("when the real time has passed the times that were sent, newest decides again, and rightly", arguments: leads)
  func passed(_ lead: Int64) throws {
    try workAhead(by: lead)
    try write("office, first", to: "n", at: "office", now + 2000)
    try deliver("tablet", at: now + 3000)
    let after = now + lead + Self.hour
    try write("tablet, later", to: "n", at: "tablet", after)
    try deliver("tablet", at: after + 1000)
    #expect(try words("n") == "tablet, later")
    #expect(try camp.rows("office.sqlite", "SELECT state FROM satchel_conflicts") == "settled")
    set(after + 2000)
    #expect(!camp.hub("status").out.contains("until then"))
    // The phone wrote before that time, and delivers only now: it is not the later one.
    try write("phone, between", to: "n", at: "phone", now + 4000)
    try deliver("phone", at: after + 3000)
    #expect(try words("n") == "tablet, later")
    #expect(try camp.rows("office.sqlite", "SELECT DISTINCT state FROM satchel_conflicts") == "settled")
  }

  @Test("a hub that an earlier release left with such times doubts them too")
  func earlierRelease() throws {
    try workAhead(by: Self.leads[1])
    try camp.sql("office.sqlite", "DROP TABLE satchel_doubtful_times; UPDATE satchel_schema SET version = 19")
    try write("office, first", to: "n", at: "office", now + 2000)
    try write("tablet, later", to: "n", at: "tablet", now + 3000)
    try deliver("tablet", at: now + 4000)
    try expectOpen("update/update", of: "n")
  }

  @Test("stamps that were lowered are doubted no longer than the stamps that are left")
  func lowered() throws {
    try workAhead(by: Self.leads[1])
    for name in ["tablet", "phone"] { #expect(camp.hub("device", "revoke", name).code == 0) }
    set(now + 2000)
    #expect(camp.hub("doctor", "--repair").code == 0)
    let last = try camp.rows("office.sqlite", "SELECT coalesce(max(last), 0) >> 16 FROM satchel_doubtful_times")
    #expect(try #require(Int64(last)) < now + Self.hour)
  }
}
