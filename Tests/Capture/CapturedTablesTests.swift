import SatchelCapture
import SatchelSQLite
import SatchelValues
import Testing

/// Satchel remembers that it found a database intact. This must not hide damage that happens later.
@Suite("Tables that were found before")
struct CapturedTablesTests {
  @Test(
    "damage is found in a database that was intact at the look before",
    arguments: [
      ("DROP TRIGGER \"satchel_before_delete:t\"", .triggers),
      ("ALTER TABLE t ADD COLUMN b", .columns),
      ("CREATE TABLE n AS SELECT * FROM t; DROP TABLE t; ALTER TABLE n RENAME TO t", .table),
      ("DROP TABLE satchel_writes_t", .saved),
      ("DELETE FROM satchel_capture", .saved),
      ("UPDATE satchel_columns SET type = 'BLOB' WHERE name = 'a'", .columns),
    ] as [(String, CaptureDamage.Kind)])
  func damage(change: String, kind: CaptureDamage.Kind) throws {
    let captured = try CapturedDatabase(["t"], setUp: ["CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)"])
    let dataset = try definition(["t"])
    for _ in 0..<2 {
      let found = try CapturedTables(of: dataset, in: captured.open())
      #expect(found.damage.isEmpty && found.tables.map(\.name) == ["t"])
    }
    try captured.open().execute(change)
    for _ in 0..<2 {
      let found = try CapturedTables(of: dataset, in: captured.open())
      #expect(found.damage.map(\.kind) == [kind])
    }
  }

  @Test("a table that was made again with the same words is found, although another one was intact")
  func madeAgain() throws {
    let table = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)"
    let captured = try CapturedDatabase(["t"], setUp: [table])
    let dataset = try definition(["t"])
    let triggers = try captured.open().all("SELECT sql FROM sqlite_schema WHERE tbl_name = 't' AND type = 'trigger'") {
      $0.text(0)
    }
    #expect(try CapturedTables(of: dataset, in: captured.open()).damage.isEmpty)
    for sql in ["DROP TABLE t", "CREATE TABLE t2 (a)", table] + triggers { try captured.open().execute(sql) }
    #expect(try CapturedTables(of: dataset, in: captured.open()).damage.map(\.kind) == [.remade])
  }

  @Test("another definition of the same tables has its own rules")
  func otherDefinition() throws {
    let captured = try CapturedDatabase(["t"], setUp: ["CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)"])
    for column in ["a", "id"] {
      let dataset = try definition(["t"], rules: ["t": "{\"label\":\"\(column)\"}"])
      let found = try CapturedTables(of: dataset, in: captured.open())
      #expect(found.tables.map(\.rules.label) == [Name(column)])
    }
  }
}
