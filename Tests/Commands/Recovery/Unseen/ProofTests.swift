import Foundation
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import TestSupport
import Testing

/// A device proves that its rows are equal to the hub's. It sends digests of its rows, and the hub compares them. Rows
/// that differ are named and kept.
@Suite("State digests and unseen writes")
struct ProofTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  private func unseen(_ sql: String) throws { try camp.writeUnseen("tablet/data.sqlite", sql) }

  private func proof() throws -> JSONValue? {
    try camp.hub("status", "--json").json["devices"]?.arrayValue?.first { $0["name"]?.stringValue == "tablet" }?[
      "proof"]
  }

  @Test("the first export after a full bundle proves that both have the same rows, and status says when")
  func verified() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'frogs' WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    #expect(try proof()?["result"]?.stringValue == "verified")
    let verified = try proof()?["verified"]?.stringValue
    #expect(verified?.hasPrefix("20") == true, "\(verified ?? "")")
    try expectProof(later: "up to date  2 days ago", now: "just now")
    #expect(camp.hub("doctor").code == 0)
    #expect(camp.hub("compare", "tablet").out.contains("The hub knows no row of tablet that differs."))
    camp.answer("tablet", 2)
    // By the dataset's rule, the next export with digests comes later. But a person can request digests earlier.
    #expect(try camp.device("tablet", "export", "--json").json["proof"]?.boolValue != true)
    #expect(try camp.device("tablet", "export", "--prove", "--json").json["proof"]?.boolValue == true)
  }

  /// Expects these texts about the tablet's rows: `later` in the `status` of two days later, and `now` in the console
  /// today.
  private func expectProof(later: String, now: String) throws {
    try camp.by(SetClock(SystemClock().milliseconds() + 2 * 86_400_000 + 60_000)) {
      let status = camp.hub("status").out
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("tablet ") }, "\(status)")
      #expect(status.contains("VERIFIED") && line.hasSuffix(later), "\(status)")
    }
    try camp.inBrowser { browser throws in
      let page = browser.get("/devices").text
      #expect(page.contains("<td data-label=\"Verified\">\(now)</td>"), "\(page)")
      #expect(browser.get("/device?name=tablet").text.contains("compare tablet") == (now == "differs"))
    }
  }

  @Test("rows that capture missed at the hub are no difference of a device that has all other rows")
  func missedAtHub() throws {
    let sites = (1...40).map { "('s\($0)', 'Site \($0)', 1)" }.joined(separator: ", ")
    try camp.sql("office.sqlite", "INSERT INTO sites VALUES \(sites)")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM sites") == "42")
    try camp.writeUnseen("office.sqlite", "INSERT INTO sites VALUES ('missed', 'Missed', 1)")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Later' WHERE id = 's7'; DELETE FROM sites WHERE id = 's8'")
    #expect(camp.device("tablet", "export", "--prove").code == 0)
    try importNewest()
    #expect(try proof()?["result"]?.stringValue == "verified")
    try camp.answer("tablet")
    try unseen("UPDATE sites SET name = 'Swamp' WHERE id = 's9'")
    #expect(try camp.device("tablet", "export", "--prove", "--json").json["proof"]?.boolValue == true)
    try importNewest()
    #expect(try proof()?["result"]?.stringValue == "differs")
  }

  @Test("a doctor that finds nothing wrong has the next export prove the rows")
  func askedByDoctor() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'frogs' WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    #expect(try camp.device("tablet", "export", "--json").json["proof"]?.boolValue != true)
    #expect(camp.device("tablet", "doctor").code == 0)
    #expect(try camp.device("tablet", "export", "--json").json["proof"]?.boolValue == true)
  }

  @Test("a row that was written unseen is found, named, and kept as a conflict when the hub's comes")
  func compared() throws {
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('mine', 'lake', 'ann', 1, 'x')")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    try unseen("UPDATE sites SET name = 'Swamp' WHERE id = 'lake'")
    #expect(camp.device("tablet", "export", "--prove").code == 0)
    try importNewest()
    #expect(try proof()?["result"]?.stringValue == "differs")
    #expect(camp.hub("doctor").code == 1 && camp.hub("doctor").out.contains("compare tablet"))
    #expect(camp.hub("status").out.contains("Differs"))
    try expectProof(later: "differs", now: "differs")
    #expect(camp.hub("compare", "tablet", "--repair").error.contains("It is not known which rows"))
    #expect(camp.hub("compare", "tablet").out.contains("asks which rows differ"))
    try fetchNewest()
    #expect(try camp.device("tablet", "export", "--json").json["proof"]?.boolValue == true)
    try importNewest()
    let found = try camp.hub("compare", "tablet", "--json").json["rows"]?.arrayValue ?? []
    try #require(found.count == 1)
    #expect(found[0]["kind"]?.stringValue == "different")
    #expect(found[0]["table"]?.stringValue == "sites")
    #expect(try camp.hub("compare", "tablet", "--repair", "--json").json["repaired"]?.integerValue == 1)
    try fetchNewest()
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") != "Swamp")
    let conflicts = try camp.listedConflicts(of: "tablet")
    try #require(conflicts.count == 1)
    #expect(conflicts[0]["kind"]?.stringValue == "unseen")
    #expect(conflicts[0]["device_values"]?["name"]?.stringValue == "Swamp")
    #expect(camp.device("tablet", "export", "--prove").code == 0)
    try importNewest()
    #expect(try proof()?["result"]?.stringValue == "verified")
    let atHub = try camp.listedConflicts()
    #expect(atHub.contains { $0["kind"]?.stringValue == "unseen" })
    let id = try #require(atHub.first?["id"]?.stringValue)
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "device").code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Swamp")
  }

  @Test("a full bundle keeps what was written, made or deleted unseen before it writes over that")
  func full() throws {
    camp.deliver("tablet", 1)
    try unseen(
      """
      UPDATE sites SET name = 'Swamp' WHERE id = 'lake'; DELETE FROM reviews WHERE id = 'r1';
      INSERT INTO reviews VALUES ('ghost', 'lake', 'ann', 1, 'boo')
      """)
    #expect(camp.hub("emit", "--device", "tablet", "--full").code == 0)
    try fetchNewest(emit: false)
    let conflicts = try camp.listedConflicts(of: "tablet")
    #expect(conflicts.count == 3 && conflicts.allSatisfy { $0["kind"]?.stringValue == "unseen" })
    #expect(conflicts.contains { $0["operation"]?.stringValue == "delete" }, "\(conflicts)")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id FROM reviews") == "r1")
  }

  @Test("a decision for a row that was written unseen writes only the values that were written unseen")
  func decided() throws {
    camp.deliver("tablet", 1)
    try unseen("UPDATE reviews SET words = 'unseen' WHERE id = 'r1'")
    #expect(camp.hub("emit", "--device", "tablet", "--full").code == 0)
    try fetchNewest(emit: false)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 5 WHERE id = 'r1'")
    #expect(camp.device("tablet", "export").code == 0)
    try importNewest()
    let conflicts = try camp.listedConflicts()
    let id = try #require(conflicts.first?["id"]?.stringValue)
    let mark = try camp.hub("conflicts", "show", id, "--json").json["conflict"]?["row_mark"]?.stringValue
    let decided = camp.hub("conflicts", "resolve", id, "--keep", "device", "--row", try #require(mark))
    #expect(decided.code == 0, "\(decided.error)")
    #expect(try camp.rows("office.sqlite", "SELECT stars, words FROM reviews WHERE id = 'r1'") == "5|unseen")
  }

  private func importNewest() throws {
    let file = try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-")
    #expect(camp.hub("import", file).code == 0)
  }

  private func fetchNewest(emit: Bool = true) throws {
    if emit { #expect(camp.hub("emit", "--device", "tablet").code == 0) }
    let file = try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-")
    #expect(camp.device("tablet", "import", file).code == 0)
  }
}
