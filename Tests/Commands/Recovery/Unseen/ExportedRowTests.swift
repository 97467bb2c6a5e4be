import Foundation
import SatchelJSON
import Testing

/// Writes that capture does not record. They come after the export of captured changes, and before the bundle that
/// acknowledges this export.
@Suite("Unseen writes over exported changes")
struct ExportedRowTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.openWoods(
      """
      CREATE TABLE trees (id INTEGER PRIMARY KEY, name TEXT, height INTEGER);
      CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT, tree INTEGER REFERENCES trees (id));
      INSERT INTO trees VALUES (1, 'oak', 10);
      INSERT INTO sites VALUES ('lake', 'Lake', 1), ('hill', 'Hill', 1);
      """)
  }

  private func write(_ sql: String) throws { try camp.sql("tablet/data.sqlite", sql) }
  private func writeUnseen(_ sql: String) throws { try camp.writeUnseen("tablet/data.sqlite", sql) }
  private func writeAtHub(_ sql: String) throws { try camp.sql("office.sqlite", sql) }

  private func export() { #expect(camp.device("tablet", "export").code == 0) }

  /// The hub imports the tablet's export with this number, and emits for the tablet.
  private func takeAtHub(_ number: Int, full: Bool = false) throws {
    let file = camp.path("tablet/bundles/archive/camp-tablet-hub-\(number).satchel")
    #expect(camp.hub("import", file).code == 0)
    _ = try camp.emit("tablet", full: full)
  }

  /// The tablet imports the hub's newest bundle for it.
  private func fetch() throws {
    let file = try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-")
    let outcome = camp.device("tablet", "import", file)
    #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
  }

  private func kept() throws -> [String] { try camp.keptUnseen() }

  @Test("what is written unseen over an exported change is kept before the acknowledging bundle writes over it")
  func acknowledged() throws {
    try write("UPDATE sites SET name = 'Pond' WHERE id = 'lake'; UPDATE trees SET height = 11 WHERE id = 1")
    export()
    try writeUnseen("UPDATE sites SET name = 'Swamp' WHERE id = 'lake'; DELETE FROM trees WHERE id = 1")
    try writeAtHub("UPDATE sites SET tree = NULL WHERE id = 'lake'; UPDATE trees SET name = 'old oak' WHERE id = 1")
    try takeAtHub(2)
    try fetch()
    #expect(try kept() == ["Swamp", "gone"])
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name, tree FROM sites WHERE id = 'lake'") == "Pond|NULL")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT * FROM trees") == "1|old oak|11")
  }

  @Test("an exported change that nothing unseen followed is no conflict, whatever imports made of its row")
  func rebased() throws {
    try write("UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    export()
    // These bundles do not acknowledge the export. So the import repeats the tablet's change on top of their rows.
    for tree in ["NULL", "1"] {
      try writeAtHub("UPDATE sites SET tree = \(tree) WHERE id = 'lake'")
      #expect(camp.hub("emit", "--device", "tablet").code == 0)
      try fetch()
    }
    try writeAtHub("UPDATE sites SET tree = NULL WHERE id = 'lake'")
    try takeAtHub(2)
    try fetch()
    #expect(try kept().isEmpty)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name, tree FROM sites WHERE id = 'lake'") == "Pond|NULL")
  }

  /// The tablet exports a reference to a tree. Then the hub deletes this tree.
  private func referToLostTree() throws {
    try writeAtHub("INSERT INTO trees VALUES (2, 'elm', 5), (3, 'yew', 6)")
    _ = try camp.emit("tablet")
    try fetch()
    try write("UPDATE sites SET tree = 2 WHERE id = 'lake'")
    export()
    try writeAtHub("DELETE FROM trees WHERE id = 2")
  }

  @Test("an exported change whose row got its former parent back, because its new parent left, is no unseen write")
  func formerParent() throws {
    try referToLostTree()
    for name in ["Oak", "Old oak"] {
      try writeAtHub("UPDATE trees SET name = '\(name)' WHERE id = 1")
      _ = try camp.emit("tablet", full: true)
      try fetch()
      #expect(try camp.rows("tablet/data.sqlite", "SELECT tree FROM sites WHERE id = 'lake'") == "1")
      #expect(try camp.rows("tablet/data.sqlite", "SELECT DISTINCT kind FROM satchel_conflicts") == "foreign key")
    }
    let doctor = camp.device("tablet", "doctor")
    #expect(doctor.code == 0, "\(doctor.out)")
  }

  @Test("a repair sends what was written unseen into a row, and not the change of the row that an import undid")
  func notRepeated() throws {
    try referToLostTree()
    _ = try camp.emit("tablet")
    try fetch()
    try writeUnseen("UPDATE sites SET name = 'unseen' WHERE id = 'lake'")
    try writeAtHub("UPDATE sites SET tree = 3 WHERE id = 'lake'")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    try camp.carry("tablet", rounds: 2)
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT name, tree FROM sites WHERE id = 'lake'") == "unseen|3", "\(database)")
      #expect(try camp.rows(database, "SELECT DISTINCT kind FROM satchel_conflicts") == "foreign key", "\(database)")
    }
  }

  @Test("an import that acknowledges nothing keeps what was written unseen before it writes over that")
  func between() throws {
    try write("UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    export()
    try writeUnseen("UPDATE sites SET name = 'Swamp' WHERE id = 'lake'")
    try writeAtHub("UPDATE sites SET tree = NULL WHERE id = 'lake'")
    try camp.answer("tablet")
    #expect(try kept() == ["Swamp"])
    try writeAtHub("UPDATE sites SET name = 'Sea' WHERE id = 'lake'")
    try takeAtHub(2)
    try fetch()
    #expect(try kept().filter { $0 == "Swamp" }.count == 1)
  }

  @Test("a bundle that only acknowledges, and a full bundle, end what was noted of the exported rows")
  func onlyAcknowledged() throws {
    for isFull in [false, true] {
      try write("UPDATE sites SET name = name || '!' WHERE id = 'lake'")
      export()
      let newest = try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-")
      #expect(camp.hub("import", newest).code == 0)
      #expect(
        camp.hubAnywhere(["-C", camp.path("hub"), "emit", "--device", "tablet"] + (isFull ? ["--full"] : [])).code == 0)
      try fetch()
      #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM satchel_exported_rows") == "0")
      // The hub changes the row, and the device changes it again in the next round. Capture has recorded every write.
      try writeAtHub("UPDATE sites SET name = 'Sea' WHERE id = 'lake'")
      #expect(camp.hub("emit", "--device", "tablet").code == 0)
      try fetch()
    }
    #expect(try kept().isEmpty)
  }

  @Test("a repair, a full bundle or another user does not undo that a row is known as written unseen")
  func keptAtExport() throws {
    try write("UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    export()
    try writeUnseen("UPDATE sites SET name = 'Swamp' WHERE id = 'lake'")
    try write("UPDATE sites SET tree = NULL WHERE id = 'lake'")
    export()
    // The second export found the unseen value, so it kept the value and carries the conflict.
    #expect(try kept() == ["Swamp"])
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    try takeAtHub(3)
    let atHub = try camp.listedConflicts()
    #expect(atHub.contains { $0["kind"]?.stringValue == "unseen" && $0["device_values"]?["name"] == "Swamp" })
  }

  @Test("an export sends what was written unseen over an exported change as a new change of the row")
  func sentAsNewChange() throws {
    try write("UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    export()
    try takeAtHub(2)
    try writeUnseen("UPDATE sites SET tree = NULL WHERE id = 'lake'")
    try write("UPDATE trees SET height = 12 WHERE id = 1")
    export()
    try takeAtHub(3)
    try fetch()
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT name, tree FROM sites WHERE id = 'lake'") == "Pond|NULL", "\(database)")
    }
    #expect(try kept().isEmpty)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test("an export keeps what was written unseen over an exported change as one conflict if the archive is incomplete")
  func exportWithoutArchive() throws {
    try write("UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    export()
    try writeUnseen("UPDATE sites SET name = 'Swamp' WHERE id = 'lake'")
    try camp.remove("tablet/bundles/archive/camp-hub-tablet-1.satchel")
    for height in [12, 13] {
      try write("UPDATE trees SET height = \(height) WHERE id = 1")
      export()
      #expect(try kept() == ["Swamp"])
    }
  }

  @Test("the hub's row wins over an unseen write by one decision, because the conflict shows the hub's row")
  func decidedOnce() throws {
    try write("UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    export()
    try writeUnseen("UPDATE sites SET name = 'Swamp' WHERE id = 'lake'")
    try writeAtHub("UPDATE trees SET height = 12 WHERE id = 1")
    try takeAtHub(2)
    try fetch()
    #expect(try kept() == ["Swamp"])
    export()
    try takeAtHub(3)
    let conflict = try #require(try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.first)
    #expect(conflict["hub_values"]?["name"] == "Pond")
    let id = try #require(conflict["id"]?.stringValue)
    let outcome = camp.hub("conflicts", "resolve", id, "--keep", "hub")
    #expect(outcome.code == 0, "\(outcome.error)")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Pond")
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT state FROM satchel_conflicts") == "resolved", "\(database)")
    }
  }

  @Test("a full bundle keeps what was written unseen over an exported change, also if the archive is not complete")
  func fullWithoutArchive() throws {
    try write("UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    export()
    try writeUnseen("UPDATE sites SET name = 'Swamp' WHERE id = 'lake'")
    let newest = try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-")
    #expect(camp.hub("import", newest).code == 0)
    #expect(camp.hub("emit", "--device", "tablet", "--full").code == 0)
    try camp.remove("tablet/bundles/archive/camp-hub-tablet-1.satchel")
    try fetch()
    #expect(try kept() == ["Swamp"])
  }

  @Test("what is written unseen between two captured changes is kept, too")
  func beforeAnotherChange() throws {
    try write("UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    export()
    try writeUnseen("UPDATE sites SET name = 'Swamp' WHERE id = 'lake'")
    try write("UPDATE sites SET tree = NULL WHERE id = 'lake'")
    export()
    try writeAtHub("UPDATE sites SET name = 'Sea' WHERE id = 'lake'")
    try takeAtHub(2)
    try fetch()
    #expect(try kept().contains("Swamp"))
    try takeAtHub(3)
    try fetch()
    #expect(try camp.rows("tablet/data.sqlite", "SELECT tree FROM sites WHERE id = 'lake'") == "NULL")
    #expect(try kept().filter { $0 == "Swamp" }.count == 1)
  }

  @Test("a new row that gets another key with the acknowledging bundle keeps what was written unseen into it")
  func rekeyed() throws {
    try camp.sql("phone/data.sqlite", "INSERT INTO trees VALUES (2, 'elm', 5)")
    camp.deliver("phone", 1)
    try write("INSERT INTO trees VALUES (2, 'ash', 7); UPDATE sites SET tree = 2 WHERE id = 'hill'")
    export()
    try writeUnseen("UPDATE trees SET name = 'stump' WHERE id = 2; UPDATE sites SET name = 'Mount' WHERE id = 'hill'")
    try takeAtHub(2)
    try writeAtHub("UPDATE trees SET height = 8 WHERE name = 'ash'; UPDATE sites SET name = 'Top' WHERE id = 'hill'")
    try camp.answer("tablet")
    #expect(try kept() == ["Mount", "stump"])
    // The conflict names the row's new key, because the row with the old key belongs to another user.
    let keys = try camp.device("tablet", "conflicts", "--json").json["conflicts"]?.arrayValue?
      .filter { $0["table"]?.stringValue == "trees" }.map { $0["key"] }
    #expect(keys == [[3]])
    #expect(try camp.rows("tablet/data.sqlite", "SELECT * FROM trees ORDER BY id") == "1|oak|10\n2|elm|5\n3|ash|8")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name, tree FROM sites WHERE id = 'hill'") == "Top|3")
  }

  @Test("a new row that gave way to the hub's row before its export was acknowledged is still known as written unseen")
  func yielded() throws {
    try write("INSERT INTO trees VALUES (2, 'ash', 7)")
    export()
    try writeUnseen("UPDATE trees SET name = 'stump' WHERE id = 2")
    try writeAtHub("INSERT INTO trees VALUES (2, 'elm', 5)")
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM trees ORDER BY id") == "oak\nelm\nstump")
    try takeAtHub(2)
    try writeAtHub("UPDATE trees SET height = 8 WHERE name = 'ash'")
    try camp.answer("tablet")
    #expect(try kept() == ["stump"])
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name, height FROM trees ORDER BY id") == "oak|10\nelm|5\nash|8")
  }

  @Test("a row that refers to a row with a new key keeps what was written unseen into it")
  func refersToRekeyed() throws {
    try camp.sql("phone/data.sqlite", "INSERT INTO trees VALUES (2, 'elm', 5)")
    camp.deliver("phone", 1)
    try write("INSERT INTO trees VALUES (2, 'ash', 7)")
    export()
    try writeUnseen("UPDATE sites SET tree = 2, name = 'Mount' WHERE id = 'hill'")
    try takeAtHub(2)
    try writeAtHub("UPDATE sites SET name = 'Top' WHERE id = 'hill'")
    try camp.answer("tablet")
    #expect(try kept() == ["Mount"])
    // The key 2 belongs to another tree by now.
    let record = try #require(try camp.device("tablet", "conflicts", "--json").json["conflicts"]?.arrayValue?.first)
    #expect(record["device_values"]?["tree"] == 3)
  }

  @Test(
    "a row that gets a new key keeps what was inserted unseen under that key", arguments: [false, true], [false, true])
  func overwrittenByNewKey(isChangedAgain: Bool, isFull: Bool) throws {
    try camp.sql("phone/data.sqlite", "INSERT INTO trees VALUES (2, 'elm', 5)")
    camp.deliver("phone", 1)
    try write("INSERT INTO trees VALUES (2, 'ash', 7)")
    export()
    if isChangedAgain { try write("UPDATE trees SET height = 8 WHERE id = 2") }
    try writeUnseen("INSERT INTO trees VALUES (3, 'ghost', 9)")
    try takeAtHub(2, full: isFull)
    try fetch()
    #expect(try kept() == ["ghost"])
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM trees ORDER BY id") == "oak\nelm\nash")
  }

  @Test("a row that gets the key of another row of this device is no reason for a conflict if all was captured")
  func keysInTurn() throws {
    try camp.sql("phone/data.sqlite", "INSERT INTO trees VALUES (2, 'elm', 5)")
    camp.deliver("phone", 1)
    try write("INSERT INTO trees VALUES (2, 'ash', 7)")
    camp.deliver("tablet", 2)
    try write("INSERT INTO trees VALUES (3, 'fir', 4)")
    camp.deliver("tablet", 3)
    #expect(camp.hub("emit", "--device", "tablet").code == 0)
    try write("UPDATE trees SET height = 9 WHERE id = 2")
    try fetch()
    #expect(try kept().isEmpty)
    #expect(
      try camp.rows("tablet/data.sqlite", "SELECT * FROM trees ORDER BY id")
        == "1|oak|10\n2|elm|5\n3|ash|9\n4|fir|4")
  }

  @Test("what was written unseen before a captured change is kept, although the row refers to a row with a new key")
  func beforeReference() throws {
    try camp.sql("phone/data.sqlite", "INSERT INTO trees VALUES (2, 'elm', 5)")
    camp.deliver("phone", 1)
    try writeUnseen("UPDATE sites SET name = 'Mount' WHERE id = 'hill'")
    try write("INSERT INTO trees VALUES (2, 'ash', 7); UPDATE sites SET tree = 2 WHERE id = 'hill'")
    export()
    try takeAtHub(2)
    try writeAtHub("UPDATE sites SET name = 'Top' WHERE id = 'hill'")
    try camp.answer("tablet")
    #expect(try kept() == ["Mount"])
  }

  @Test("a delta to a device of which the hub does not know yet that it has the new version is compared, too")
  func afterUpgrade() throws {
    try camp.write(
      "camp.json", CommandLineFixture.woods.replacingOccurrences(of: #""version": 1"#, with: #""version": 2"#))
    try camp.write("step.sql", "ALTER TABLE sites ADD COLUMN extra TEXT;")
    #expect(camp.hub("dataset", "apply", camp.path("camp.json"), "--migration", camp.path("step.sql")).code == 0)
    try camp.answer("tablet")
    try writeUnseen("UPDATE sites SET name = 'Swamp' WHERE id = 'lake'")
    try writeAtHub("UPDATE sites SET tree = NULL")
    try camp.answer("tablet")
    #expect(try kept() == ["Swamp"])
  }

  @Test(
    "rows that an earlier release exported are not compared with their exports")
  func exportedByEarlierRelease() throws {
    try write("UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    export()
    try camp.writeUnseen("tablet/data.sqlite", "DELETE FROM satchel_exported_rows")
    try writeAtHub("UPDATE sites SET tree = NULL WHERE id = 'lake'")
    try takeAtHub(2)
    try fetch()
    #expect(try kept().isEmpty)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM satchel_exported_rows") == "0")
  }
}
