import Foundation
import TestSupport
import Testing

@Suite("Other processes write and read while Satchel works", .serialized)
struct ConcurrencyTests {
  /// The app's pause between two writes. Without it, a writer would write thousands of rows a second.
  private static let pause =
    """
    SELECT count(*) FROM (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000) SELECT i FROM \
    n);
    """

  /// Writes a row in each turn and changes the row before it. These are two transactions.
  private func writer(_ field: Field, _ database: String, _ author: String) -> Worker {
    Worker(field.folder(database)) { shell, turn in
      try shell.ask("INSERT INTO notes VALUES ('\(author)-\(turn)', 1, '\(author)', \(turn), 'first words', NULL);")
      try shell.ask("UPDATE notes SET words = 'last words' WHERE author = '\(author)' AND number = \(turn - 1);")
      try shell.ask(Self.pause)
    }
  }

  /// Reads twice in one transaction. Nothing may change between the two, and a bundle must be imported completely or
  /// not at all.
  private func reader(_ field: Field, _ database: String, other author: String) -> Worker {
    Worker(field.folder(database)) { shell, _ in
      let count = "SELECT count(*), sum(number), count(words) FROM notes;"
      let theirs = "SELECT count(*) FROM notes WHERE author = '\(author)';"
      let lines = try shell.ask("BEGIN;\n\(count)\n\(theirs)\n\(count)\nCOMMIT;")
      guard lines.count == 3, lines[0] == lines[2] else {
        throw ToolFailure("one transaction saw two states: \(lines)")
      }
      guard ["0", "\(Field.rows)"].contains(lines[1]) else { throw ToolFailure("a bundle was seen in part: \(lines)") }
    }
  }

  @Test(
    """
    no write is missed or doubled, no program is blocked for longer than the busy timeout, and none sees a part of a \
    bundle
    """,
    arguments: ["wal", "delete"])
  func promise(journal: String) throws {
    let field = try Field(journal: journal)
    let sides = ["office.sqlite": ["hub-1", "hub-2"], "tablet/data.sqlite": ["field-1", "field-2"]]
    var writers: [String: Worker] = [:]
    for (database, authors) in sides {
      for author in authors { writers[author] = writer(field, database, author) }
    }
    let readers = [
      reader(field, "office.sqlite", other: "tablet"), reader(field, "tablet/data.sqlite", other: "office"),
    ]
    try Worker.work(readers + writers.values) {
      for _ in 1...2 {
        try field.deliver()
        try field.answer()
      }
    }
    for worker in readers + writers.values { #expect(worker.complaint == nil) }

    // Delivers the writes since the last delivery, and imports the hub's answer.
    try field.deliver()
    try field.answer()
    for (author, worker) in writers {
      let turns = worker.turns
      #expect(turns > 0, "\(author) never came to write")
      for database in sides.keys {
        let found = try field.rows(
          database,
          """
          SELECT count(*), count(DISTINCT number), max(number), sum(words = 'first words'), max(number) FILTER (WHERE words = 'first words')
          FROM notes
          WHERE author = '\(author)'
          """)
        #expect(
          found == ["\(turns)|\(turns)|\(turns - 1)|1|\(turns - 1)"],
          "what \(author) wrote is in \(database), once each")
      }
    }
    #expect(
      try field.rows("office.sqlite", "SELECT count(*) FROM notes WHERE author IN ('office', 'tablet')") == [
        "\(2 * Field.rows)"
      ])
    #expect(try field.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts") == ["0"])
    let longest = writers.values.map(\.longestTurn).max() ?? 0
    print("\(journal), \(Field.rows) rows: \(writers.values.map(\.turns)) turns of writers, the longest \(longest) s")
    // A turn consists of two writes and a pause.
    #expect(longest < Shell.patience)
  }

  /// The device's status without the disk's free space, because other programs change this number.
  private func state(of field: Field) throws -> NSDictionary {
    let status = try JSONSerialization.jsonObject(with: Data(field.device("status", "--json").utf8))
    let members = try #require(status as? [String: Any])
    return members.filter { $0.key != "health" } as NSDictionary
  }

  @Test(
    "an export that a reader does not let commit ends as busy, with nothing changed, and works when the reader is gone")
  func busy() throws {
    let field = try Field(journal: "delete")
    let before = try state(of: field)
    let reader = try Shell(field.folder("tablet/data.sqlite"))
    try reader.ask("BEGIN; SELECT count(*) FROM notes;")
    let refused = try field.outcome("satchel", ["-C", field.folder("tablet"), "export"])
    #expect(refused.status == 4)
    #expect(refused.complaint.contains("Try again when it is done."))
    try reader.ask("COMMIT;")
    reader.close()
    #expect(try state(of: field) == before)
    #expect(try field.folder.files.list(field.folder("tablet/bundles/outbox")) == [])
    try field.deliver()
    #expect(try field.rows("office.sqlite", "SELECT count(*) FROM notes WHERE author = 'tablet'") == ["\(Field.rows)"])
  }
}
