import Foundation
import Testing

@Suite("Values that a decision writes into a column")
struct EnteredValueTests {
  private static let schema = """
    CREATE TABLE notes (id TEXT PRIMARY KEY, photo BLOB, anything, words TEXT);
    INSERT INTO notes VALUES ('n', x'01', 'a', 'w');
    """

  /// Makes an open conflict at the hub. All three columns are in conflict.
  private func quarrel() throws -> (TwoDeviceFixture, id: String) {
    let quarrel = try TwoDeviceFixture(Self.schema, #""notes": { "conflict": "manual" }"#)
    try quarrel.sql("tablet", "UPDATE notes SET photo = x'0a', anything = 'b', words = 'v'")
    try quarrel.sql("phone", "UPDATE notes SET photo = x'0b', anything = x'0c', words = 'u'")
    for name in ["tablet", "phone"] { quarrel.hear(try quarrel.export(name)) }
    let list = try quarrel.camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue
    return (quarrel, try #require(list?.first?["id"]?.stringValue))
  }

  private static let now = "SELECT quote(photo), quote(anything), quote(words) FROM notes"

  @Test("text never gets into a column of bytes, and the answer says what to write instead")
  func bytes() throws {
    let (quarrel, id) = try quarrel()
    for (column, words) in [
      ("photo", "abc"), ("photo", ""), ("photo", "x'0'"), ("photo", "x'zz'"), ("anything", "abc"),
    ] {
      let refused = quarrel.camp.hub("conflicts", "resolve", id, "--set", "\(column)=\(words)")
      #expect(refused.code == 1 && refused.error.contains("The column \(column) holds bytes"), "\(refused.error)")
      #expect(refused.error.contains("\(column)=x'0A0B'") && refused.error.contains("\(column)=@FILE"))
    }
    #expect(try quarrel.rows("office", Self.now) == "X'0A'|'b'|'v'")
    #expect(quarrel.camp.hub("conflicts").out.contains("open"))
  }

  @Test("bytes come from x'...' or from a file; in a column of text both stay text")
  func literalsAndFiles() throws {
    let (quarrel, id) = try quarrel()
    try Data([0, 255, 10]).write(to: URL(fileURLWithPath: quarrel.camp.path("hub/picture")))
    let done = quarrel.camp.hub(
      "conflicts", "resolve", id, "--set", "photo=@picture", "--set", "anything=X'0a0B'", "--set", "words=@picture")
    #expect(done.code == 0, "\(done.error)")
    #expect(try quarrel.rows("office", Self.now) == "X'00FF0A'|X'0A0B'|'@picture'")
  }

  @Test("a file that is not there is named, and nothing is decided")
  func noFile() throws {
    let (quarrel, id) = try quarrel()
    let refused = quarrel.camp.hub("conflicts", "resolve", id, "--set", "words=x'00'", "--set", "photo=@nowhere")
    #expect(refused.code == 1 && refused.error.contains("nowhere"), "\(refused.error)")
    #expect(try quarrel.rows("office", Self.now) == "X'0A'|'b'|'v'")
    #expect(quarrel.camp.hub("conflicts", "resolve", id, "--set", "words=x'00'", "--set", "photo=NULL").code == 0)
    #expect(try quarrel.rows("office", Self.now) == "NULL|'b'|'x''00'''")
  }

  @Test("each column can get the value of another side, and a column that is not named stays as it is")
  func sides() throws {
    let (quarrel, id) = try quarrel()
    let done = quarrel.camp.hub("conflicts", "resolve", id, "--keep", "photo=device", "--keep", "WORDS=before")
    #expect(done.code == 0, "\(done.error)")
    #expect(try quarrel.rows("office", Self.now) == "X'0B'|'b'|'w'")
  }

  @Test("a value of a side and a value of one's own decide one conflict together")
  func sideAndOwn() throws {
    let (quarrel, id) = try quarrel()
    let done = quarrel.camp.hub(
      "conflicts", "resolve", id, "--keep", "photo=hub", "--keep", "words=device", "--set", "anything=x'0d'")
    #expect(done.code == 0, "\(done.error)")
    #expect(try quarrel.rows("office", Self.now) == "X'0A'|X'0D'|'u'")
  }

  @Test("a column with two values, an unknown column and a mixture of whole and single sides are refused")
  func confused() throws {
    let (quarrel, id) = try quarrel()
    for (words, message) in [
      (["--keep", "photo=device", "--set", "Photo=x'00'"], "has two values"),
      (["--keep", "photo=device", "--keep", "photo=hub"], "has two values"),
      (["--keep", "colour=hub"], "no value for colour=hub"),
      (["--keep", "photo=office"], "--keep COLUMN=device"),
      (["--keep", "hub", "--keep", "photo=device"], "--keep COLUMN=device"),
      (["--keep", "device", "--set", "words=x"], "--keep COLUMN=device"), ([], "--keep COLUMN=device"),
    ] {
      let resolve = ["-C", quarrel.camp.path("hub"), "conflicts", "resolve", id]
      let refused = quarrel.camp.hubAnywhere(resolve + words)
      #expect(refused.code == 2 && refused.error.contains(message), "\(words): \(refused.error)")
    }
    #expect(try quarrel.rows("office", Self.now) == "X'0A'|'b'|'v'")
    #expect(quarrel.camp.hub("conflicts").out.contains("open"))
  }

  @Test("long values of a conflict are shown below each other, in lines that fit")
  func longValues() throws {
    let (quarrel, id) = try quarrel()
    #expect(quarrel.camp.hub("conflicts", "show", id).out.contains("\nwords     w"))
    let long = "the pump house by the lake has a new roof, and its door was painted in a bright red this spring"
    try quarrel.sql("office", "UPDATE notes SET words = '\(long)'")
    let shown = quarrel.camp.hub("conflicts", "show", id).out
    let block = """
      words
        BEFORE   w
        HUB      v
        DEVICE   u
        STANDS   hub
        ROW NOW  the pump house by the lake has a new roof, and its door was painted
                 in a bright red this spring

      """
    #expect(shown.contains(block), "\(shown)")
    #expect(shown.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(shown)")
  }
}
