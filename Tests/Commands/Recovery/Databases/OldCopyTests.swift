import Foundation
import Testing

/// An old copy replaces a device's newer database. When the copy was made, changes were pending.
@Suite("An old copy and the exports of the newer database count what they have in common once")
struct OldCopyTests {
  private let camp: CommandLineFixture
  private let query = "SELECT id, n, words, tags FROM counts ORDER BY id"

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE counts (id INTEGER PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0, words TEXT, tags TEXT DEFAULT '[]');
      INSERT INTO counts VALUES (1, 0, 'one', '[]'), (2, 0, 'two', '[]');
      """,
      CommandLineFixture.definition(
        #"{ "counts": { "conflict": "newest", "columns": { "n": "sum", "tags": "union" } } }"#),
      devices: ["tablet"])
  }

  private func write(_ sql: String) throws { try camp.sql("tablet/data.sqlite", sql) }

  private func keepCopy() throws { try camp.copy("tablet/data.sqlite", to: "old.sqlite") }

  private func putBack(_ copy: String = "old.sqlite") throws {
    try camp.remove("tablet/data.sqlite")
    try camp.copy(copy, to: "tablet/data.sqlite")
    camp.awaitLaterTime()
  }

  /// Writes `common` and makes a copy. Then writes `newer` and exports. Then puts the copy back and writes `copy`.
  private func part(_ common: [String], newer: [String] = [], copy: [String] = []) throws {
    for sql in common { try write(sql) }
    try keepCopy()
    for sql in newer { try write(sql) }
    _ = try camp.export("tablet")
    try putBack()
    for sql in copy { try write(sql) }
  }

  /// Repairs the copy. Expects these rows on the device, and after two exchanges also at the hub.
  private func repair(expecting rows: String) throws {
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    #expect(try camp.rows("tablet/data.sqlite", query) == rows)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    try camp.carry("tablet", rounds: 2)
    for database in ["office.sqlite", "tablet/data.sqlite"] { #expect(try camp.rows(database, query) == rows) }
    #expect(camp.hub("audit").code == 0)
  }

  private func conflicts(_ state: String) throws -> String {
    try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts WHERE state = '\(state)'")
  }

  @Test("what was exported and then counted further in the copy counts once", arguments: [false, true])
  func further(isDelivered: Bool) throws {
    try write("UPDATE counts SET n = n + 2 WHERE id = 1; INSERT INTO counts VALUES (3, 5, 'new', '[]')")
    try keepCopy()
    let file = try camp.export("tablet")
    if isDelivered { #expect(camp.hub("import", file).code == 0) }
    try putBack()
    try write("UPDATE counts SET n = n + 1, words = 'of the copy'; UPDATE counts SET tags = '[\"a\"]' WHERE id = 3")
    try repair(expecting: "1|3|of the copy|[]\n2|1|of the copy|[]\n3|6|of the copy|[\"a\"]")
    #expect(try conflicts("open") == "0" && conflicts("settled") == "0")
  }

  @Test("what the hub changed between two exports does not count as a part of the copy's write")
  func importedBetween() throws {
    try write("UPDATE counts SET n = n + 2")
    try keepCopy()
    try camp.sql("office.sqlite", "UPDATE counts SET n = n + 10")
    try camp.answer("tablet")
    _ = try camp.export("tablet")
    try putBack()
    try write("UPDATE counts SET n = n + 1 WHERE id = 1")
    try repair(expecting: "1|13|one|[]\n2|12|two|[]")
  }

  @Test("what the copy wrote before it was made is in the export")
  func contained() throws {
    try part(
      ["UPDATE counts SET n = n + 2, words = 'early' WHERE id = 1"],
      newer: ["UPDATE counts SET n = n + 4, words = 'late' WHERE id = 1"])
    try repair(expecting: "1|6|late|[]\n2|0|two|[]")
    #expect(try conflicts("open") == "0" && conflicts("settled") == "0")
  }

  @Test("what was written twice before the copy was made is no new write, although the export has a later one")
  func writtenTwice() throws {
    try part(
      ["UPDATE counts SET n = n + 2 WHERE id = 1", "UPDATE counts SET words = 'early' WHERE id = 1"],
      newer: ["UPDATE counts SET n = n + 4, words = 'one' WHERE id = 1"])
    try repair(expecting: "1|6|one|[]\n2|0|two|[]")
    #expect(try conflicts("open") == "0")
  }

  @Test("if both counted on, a person decides, because nothing shows how much they have in common")
  func bothFurther() throws {
    try part(
      ["UPDATE counts SET n = n + 2 WHERE id = 1"],
      newer: ["UPDATE counts SET n = n + 4 WHERE id = 1"],
      copy: ["UPDATE counts SET n = n + 1 WHERE id = 1"])
    try repair(expecting: "1|6|one|[]\n2|0|two|[]")
    #expect(try conflicts("open") == "1")
  }

  @Test("if both wrote on in different columns, all of it counts, and a set has the elements of both")
  func onlyOneCounted() throws {
    try part(
      ["UPDATE counts SET tags = '[\"a\"]'"],
      newer: [
        "UPDATE counts SET n = n + 4, tags = '[\"a\",\"b\"]' WHERE id = 1",
        "UPDATE counts SET words = 'newer' WHERE id = 2",
      ],
      copy: [
        "UPDATE counts SET words = 'copy', tags = '[\"a\",\"c\"]' WHERE id = 1",
        "UPDATE counts SET n = 1 WHERE id = 2",
      ])
    try repair(expecting: "1|4|copy|[\"a\",\"b\",\"c\"]\n2|1|newer|[\"a\"]")
    #expect(try conflicts("open") == "0")
  }

  @Test("if both wrote another value after the common one, the exported value stays, and a person decides")
  func bothWrote() throws {
    try part(
      ["UPDATE counts SET words = 'common'"],
      newer: ["UPDATE counts SET words = 'newer' WHERE id = 1; DELETE FROM counts WHERE id = 2"],
      copy: ["UPDATE counts SET words = 'copy'"])
    try repair(expecting: "1|0|newer|[]")
    #expect(try conflicts("open") == "2")
  }

  @Test("what was taken back before the export, and is still in the copy, is for a person")
  func takenBack() throws {
    try part(
      ["UPDATE counts SET n = n + 1 WHERE id = 1; INSERT INTO counts VALUES (3, 5, 'mistake', '[]')"],
      newer: [
        "UPDATE counts SET n = n - 1 WHERE id = 1; DELETE FROM counts WHERE id = 3",
        "UPDATE counts SET words = 'other' WHERE id = 2",
      ])
    try repair(expecting: "1|0|one|[]\n2|0|other|[]")
    #expect(try conflicts("open") == "2")
  }

  @Test("what was exported, and was taken back in the copy, is taken back")
  func takenBackInCopy() throws {
    try part(
      ["UPDATE counts SET words = 'x' WHERE id = 1; INSERT INTO counts VALUES (3, 5, 'mistake', '[]')"],
      copy: ["UPDATE counts SET words = 'one' WHERE id = 1; DELETE FROM counts WHERE id = 3"])
    try repair(expecting: "1|0|one|[]\n2|0|two|[]")
    #expect(try conflicts("open") == "0")
  }

  @Test("a row of the common work that the copy deleted, and the newer database wrote, is for a person")
  func deletedInCopy() throws {
    try part(
      ["INSERT INTO counts VALUES (3, 5, 'new', '[]')", "UPDATE counts SET words = 'common' WHERE id = 3"],
      newer: ["UPDATE counts SET words = 'newer' WHERE id = 3"],
      copy: ["DELETE FROM counts WHERE id = 3"])
    try repair(expecting: "1|0|one|[]\n2|0|two|[]\n3|5|newer|[]")
    #expect(try conflicts("open") == "1")
  }

  @Test("if both counted to the same number after a common write, a person decides")
  func equalCounts() throws {
    try part(
      ["UPDATE counts SET n = n + 2 WHERE id = 1"],
      newer: ["UPDATE counts SET n = n + 1 WHERE id = 1"],
      copy: ["UPDATE counts SET n = n + 1 WHERE id = 1"])
    try repair(expecting: "1|3|one|[]\n2|0|two|[]")
    #expect(try conflicts("open") == "1")
  }

  @Test("by the policy newest, an old write of the copy does not replace a later value of the office")
  func olderThanTheOffice() throws {
    try keepCopy()
    try write("UPDATE counts SET n = n + 1 WHERE id = 2")
    #expect(camp.hub("import", try camp.export("tablet")).code == 0)
    try camp.copy("tablet/data.sqlite", to: "newer.sqlite")
    try putBack()
    try write("UPDATE counts SET words = 'of the copy' WHERE id = 1")
    try camp.copy("tablet/data.sqlite", to: "written.sqlite")
    try putBack("newer.sqlite")
    try camp.sql("office.sqlite", "UPDATE counts SET words = 'of the office' WHERE id = 1")
    try camp.answer("tablet")
    try putBack("written.sqlite")
    try write("UPDATE counts SET words = 'later' WHERE id = 2")
    try repair(expecting: "1|0|of the office|[]\n2|1|later|[]")
    #expect(try conflicts("settled") == "1")
  }

  @Test("what a repair took from a copy counts once, if the same copy is put back again", arguments: [false, true])
  func twice(isDelivered: Bool) throws {
    try write("UPDATE counts SET n = n + 2 WHERE id = 1")
    try keepCopy()
    _ = try camp.export("tablet")
    try putBack()
    try write(
      "UPDATE counts SET n = n + 1, words = 'of the copy' WHERE id = 1; INSERT INTO counts VALUES (3, 5, 'new', '[]')")
    try camp.copy("tablet/data.sqlite", to: "further.sqlite")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    let file = try camp.export("tablet")
    if isDelivered { #expect(camp.hub("import", file).code == 0) }
    try write("UPDATE counts SET words = 'other' WHERE id = 2")
    _ = try camp.export("tablet")
    try putBack("further.sqlite")
    try repair(expecting: "1|3|of the copy|[]\n2|0|other|[]\n3|5|new|[]")
    #expect(try conflicts("open") == "0" && conflicts("settled") == "0")
  }

  @Test("what no trigger recorded before the copy was made, and the newer database found, does not count twice")
  func foundInBoth() throws {
    try camp.writeUnseen(
      "tablet/data.sqlite",
      "UPDATE counts SET n = n + 2, words = 'unseen' WHERE id = 1; INSERT INTO counts VALUES (3, 5, 'new', '[]')")
    try keepCopy()
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    _ = try camp.export("tablet")
    try putBack()
    try repair(expecting: "1|2|unseen|[]\n2|0|two|[]\n3|5|new|[]")
    // Nothing shows whether the copy and the newer database have both counts in common.
    #expect(try conflicts("open") == "1")
  }

  @Test("what the last export lost on a later import is kept, although that export never arrives")
  func lostOnImport() throws {
    try keepCopy()
    try write("UPDATE counts SET words = 'mine' WHERE id = 2")
    _ = try camp.export("tablet")
    camp.awaitLaterTime()
    try camp.sql("office.sqlite", "UPDATE counts SET words = 'of the office' WHERE id = 2")
    try camp.answer("tablet")
    try putBack()
    try write("UPDATE counts SET n = 7 WHERE id = 1")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(camp.hub("import", try camp.export("tablet")).code == 0)
    #expect(try camp.rows("office.sqlite", query) == "1|7|one|[]\n2|0|of the office|[]")
    #expect(try conflicts("settled") == "1")
  }
}
