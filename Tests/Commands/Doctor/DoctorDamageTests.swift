import Foundation
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// One kind of damage to a workspace, and the doctor's expected report.
private struct Damage {
  let what: String
  /// The damaged workspace: `tablet` or `hub`.
  let place: String
  let reason: String
  /// The shell command that makes the damage. It runs in the camp's folder.
  let words: String

  init(_ place: String, _ what: String, _ reason: String, _ words: String) {
    (self.what, self.place, self.reason, self.words) = (what, place, reason, words)
  }

  private static func ofKeys(at place: String) -> [Damage] {
    [
      Damage(place, "the secret key is gone", "no-key", "rm \(place)/keys/own.key"),
      Damage(place, "the public key is gone", "no-key", "rm \(place)/keys/own.pub"),
      Damage(place, "the identity is gone", "no-key", "rm \(place)/keys/own.identity"),
      Damage(place, "the recipient is gone", "no-key", "rm \(place)/keys/own.recipient"),
      Damage(
        place, "the two halves of the key are not of one", "bad-key",
        "cp \(place == "hub" ? "tablet" : "hub")/keys/own.pub \(place)/keys/own.pub"),
      Damage(place, "the secret key is cut off", "key-malformed", "truncate -s 40 \(place)/keys/own.key"),
      Damage(place, "others can read the secret key", "open-key", "chmod 644 \(place)/keys/own.key"),
      Damage(place, "others can write into the folder of keys", "open-folder", "chmod 777 \(place)/keys"),
      Damage(place, "the folder of keys is gone", "no-key", "rm -r \(place)/keys"),
      Damage(place, "the outbox is gone", "no-folder", "rm -r \(place)/bundles/outbox"),
    ]
  }

  private static func ofDatabase(_ file: String, at place: String) -> [Damage] {
    [
      Damage(
        place, "a page of the database is overwritten", "corrupt",
        "head -c 4096 /dev/urandom | dd of=\(file) bs=4096 seek=3 conv=notrunc status=none"),
      Damage(place, "the database is cut off", "corrupt", "truncate -s 20000 \(file)"),
      Damage(place, "a trigger is gone", "damaged", "sqlite3 \(file) 'DROP TRIGGER \"satchel_before_update:reviews\"'"),
      Damage(place, "a table of pre-images is gone", "damaged", "sqlite3 \(file) 'DROP TABLE satchel_before_reviews'"),
      Damage(place, "a table of writes is gone", "damaged", "sqlite3 \(file) 'DROP TABLE satchel_writes_reviews'"),
      Damage(
        place, "half of a table of pre-images is there", "damaged",
        """
        sqlite3 \(file) 'CREATE TABLE half AS SELECT id, site, author, stars, words FROM satchel_before_reviews; DROP \
        TABLE satchel_before_reviews; ALTER TABLE half RENAME TO satchel_before_reviews'
        """
      ),
      Damage(place, "the ledger is gone", "missing-table", "sqlite3 \(file) 'DROP TABLE satchel_ledger'"),
      Damage(
        place, "the table of conflicts is gone", "missing-table", "sqlite3 \(file) 'DROP TABLE satchel_conflicts'"),
      Damage(
        place, "the ledger has lost its lines", place == "hub" ? "audit" : "no-history",
        "sqlite3 \(file) 'DELETE FROM satchel_ledger'"),
    ]
  }

  static let all =
    ofKeys(at: "tablet") + ofKeys(at: "hub") + ofDatabase("tablet/data.sqlite", at: "tablet")
    + ofDatabase("office.sqlite", at: "hub") + [
      Damage("tablet", "the hub's public key is gone", "no-hub-key", "rm tablet/keys/hub.pub"),
      Damage(
        "tablet", "the exports' table is gone", "missing-table",
        "sqlite3 tablet/data.sqlite 'DROP TABLE satchel_exports'"),
      Damage(
        "tablet", "a bundle from the hub is gone from the archive", "no-history",
        "rm tablet/bundles/archive/camp-hub-tablet-1.satchel"),
      Damage(
        "tablet", "a bundle of the archive is altered", "no-history",
        "truncate -s -5 tablet/bundles/archive/camp-hub-tablet-2.satchel"),
      Damage(
        "tablet", "its table of exports has lost a line", "orphan",
        "sqlite3 tablet/data.sqlite 'DELETE FROM satchel_exports WHERE sequence = 2'"),
      Damage(
        "tablet", "pre-images are deleted", "unseen", "sqlite3 tablet/data.sqlite 'DELETE FROM satchel_before_reviews'"),
      Damage("hub", "the log is gone", "missing-table", "sqlite3 office.sqlite 'DROP TABLE satchel_log'"),
      Damage(
        "hub", "the log has lost changes", "unseen",
        "sqlite3 office.sqlite 'DELETE FROM satchel_log WHERE cursor = (SELECT min(cursor) FROM satchel_log)'"),
      Damage(
        "hub", "the numbers of rows are gone", "missing-table",
        "sqlite3 office.sqlite 'DROP TABLE satchel_rows_reviews'"),
      Damage(
        "hub", "the ledger does not contain a bundle that the log names", "audit",
        "sqlite3 office.sqlite \"DELETE FROM satchel_ledger WHERE direction = 'in'\""),
      Damage("hub", "a bundle is gone from the archive", "audit", "rm hub/bundles/archive/camp-tablet-1-*.satchel"),
      Damage(
        "hub", "a bundle of the archive is altered", "audit",
        "truncate -s -5 hub/bundles/archive/camp-tablet-1-*.satchel"),
      Damage("hub", "the base is gone", "no-history", "rm hub/bundles/archive/camp-hub-hub-*.satchel"),
    ]
}

struct DoctorDamageTests {
  @Test(
    "whatever happens to a workspace, the doctor names it and the way back, and changes nothing else",
    arguments: ["tablet", "hub"])
  func named(place: String) throws {
    let camp = try CommandLineFixture.onTheWay()
    #expect(camp.hub("doctor").out == "All is well.\n")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    for damage in Damage.all where damage.place == place { try expect(damage, in: CommandLineFixture(copyOf: camp)) }
  }

  private func expect(_ damage: Damage, in camp: CommandLineFixture) throws {
    func doctor(_ words: String...) -> CommandLineFixture.Outcome {
      let whole = ["-C", camp.path(damage.place), "doctor"] + words
      return damage.place == "hub" ? camp.hubAnywhere(whole) : camp.deviceAnywhere(whole)
    }
    try StockTool.bash("-c", damage.words, in: camp.root)
    // Without `--repair`, the doctor changes only `doctor.json`, the record of its own result.
    let rest = { try camp.everything().filter { $0.key != "tablet/doctor.json" } }
    let before = try rest()
    let found = doctor("--json")
    #expect(found.code == 1, "\(damage.what)")
    #expect(try rest() == before, "\(damage.what)")
    let findings = try found.json["findings"]?.arrayValue ?? []
    let isUnseen = try found.json["unseen"]?.objectValue?.isEmpty == false
    let reasons = findings.compactMap { $0["reason"]?.stringValue } + (isUnseen ? ["unseen"] : [])
    #expect(reasons.contains(damage.reason), "\(damage.what): \(reasons)")
    // A finding with a hint needs a person. If no finding has a hint, the repair fixes everything.
    if findings.contains(where: { $0["hint"]?.stringValue != nil }) { return }
    #expect(doctor("--repair").code == 0, "\(damage.what): \(doctor("--repair").out)")
    #expect(doctor().out == "All is well.\n", "\(damage.what)")
  }

  @Test("the doctor of a hub with a damaged database names its backup, and what sqlite3 can read of it")
  func damagedHub() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try StockTool.bash("-c", "truncate -s 20000 office.sqlite", in: camp.root)
    let looked = camp.hub("doctor")
    #expect(looked.code == 1 && looked.out.contains("last backup: satchel-hub restore."), "\(looked)")
    let first = try #require(looked.out.range(of: ".dump"))
    let second = try #require(looked.out.range(of: ".recover"))
    #expect(first.upperBound < second.lowerBound, "\(looked)")
    #expect(camp.hub("doctor", "--repair").code == 1)
  }

  @Test("where another command works just now, the doctor says so and waits for nothing", arguments: ["tablet", "hub"])
  func held(place: String) throws {
    let camp = try CommandLineFixture()
    try camp.open()
    let words = ["-C", camp.path(place), "doctor", "--json"]
    let outcome = try camp.whileHeld(place) { place == "hub" ? camp.hubAnywhere(words) : camp.deviceAnywhere(words) }
    #expect(try outcome.code == 4 && outcome.json["error"]?["reason"] == "busy")
  }

  @Test("a bundle that was moved away is made again, until the other side is known to have it")
  func movedAway() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'first' WHERE id = 'r1'")
    camp.device("tablet", "export")
    try camp.remove("tablet/bundles/outbox/camp-tablet-hub-1.satchel")
    #expect(try camp.device("tablet", "export", "--json").json["sequence"] == 2)
    #expect(camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-2.satchel")).code == 0)
    camp.hub("emit", "--device", "tablet")
    try camp.remove("hub/bundles/outbox/camp-hub-tablet-2.satchel")
    camp.answer("tablet", 3)
    // Now the hub is known to have all exports, so the device needs none of these files.
    try camp.remove("tablet/bundles/sent/camp-tablet-hub-2.satchel")
    try camp.removeIfThere("tablet/bundles/sent/camp-tablet-hub-1.satchel")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT acknowledged FROM satchel_device") == "2")
  }
}
