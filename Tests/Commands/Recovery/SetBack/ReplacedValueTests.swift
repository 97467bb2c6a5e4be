import Foundation
import Testing

/// A hub is set back, and merges a device's export before it knows this. In the lost time, the office wrote to the same
/// row. When the lost time comes back, the office's value replaces the device's value.
@Suite("Values that a value of the lost time replaces")
struct ReplacedValueTests {
  private let camp: CommandLineFixture
  private let office = "office.sqlite"
  private let conflicts = "SELECT state, hub_values, device_values FROM satchel_conflicts"

  init() throws { camp = try CommandLineFixture() }

  private func open(policy: String) throws {
    try camp.open(
      "CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT); INSERT INTO sites VALUES ('hill', 'Hill');",
      CommandLineFixture.definition(#"{ "sites": { "conflict": "\#(policy)" } }"#), devices: ["tablet", "phone"])
    for device in ["tablet", "phone"] { try camp.carry(device, rounds: 2) }
  }

  private func rename(_ database: String, to name: String) throws {
    camp.awaitLaterTime()
    try camp.sql(database, "UPDATE sites SET name = '\(name)' WHERE id = 'hill'")
  }

  /// The office writes a value that only the phone imports. Then the hub is set back.
  private func loseName() throws {
    try rename(office, to: "lost")
    try camp.carry("phone")
    try camp.putBackHub()
    // A bundle on the old stick would show the hub at once that it was set back.
    try camp.remove("stick")
  }

  private func bringBackName() throws {
    try camp.deliverAgain(["phone", "tablet"], rounds: 3)
    for database in [office, "tablet/data.sqlite", "phone/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT name FROM sites") == "lost", "\(database)")
    }
  }

  @Test(
    "a value from an export that came before the hub knew of its loss is kept as a conflict",
    arguments: zip(["hub", "newest", "manual"], ["settled", "settled", "open"]))
  func unknownToTheLostTime(policy: String, state: String) throws {
    try open(policy: policy)
    try camp.keepHub()
    try rename("tablet/data.sqlite", to: "tablet")
    let export = try camp.export("tablet")
    try loseName()
    #expect(camp.hub("import", export).code == 0)
    try bringBackName()
    #expect(try camp.rows(office, conflicts) == #"\#(state)|{"name":"lost"}|{"name":"tablet"}"#)
  }

  @Test("a value that the lost time certainly had is no conflict")
  func knownToTheLostTime() throws {
    try open(policy: "manual")
    try rename("tablet/data.sqlite", to: "tablet")
    for device in ["tablet", "phone"] { try camp.carry(device, rounds: 2) }
    try camp.keepHub()
    try loseName()
    try bringBackName()
    #expect(try camp.rows(office, conflicts) == "")
  }
  @Test("an open conflict of the lost time is at the hub again, and a decision there ends it on the device too")
  func foundInTheLostTime() throws {
    try open(policy: "manual")
    try camp.keepHub()
    try rename("tablet/data.sqlite", to: "tablet")
    let early = camp.path("early.satchel")
    try FileManager.default.copyItem(atPath: try camp.export("tablet"), toPath: early)
    try rename(office, to: "lost")
    try camp.carry("phone")
    #expect(camp.hub("import", early).code == 0)
    try camp.answer("tablet")
    let found = #"open|{"name":"lost"}|{"name":"tablet"}"#
    for database in [office, "tablet/data.sqlite"] { #expect(try camp.rows(database, conflicts) == found) }
    try camp.putBackHub()
    try camp.remove("stick")
    #expect(camp.hub("import", early).code == 0)
    try bringBackName()
    #expect(try camp.rows(office, conflicts) == found)
    let id = try camp.rows(office, "SELECT id FROM satchel_conflicts")
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "hub").code == 0)
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT state FROM satchel_conflicts") == "resolved")
  }

  @Test("if the hub has the device's value now, an open conflict of the lost time does not say that the hub's counts")
  func deviceCounts() throws {
    try open(policy: "manual")
    try camp.keepHub()
    try rename(office, to: "lost")
    try rename("tablet/data.sqlite", to: "tablet")
    let early = camp.path("early.satchel")
    try FileManager.default.copyItem(atPath: try camp.export("tablet"), toPath: early)
    try camp.carry("phone")
    #expect(camp.hub("import", early).code == 0)
    try camp.answer("tablet")
    try camp.putBackHub()
    try camp.remove("stick")
    #expect(camp.hub("import", early).code == 0)
    try camp.deliverAgain(["phone", "tablet"])
    #expect(try camp.rows(office, "SELECT name FROM sites") == "tablet")
    let id = try camp.rows(office, "SELECT id FROM satchel_conflicts WHERE state = 'open'")
    let shown = camp.hub("conflicts", "show", id).out
    let lines = shown.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    // The columns are: the base value, the hub's value, the device's value, the winning side, and the value now.
    #expect(lines.contains("name Hill lost tablet device tablet"), "\(shown)")
  }

  /// The phone and the tablet change the same value, and the hub asks a person. Then the hub is set back to the time
  /// before both changes.
  private func loseQuestion() throws {
    try open(policy: "manual")
    try camp.keepHub()
    try rename("phone/data.sqlite", to: "phone")
    try camp.carry("phone")
    // The tablet exports before it sees the phone's value.
    try camp.remove("stick")
    try rename("tablet/data.sqlite", to: "tablet")
    try camp.carry("tablet", rounds: 2)
    for database in [office, "tablet/data.sqlite"] { #expect(try camp.rows(database, conflicts) == question) }
    try camp.putBackHub()
    try camp.remove("stick")
  }

  private let question = #"open|{"name":"phone"}|{"name":"tablet"}"#

  @Test("with `manual`, stamps do not answer an open question of the lost time, and a person answers it once")
  func settledByStamps() throws {
    try loseQuestion()
    try camp.deliverAgain(["phone", "tablet"], rounds: 3)
    for database in [office, "tablet/data.sqlite"] { #expect(try camp.rows(database, conflicts) == question) }
    #expect(try camp.rows(office, "SELECT name FROM sites") == "tablet")
    let id = try camp.rows(office, "SELECT id FROM satchel_conflicts")
    #expect(camp.hub("conflicts", "show", id).out.contains("use --set"))
    #expect(camp.hub("conflicts", "resolve", id, "--set", "name=phone").code == 0)
    for device in ["tablet", "phone"] { try camp.carry(device, rounds: 2) }
    for database in [office, "tablet/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT state FROM satchel_conflicts") == "resolved")
      #expect(try camp.rows(database, "SELECT name FROM sites") == "phone")
    }
  }

  @Test("a device's old report does not open a conflict that a person has decided since")
  func decidedBeforeReport() throws {
    try loseQuestion()
    #expect(camp.hub("restore", "--in-place").code == 0)
    try camp.carry("phone", rounds: 2)
    let state = "SELECT state FROM satchel_conflicts"
    try camp.makeFolder("stick")
    for _ in 0..<4 where try camp.rows(office, state) != "settled" {
      camp.device("tablet", "sync", camp.path("stick"))
      camp.hub("sync", camp.path("stick"))
    }
    #expect(try camp.rows(office, state) == "settled")
    let id = try camp.rows(office, "SELECT id FROM satchel_conflicts")
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "hub").code == 0)
    try camp.carry("tablet", rounds: 3)
    for database in [office, "tablet/data.sqlite"] { #expect(try camp.rows(database, state) == "resolved") }
  }
}
