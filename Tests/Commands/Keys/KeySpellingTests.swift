import Foundation
import SatchelJSON
import Testing

/// Primary keys that SQLite considers equal, although their values differ: for example 1 and 1.0, or 'k' and 'K'.
@Suite("One key in several spellings")
struct KeySpellingTests {
  private static let rows = "SELECT typeof(id) || ' ' || id || ' ' || note FROM marks ORDER BY id, typeof(id)"
  private static let links = "SELECT id || ' ' || mark FROM links ORDER BY id"

  private func open(_ column: String, policy: String = "newest", _ keys: String...) throws -> TwoDeviceFixture {
    let quarrel = try TwoDeviceFixture(
      """
      CREATE TABLE marks (id \(column) PRIMARY KEY NOT NULL, note TEXT, more TEXT);
      CREATE TABLE links (id TEXT PRIMARY KEY, mark REFERENCES marks (id));
      INSERT INTO marks VALUES \(keys.map { "(\($0), 'first', 'more')" }.joined(separator: ", "));
      """, #""marks": { "conflict": "\#(policy)" }, "links": { "conflict": "\#(policy)" }"#)
    return quarrel
  }

  private static let ways = [
    "UPDATE marks SET id = 1.0, note = 'new'", "REPLACE INTO marks VALUES (1.0, 'new', 'more')",
    "DELETE FROM marks; INSERT INTO marks VALUES (1.0, 'new', 'more')",
  ]

  @Test("a key that becomes 1.0 at the office reaches a device by a delta and by a full bundle", arguments: ways)
  func fromOffice(sql: String) throws {
    let quarrel = try open("", "1")
    try quarrel.sql("office", sql)
    try quarrel.answer("tablet")
    #expect(try quarrel.rows("tablet", Self.rows) == "real 1.0 new")
    try quarrel.answer("phone", full: true)
    #expect(try quarrel.rows("phone", Self.rows) == "real 1.0 new")
    try quarrel.sql("office", "DELETE FROM marks")
    try quarrel.peace([Self.rows])
    #expect(try quarrel.rows("tablet", Self.rows) == "")
    #expect(try quarrel.conflicts().isEmpty)
  }

  @Test("a key that becomes 1.0 on a device reaches the office and the other device", arguments: ways)
  func fromDevice(sql: String) throws {
    let quarrel = try open("BLOB", "1")
    try quarrel.sql("tablet", sql)
    try quarrel.peace([Self.rows])
    #expect(try quarrel.rows("phone", Self.rows) == "real 1.0 new")
    #expect(try quarrel.conflicts().isEmpty)
  }

  @Test("a pending change of a row is kept beside the office's new spelling of its key", arguments: [false, true])
  func pending(full: Bool) throws {
    let quarrel = try open("", "1", "2.0")
    try quarrel.sql("tablet", "UPDATE marks SET note = 'tablet'")
    try quarrel.sql("office", "UPDATE marks SET id = 1.0 WHERE id = 1; UPDATE marks SET id = 2 WHERE id = 2.0")
    try quarrel.answer("tablet", full: full)
    #expect(try quarrel.rows("tablet", Self.rows) == "real 1.0 tablet\ninteger 2 tablet")
    try quarrel.peace([Self.rows])
    #expect(try quarrel.rows("phone", Self.rows) == "real 1.0 tablet\ninteger 2 tablet")
    #expect(try quarrel.conflicts().isEmpty)
  }

  @Test("an export with a new spelling is pending again in a rebuilt database, and counts once")
  func replayed() throws {
    let quarrel = try open("", "1")
    try quarrel.sql("tablet", "UPDATE marks SET id = 1.0, note = 'new'")
    let export = try quarrel.export("tablet")
    let folder = quarrel.camp.path("tablet")
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasPrefix("data.sqlite") {
      try FileManager.default.removeItem(atPath: "\(folder)/\(file)")
    }
    try quarrel.answer("tablet", full: true)
    #expect(try quarrel.rows("tablet", Self.rows) == "real 1.0 new")
    quarrel.hear(export)
    try quarrel.peace([Self.rows])
    #expect(try quarrel.rows("phone", Self.rows) == "real 1.0 new")
    #expect(try quarrel.conflicts().isEmpty)
  }

  @Test("a parent whose key gets another spelling keeps its children, without a disagreement")
  func parent() throws {
    let quarrel = try open("TEXT COLLATE NOCASE", "'k'")
    try quarrel.sql("office", "INSERT INTO links VALUES ('l', 'k')")
    for device in ["tablet", "phone"] { try quarrel.answer(device) }
    try quarrel.sql("tablet", "UPDATE marks SET id = 'K', note = 'new'")
    try quarrel.peace([Self.rows, Self.links])
    #expect(try quarrel.rows("phone", Self.rows) == "text K new")
    #expect(try quarrel.rows("phone", Self.links) == "l k")
    #expect(try quarrel.conflicts().isEmpty)
  }

  @Test("a parent that goes takes along a new row that spells its key in another way")
  func orphan() throws {
    let quarrel = try open("TEXT COLLATE NOCASE", "'k'")
    try quarrel.sql("tablet", "INSERT INTO links VALUES ('l', 'K')")
    try quarrel.sql("office", "DELETE FROM marks")
    try quarrel.answer("tablet")
    #expect(try quarrel.rows("tablet", Self.links) == "")
    #expect(try quarrel.endings("tablet") == ["foreign key open insert"])
    try quarrel.peace([Self.rows, Self.links])
  }

  @Test("a parent stays for a child that spells its key in another way, whatever the child's column is")
  func child() throws {
    let quarrel = try open("TEXT COLLATE NOCASE", "'k'")
    try quarrel.sql("phone", "INSERT INTO links VALUES ('l', 'K')")
    try quarrel.deliver("phone")
    try quarrel.sql("tablet", "DELETE FROM marks")
    try quarrel.peace([Self.rows, Self.links])
    #expect(try quarrel.rows("office", Self.rows) == "text k first")
    #expect(try quarrel.endings() == ["foreign key open delete"])
  }

  @Test("a row that is gone has the spelling that its device was sent, whatever it was called later")
  func gone() throws {
    let quarrel = try open("", "1")
    try quarrel.sql("office", "UPDATE marks SET id = 1.0")
    try quarrel.answer("tablet")
    try quarrel.sql("office", "UPDATE marks SET id = 1")
    try quarrel.sql("office", "DELETE FROM marks")
    let shown = try quarrel.camp.hub("inspect", "--rows", "--json", quarrel.emit("tablet")).json["rows"]?.arrayValue
    #expect(try #require(shown?.first?["key"]?.arrayValue) == [.real(1)])
  }
}

extension TwoDeviceFixture {
  /// The kind, state and operation of each conflict.
  fileprivate func endings(_ who: String? = nil) throws -> [String] {
    try conflicts(who).map { record in
      ["kind", "state", "operation"].compactMap { record[$0]?.stringValue }.joined(separator: " ")
    }
  }
}
