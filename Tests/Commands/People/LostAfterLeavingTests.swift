import Foundation
import SatchelPlatform
import SatchelSQLite
import Testing

/// A device leaves its lost hub. Then it loses its database before the next hub's first bundle arrives. No bundle has
/// all its rows. Only the copy that the device made when it left its hub has them.
@Suite("A database that is lost between two hubs")
struct LostAfterLeavingTests {
  enum Harm: CaseIterable { case missing, empty, withoutRows, withRows, garbage, brokenPage }

  private let camp: CommandLineFixture
  private static let schema = "CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT);"

  /// A tablet with pending changes leaves its hub, and the next hub enrols it.
  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      "\(Self.schema) INSERT INTO notes VALUES ('a', 'office'), ('b', 'office')",
      CommandLineFixture.definition(#"{ "notes": {} }"#), devices: ["tablet"])
    try camp.sql(
      "tablet/data.sqlite", "UPDATE notes SET words = 'mine' WHERE id = 'a'; INSERT INTO notes VALUES ('c', 'mine')")
    let left = camp.device("tablet", "renew", "--hub", "--request", camp.path("request"), "--json")
    #expect(left.code == 0, "\(left.error)")
    let fingerprint = try #require(try left.json["fingerprint"]?.stringValue)
    try camp.sql("next.sqlite", Self.schema)
    camp.makeHub("next", over: "next.sqlite")
    for words in [
      ["user", "add", "ann"], ["device", "enrol", camp.path("request"), "--user", "ann", "--fingerprint", fingerprint],
    ] {
      let outcome = next(words)
      #expect(outcome.code == 0, "\(outcome.error)")
    }
  }

  private func next(_ words: [String]) -> CommandLineFixture.Outcome {
    camp.hubAnywhere(["-C", camp.path("next")] + words)
  }

  private func lose(_ harm: Harm) throws {
    let file = "tablet/data.sqlite"
    try camp.sql(file, "PRAGMA wal_checkpoint(TRUNCATE)")
    let page = try #require(Int(try camp.rows(file, "SELECT rootpage FROM sqlite_schema WHERE name = 'notes'")))
    var bytes = try camp.read(file)
    try camp.loseDatabase(of: "tablet")
    switch harm {
    case .missing: return
    case .empty: bytes = []
    case .withoutRows: return try camp.sql(file, Self.schema)
    case .withRows: return try camp.sql(file, "\(Self.schema) INSERT INTO notes VALUES ('new', 'by the app')")
    case .garbage: bytes = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 8) }
    case .brokenPage:
      let start = (page - 1) * 4096
      bytes.replaceSubrange(start..<start + 4096, with: repeatElement(0x5a, count: 4096))
    }
    try Data(bytes).write(to: URL(fileURLWithPath: camp.path(file)))
  }

  /// Imports the next hub's first bundle, with the hub's fingerprint as if a person had compared it.
  private func importFirst(_ words: String...) throws -> CommandLineFixture.Outcome {
    let file = try camp.emit("tablet", from: "next")
    let fingerprint = try #require(try next(["status", "--json"]).json["fingerprint"]?.stringValue)
    return camp.deviceAnywhere(
      ["-C", camp.path("tablet"), "import", file, "--fingerprint", fingerprint] + words)
  }

  private func notes(_ database: String) throws -> String {
    try camp.rows(database, "SELECT id, words FROM notes ORDER BY id")
  }

  private func names(in folder: String, _ prefix: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: camp.path(folder)).filter { $0.hasPrefix(prefix) }
  }

  private func copy() throws -> String {
    let name = try #require(try names(in: "tablet/bundles/archive/former", "data-of-hub-").first)
    return "tablet/bundles/archive/former/\(name)"
  }

  /// All files of the tablet. Files that commands make although they only read are left out.
  private func tablet() throws -> [String: Data] {
    try camp.everything().filter { file in
      file.key.hasPrefix("tablet/") && !["-shm", "doctor.json"].contains { file.key.hasSuffix($0) }
    }
  }

  @Test(
    """
    doctor and status name the lost database and its copy, nothing is imported before a person decided, and the repair \
    puts the copy back with all pending work
    """, arguments: Harm.allCases)
  func lost(harm: Harm) throws {
    try lose(harm)
    let (before, copy) = (try tablet(), try copy())
    let (doctor, status) = (camp.device("tablet", "doctor"), camp.device("tablet", "status"))
    #expect(doctor.code == 1 && status.code == 0)
    let state = [.withoutRows, .withRows].contains(harm) ? "again" : "is"
    for words in ["tablet/data.sqlite \(state)", camp.path(copy), "satchel doctor --repair"] {
      for answer in [doctor, status] { #expect(answer.out.contains(words), "\(answer.out)\(answer.error)") }
    }
    #expect(try camp.device("tablet", "status", "--json").json["state"] == "lost")
    let export = camp.device("tablet", "export")
    #expect(export.code == 1 && export.error.contains(camp.path(copy)), "\(export.error)")
    for refused in [try importFirst(), try importFirst("--dry-run")] {
      #expect(refused.code == 1 && refused.error.contains(camp.path(copy)), "\(refused.out)\(refused.error)")
    }
    #expect(camp.device("tablet", "doctor", "--repair", "--dry-run").code == 0)
    #expect(try tablet() == before)

    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.out)\(repaired.error)")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    #expect(try notes("tablet/data.sqlite") == "a|mine\nb|office\nc|mine")
    let kept = try names(in: "tablet", "data.sqlite.damaged-")
    #expect(kept.count == (harm == .missing ? 0 : 1), "\(kept)")
    #expect(kept.allSatisfy { repaired.out.contains($0) }, "\(repaired.out)")
    let first = try importFirst()
    #expect(first.code == 0, "\(first.error)")
    let imported = next(["import", try camp.export("tablet")])
    #expect(imported.code == 0, "\(imported.error)")
    #expect(try notes("next.sqlite") == "a|mine\nb|office\nc|mine")
  }

  @Test("if no sound copy is left, doctor says so, nothing is imported, and the right file goes on when it is put back")
  func withoutCopy() throws {
    try camp.sql("tablet/data.sqlite", "INSERT INTO notes VALUES ('d', 'later'); PRAGMA wal_checkpoint(TRUNCATE)")
    try camp.copy("tablet/data.sqlite", to: "moved.sqlite")
    try lose(.missing)
    try camp.writeExactly(copy(), "not a database")
    for words in [["doctor"], ["doctor", "--repair"]] {
      let outcome = camp.deviceAnywhere(["-C", camp.path("tablet")] + words)
      #expect(outcome.code == 1)
      #expect((outcome.out + outcome.error).contains("There is no sound copy"), "\(outcome.out)\(outcome.error)")
    }
    #expect(try importFirst().code == 1)
    try camp.copy("moved.sqlite", to: "tablet/data.sqlite")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    let first = try importFirst()
    #expect(first.code == 0, "\(first.error)")
    #expect(try notes("tablet/data.sqlite") == "a|mine\nb|office\nc|mine\nd|later")
  }

  @Test("a copy of another device, or from another hub, is not put back")
  func otherCopy() throws {
    let copy = try copy()
    try lose(.missing)
    try camp.sql(copy, "UPDATE satchel_device SET id = '00000000-0000-4000-8000-000000000000'")
    let doctor = camp.device("tablet", "doctor")
    #expect(doctor.code == 1 && doctor.out.contains("There is no sound copy"), "\(doctor.out)")
  }

  @Test("sync says that the database is lost, also if the stick has nothing for the device")
  func sync() throws {
    try lose(.missing)
    try camp.makeFolder("stick")
    let outcome = camp.device("tablet", "sync", camp.path("stick"))
    #expect(outcome.code == 1, "\(outcome.out)")
    #expect(outcome.error.contains("data.sqlite is missing. This device has left its hub"), "\(outcome.error)")
  }
}
