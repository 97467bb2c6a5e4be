import Foundation
import SatchelSQLite
import SatchelValues
import Testing

private struct Stop: Error {}

private func count(_ database: borrowing Database) throws -> Int64 {
  try database.first("SELECT count(*) FROM t") { $0.integer(0) } ?? -1
}

@Test("a transaction is kept whole, or not at all")
func keptOrNot() throws {
  let database = try memory("CREATE TABLE t (a)")
  let result = try database.writeTransaction {
    try database.execute("INSERT INTO t VALUES (1)")
    return "done"
  }
  #expect(result == "done")
  #expect(throws: Stop.self) {
    try database.writeTransaction {
      try database.execute("INSERT INTO t VALUES (2)")
      throw Stop()
    }
  }
  #expect(try count(database) == 1)
  // The connection can begin a new transaction.
  try database.writeTransaction { try database.execute("INSERT INTO t VALUES (3)") }
  #expect(try count(database) == 2)
}

@Test("an error by which SQLite rolls back itself comes out as it is")
func rolledBackAlready() throws {
  let database = try memory("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)")
  #expect {
    try database.writeTransaction { try database.execute("INSERT OR ROLLBACK INTO t VALUES (1)") }
  } throws: { ($0 as? SQLiteError)?.kind == .unique }
  try database.writeTransaction { try database.execute("INSERT INTO t VALUES (2)") }
  #expect(try count(database) == 2)
}

@Test("a commit that SQLite refuses is rolled back")
func refusedCommit() throws {
  let database = try memory(
    "PRAGMA foreign_keys = ON; CREATE TABLE t (id INTEGER PRIMARY KEY, r REFERENCES t DEFERRABLE INITIALLY DEFERRED)")
  #expect {
    try database.writeTransaction { try database.execute("INSERT INTO t VALUES (1, 9)") }
  } throws: { ($0 as? SQLiteError)?.kind == .foreignKey }
  #expect(try count(database) == 0)
  try database.writeTransaction { try database.execute("INSERT INTO t VALUES (1, 1)") }
}

@Test("a rehearsal leaves the file byte for byte as it was", arguments: ["DELETE", "WAL"])
func rehearsal(journal: String) throws {
  let scratch = try Scratch()
  let database = try scratch.open()
  try database.execute(
    """
    PRAGMA journal_mode = \(journal); PRAGMA cache_size = 10; CREATE TABLE t (a); INSERT INTO t VALUES (1); PRAGMA \
    wal_checkpoint(TRUNCATE)
    """
  )
  let before = try scratch.bytes()
  let seen = try database.writeTransaction(.dryRun) {
    // The rows need more room than the cache. So SQLite writes pages to the disk before the transaction ends.
    try database.execute(
      """
      CREATE TABLE more (b);
      WITH n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO t SELECT randomblob(2000) FROM n;
      UPDATE t SET a = 2 WHERE a = 1
      """)
    return try count(database)
  }
  #expect(seen == 501)
  #expect(try count(database) == 1)
  #expect(try scratch.bytes() == before)
  #expect(try !database.hasTable("more"))
}

/// Whether `body` ends with its own error instead of an error of SQLite.
private func stops(_ body: () throws -> Void) -> Bool {
  do { try body() } catch { return error is Stop }
  return false
}

@Test("a savepoint takes back what was written in it, and nothing else")
func savepoints() throws {
  let database = try memory("CREATE TABLE t (a)")
  var stopped: [Bool] = []
  try database.writeTransaction {
    try database.savepoint { try database.execute("INSERT INTO t VALUES (1)") }
    stopped.append(
      stops {
        try database.savepoint {
          try database.execute("INSERT INTO t VALUES (2)")
          try database.savepoint { try database.execute("INSERT INTO t VALUES (3)") }
          throw Stop()
        }
      })
    try database.savepoint {
      try database.execute("INSERT INTO t VALUES (4)")
      stopped.append(
        stops {
          try database.savepoint {
            try database.execute("INSERT INTO t VALUES (5)")
            throw Stop()
          }
        })
    }
    try database.execute("INSERT INTO t VALUES (6)")
  }
  #expect(stopped == [true, true])
  let kept = try database.all("SELECT a FROM t ORDER BY a") { $0.integer(0) }
  #expect(kept == [1, 4, 6])
}

@Test("a second writer gets a busy error, and a reader sees one state")
func busy() throws {
  let scratch = try Scratch()
  let first = try scratch.open()
  let second = try scratch.open()
  try first.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
  try second.execute("PRAGMA busy_timeout = 0")
  try first.writeTransaction {
    #expect {
      try second.writeTransaction {}
    } throws: { ($0 as? SQLiteError)?.kind == .busy }
    try first.execute("INSERT INTO t VALUES (1)")
    #expect(try count(second) == 0)
  }
  try second.readTransaction {
    #expect(try count(second) == 1)
    try first.execute("INSERT INTO t VALUES (2)")
    #expect(try count(second) == 1)
  }
  #expect(try count(second) == 2)
}

@Test("triggers are off in one connection, and on again afterwards, whatever happens")
func sleepingTriggers() throws {
  let database = try memory(
    """
    CREATE TABLE t (a); CREATE TRIGGER g AFTER INSERT ON t WHEN NEW.a < 10 BEGIN INSERT INTO t VALUES (NEW.a + 10); \
    END
    """
  )
  try database.withoutTriggers { try database.execute("INSERT INTO t VALUES (1)") }
  #expect(throws: Stop.self) { try database.withoutTriggers { throw Stop() } }
  try database.withoutTriggers {
    try database.withoutTriggers {}
    try database.execute("INSERT INTO t VALUES (3)")
  }
  try database.execute("INSERT INTO t VALUES (2)")
  #expect(try database.all("SELECT a FROM t ORDER BY a") { $0.integer(0) } == [1, 2, 3, 12])
}

@Test("rows that a command deletes are not in the file, however the library was built, nor in the emptied log")
func deletedBytes() throws {
  let scratch = try Scratch()
  let database = try scratch.open()
  try database.execute(
    "PRAGMA secure_delete = OFF; PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES ('secret')")
  try database.prepareForCommand()
  try database.writeTransaction { try database.execute("DELETE FROM t") }
  func holds(_ suffix: String) throws -> Bool {
    let bytes = try Data(contentsOf: URL(filePath: scratch.path + suffix))
    return bytes.range(of: Data("secret".utf8)) != nil
  }
  #expect(try holds("-wal"))
  try database.emptyLog()
  #expect(try !holds("") && !holds("-wal"))
}

@Test("a rewritten file holds its rows and nothing else, and every row keeps its number")
func wiped() throws {
  let scratch = try Scratch()
  let database = try scratch.open()
  try database.execute(
    """
    CREATE TABLE t (a TEXT PRIMARY KEY, b);
    WITH n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO t SELECT i, 'secret' || i || '.' || randomblob(i) FROM n;
    DELETE FROM t WHERE rowid % 3
    """)
  func numbers() throws -> [Int64] { try database.all("SELECT rowid FROM t ORDER BY rowid") { $0.integer(0) } }
  let before = try numbers()
  let isWiped = try database.wipe()
  let after = try numbers()
  #expect(isWiped && before == after)
  let bytes = try Data(contentsOf: URL(filePath: scratch.path))
  #expect((1...500).filter { bytes.range(of: Data("secret\($0).".utf8)) != nil && $0 % 3 != 0 } == [])
  // An app with such a table may use the rowids of its rows, so the file must not be rewritten.
  try database.execute("CREATE TABLE bare (a); INSERT INTO bare VALUES (1), (2); DELETE FROM bare WHERE a = 1")
  let isWipedAgain = try database.wipe()
  let number = try database.first("SELECT rowid FROM bare") { $0.integer(0) }
  #expect(!isWipedAgain && number == 2)
}
