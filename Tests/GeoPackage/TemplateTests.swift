import Foundation
import SatchelSQLite
import TestSupport
import Testing

@Suite("A device that begins with a file from the app")
struct TemplateTests {
  private static let schema = """
    CREATE TABLE notes (id INTEGER PRIMARY KEY, words TEXT);
    CREATE VIEW short AS SELECT substr(words, 1, 3) AS words FROM notes;
    CREATE TABLE settings (word TEXT);
    PRAGMA user_version = 7;
    """

  private func open(template: String) throws -> GeoPackageFixture {
    let expedition = try GeoPackageFixture(ending: "db")
    try expedition.sql(expedition.office, Self.schema + "INSERT INTO notes VALUES (1, 'one'), (2, 'two')")
    try expedition.sql(expedition.folder("empty.db"), template)
    #expect(try expedition.found(["notes"]).code == 0)
    expedition.hub("user", "add", "ann")
    return expedition
  }

  private func texts(_ path: String, _ query: String) throws -> [String] {
    try Database(path: path, mode: .readOnly).all(query) { $0.text(0) }
  }

  @Test("the device's database is the template with the rows in it, under the template's ending")
  func filled() throws {
    let expedition = try open(template: Self.schema + "INSERT INTO settings VALUES ('dark')")
    let template = try Data(contentsOf: URL(filePath: expedition.folder("empty.db")))
    #expect(expedition.provision("tablet", template: "empty.db").code == 0)
    let path = expedition.database("tablet")
    #expect(try texts(path, "SELECT words FROM short") == ["one", "two"])
    #expect(try texts(path, "SELECT word FROM settings") == ["dark"])
    #expect(
      try expedition.rows(path, "PRAGMA user_version") == expedition.rows(expedition.office, "PRAGMA user_version"))
    #expect(try Data(contentsOf: URL(filePath: expedition.folder("empty.db"))) == template)
    try expedition.sql(path, "UPDATE notes SET words = 'three' WHERE id = 2")
    try expedition.round(from: "tablet", to: ["tablet"])
    #expect(try texts(expedition.office, "SELECT words FROM notes") == ["one", "three"])
  }

  @Test("rows that are just the hub's may be there already; any other is refused, and nothing is left of the device")
  func present() throws {
    let same = try open(template: Self.schema + "INSERT INTO notes VALUES (2, 'two')")
    #expect(same.provision("tablet", template: "empty.db").code == 0)
    #expect(try texts(same.database("tablet"), "SELECT words FROM notes") == ["one", "two"])
    for stray in ["(2, 'TWO')", "(3, 'three')"] {
      let expedition = try open(template: Self.schema + "INSERT INTO notes VALUES \(stray)")
      let outcome = expedition.provision("tablet", template: "empty.db")
      #expect(outcome.code == 3)
      #expect(outcome.error.contains("rows in notes that are not the hub's"))
      #expect(!FileManager.default.fileExists(atPath: expedition.folder("tablet")))
      #expect(try texts(expedition.office, "SELECT name FROM satchel_devices").isEmpty)
    }
  }

  @Test(
    "a template that lacks a table, belongs to a workspace, or is none is refused as such", arguments: [false, true])
  func unfit(isRehearsal: Bool) throws {
    let expedition = try open(template: "CREATE TABLE settings (word TEXT)")
    let rehearsal = isRehearsal ? ["--dry-run"] : []
    func outcome(_ template: String) -> GeoPackageFixture.Outcome {
      rehearsal.isEmpty
        ? expedition.provision("tablet", template: template)
        : expedition.provision("tablet", template: template, "--dry-run")
    }
    if !isRehearsal {
      let lacking = outcome("empty.db")
      #expect(lacking.code == 3)
      #expect(lacking.error.contains("has no table notes"))
    }
    let captured = outcome("office.db")
    #expect(captured.code == 1)
    #expect(captured.error.contains("belongs to a Satchel workspace"))
    #expect(outcome("nowhere.db").error.contains("There is no database"))
    #expect(outcome("land.json").error.contains("not an SQLite database"))
    #expect(!FileManager.default.fileExists(atPath: expedition.folder("tablet")))
    #expect(try texts(expedition.office, "SELECT name FROM satchel_devices").isEmpty)
  }

  @Test("rows deleted in the template are not in the device's file, and rows in its journal are")
  func noRemains() throws {
    let expedition = try open(template: "PRAGMA journal_mode = WAL; PRAGMA secure_delete = OFF;" + Self.schema)
    let template = try Database(path: expedition.folder("empty.db"), mode: .readWrite)
    try template.execute(
      "INSERT INTO notes VALUES (9, 'TOPSECRET'); DELETE FROM notes; INSERT INTO settings VALUES ('late')")
    #expect(expedition.provision("tablet", template: "empty.db").code == 0)
    #expect(try texts(expedition.database("tablet"), "SELECT word FROM settings") == ["late"])
    let bytes = try Data(contentsOf: URL(filePath: expedition.database("tablet")))
    #expect(bytes.range(of: Data("TOPSECRET".utf8)) == nil)
    _ = consume template
  }
}
