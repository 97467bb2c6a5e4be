import Foundation
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import Testing

/// A failing disk or an interrupted copy damaged a device's database.
@Suite("A damaged database")
struct DamagedDatabaseTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.sql(
      "tablet/data.sqlite",
      "PRAGMA journal_mode = DELETE; UPDATE reviews SET words = 'not delivered yet' WHERE id = 'r1'")
  }

  enum Harm: CaseIterable {
    /// Damages the pages of a table without pending changes.
    case table
    /// Damages the beginning of the file, so that nothing in it can be read.
    case head
  }

  private func damage(_ harm: Harm, of table: String = "sites") throws {
    let page = try camp.rows("tablet/data.sqlite", "SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'")
    let size = try camp.rows("tablet/data.sqlite", "PRAGMA page_size")
    let path = camp.path("tablet/data.sqlite")
    var bytes = try Data(contentsOf: URL(filePath: path))
    let length = try #require(Int(size))
    let start = try harm == .head ? 0 : (#require(Int(page)) - 1) * length
    for place in start..<start + length { bytes[place] = UInt8(truncatingIfNeeded: place &* 31 &+ 7) }
    try bytes.write(to: URL(filePath: path))
  }

  private func emitted(_ number: Int) -> String { camp.path("hub/bundles/outbox/camp-hub-tablet-\(number).satchel") }

  private var kept: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: camp.path("tablet")).filter { $0.contains("damaged") }
    }
  }

  @Test("the next full bundle replaces it; what no export carried is saved in one, reaches the hub, and comes back")
  func replaced() throws {
    try damage(.table)
    let before = try camp.read("tablet/data.sqlite")
    camp.hub("emit", "--device", "tablet", "--full")
    #expect(camp.device("tablet", "import", "--dry-run", emitted(2)).code == 0)
    #expect(try camp.read("tablet/data.sqlite") == before && kept.isEmpty)

    let outcome = camp.device("tablet", "import", emitted(2), "--json")
    #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    let told = try outcome.json["bundles"]?.arrayValue?.first?["damaged"]
    #expect(try told?["kept"]?.stringValue.map { Paths.name(of: $0) } == kept.first)
    #expect(told?["unread"]?.stringValue == nil)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM sites") == "2")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")

    let export = try #require(told?["export"]?.stringValue)
    #expect(camp.hub("import", export).code == 0)
    camp.answer("tablet", 3)
    for database in ["tablet/data.sqlite", "office.sqlite"] {
      #expect(try camp.rows(database, "SELECT words FROM reviews WHERE id = 'r1'") == "not delivered yet")
    }
    // The numbers of the exports continue after the repair.
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.deliver("tablet", 2)
    #expect(try camp.rows("office.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'") == "1")
  }

  @Test("where nothing can be read any more the file is kept, and it is said what that means")
  func unreadable() throws {
    try damage(.head)
    let before = try camp.read("tablet/data.sqlite")
    camp.hub("emit", "--device", "tablet", "--full")
    let outcome = camp.device("tablet", "import", emitted(2))
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.out.contains("could not be read") && outcome.out.contains(".recover"), "\(outcome.out)")
    let name = try #require(try kept.first)
    #expect(try camp.read("tablet/\(name)") == before)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT words FROM reviews") == "quiet")
    #expect(camp.device("tablet", "export").code == 0)
  }

  /// `status` reads the rows of `reviews`, because some of their changes were not delivered.
  @Test("status says that it is damaged, and names the exports that wait", arguments: ["reviews", "satchel_exports"])
  func namesExports(table: String) throws {
    #expect(camp.device("tablet", "export").code == 0)
    try camp.sql("tablet/data.sqlite", "PRAGMA journal_mode = DELETE; UPDATE reviews SET stars = 4 WHERE id = 'r1'")
    try damage(.table, of: table)
    let status = camp.device("tablet", "status")
    #expect(status.code == 0, "\(status.error)")
    #expect(status.out.contains("the database is damaged ("), "\(status.out)")
    #expect(status.out.contains("1 file in bundles/outbox can be carried: satchel sync DIR"), "\(status.out)")
    #expect(try camp.device("tablet", "status", "--json").json["state"] == "damaged")
    try camp.makeFolder("stick")
    let synced = camp.device("tablet", "sync", camp.path("stick"), "--plain-folder")
    #expect(synced.code == 5 && synced.error.contains("The database is damaged"), "\(synced.out)\(synced.error)")
    let carried = try FileManager.default.subpathsOfDirectory(atPath: camp.path("stick"))
    #expect(carried.contains { $0.hasSuffix("camp-tablet-hub-1.satchel") }, "\(carried)")
  }

  @Test("a bundle with changes rebuilds the database from the kept bundles, as a full bundle does")
  func fromKept() throws {
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Sea' WHERE id = 'lake'")
    camp.hub("emit", "--device", "tablet")
    try damage(.head)
    let outcome = camp.device("tablet", "import", emitted(2))
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Sea")
    #expect(try kept.count == 1)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test("doctor --repair makes it again from what is kept here, and saves what can be read", arguments: Harm.allCases)
  func repairedFromKept(harm: Harm) throws {
    try damage(harm)
    let before = try camp.read("tablet/data.sqlite")
    let looked = camp.device("tablet", "doctor")
    #expect(looked.code == 1 && looked.out.contains("is damaged"), "\(looked.out)\(looked.error)")
    #expect(looked.out.contains("Next: satchel doctor --repair"), "\(looked.out)")
    #expect(camp.device("tablet", "doctor", "--repair", "--dry-run").code == 0)
    #expect(try camp.read("tablet/data.sqlite") == before && kept.isEmpty)
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0 && repaired.out.contains("Mended."), "\(repaired.out)\(repaired.error)")
    let name = try #require(try kept.first)
    #expect(repaired.out.contains(name))
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    // If the file cannot be read, changes that no export carried are lost.
    #expect(repaired.out.contains("could not be read") == (harm == .head), "\(repaired.out)")
    let words = harm == .head ? "quiet" : "not delivered yet"
    #expect(try camp.rows("tablet/data.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == words)
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == words)
  }

  @Test("a damaged database is left as it is by doctor --repair if nothing here can make it again")
  func notRepaired() throws {
    try camp.remove("tablet/bundles/archive/camp-hub-tablet-1.satchel")
    try damage(.head)
    let before = try camp.read("tablet/data.sqlite")
    for words in [["doctor"], ["doctor", "--repair"]] {
      let outcome = camp.deviceAnywhere(["-C", camp.path("tablet")] + words)
      #expect(outcome.code == 1 && (outcome.out + outcome.error).contains("emit --device tablet --full"))
    }
    #expect(try camp.read("tablet/data.sqlite") == before && kept.isEmpty)
  }

  @Test(
    "where they are not kept, a bundle of changes and an older full one leave it as it is and say what to ask for",
    arguments: [true, false])
  func needsFull(isOlder: Bool) throws {
    let first = camp.path("first.satchel")
    camp.hub("emit", "--device", "tablet", "--full")
    try FileManager.default.copyItem(atPath: emitted(2), toPath: first)
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Sea' WHERE id = 'lake'")
    camp.hub("emit", "--device", "tablet")
    if isOlder { camp.device("tablet", "import", emitted(3)) }
    try camp.remove("tablet/bundles/archive/camp-hub-tablet-1.satchel")
    try damage(.head)
    let before = try camp.read("tablet/data.sqlite")
    let outcome = camp.device("tablet", "import", isOlder ? first : emitted(3))
    #expect(outcome.code == (isOlder ? 3 : 1))
    #expect(outcome.error.contains("is damaged") && outcome.error.contains("satchel-hub emit --device tablet --full"))
    #expect(try camp.read("tablet/data.sqlite") == before && kept.isEmpty)
  }
}
