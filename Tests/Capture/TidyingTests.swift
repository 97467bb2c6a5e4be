import SatchelCapture
import SatchelSQLite
import SatchelValues
import Testing

/// Writes that an app may repeat for one row. `#` is replaced by a growing number.
private let habits = [
  "UPDATE t SET a = #", "INSERT OR REPLACE INTO t VALUES ('k', #)",
  "INSERT INTO t VALUES ('k', #) ON CONFLICT DO UPDATE SET a = #",
  "INSERT OR IGNORE INTO t VALUES ('k', #)", "DELETE FROM t WHERE k = 'k'; INSERT INTO t VALUES ('k', #)",
]

private func entries(in database: borrowing Database) throws -> Int64 {
  try database.first("SELECT count(*) FROM satchel_writes_t WHERE satchel_number > 0") { $0.integer(0) } ?? 0
}

@Test("a row that is written again and again takes little room", arguments: habits)
func room(habit: String) throws {
  for options in ["", "WITHOUT ROWID", "STRICT"] {
    let captured = try CapturedDatabase(
      ["t"],
      setUp: ["CREATE TABLE t (k TEXT PRIMARY KEY, a ANY) \(options)", "INSERT INTO t VALUES ('k', 0), ('o', 0)"])
    try captured.tidyOften(room: 2_000, interval: 8)
    let database = try captured.open()
    for turn in 1...200 {
      try database.execute(habit.replacing("#", with: "\(turn)"))
      if turn % 3 == 0 { try database.execute("UPDATE t SET a = \(turn) WHERE k = 'o'") }
    }
    #expect(try entries(in: database) <= 80, "\(options)")
    #expect(try captured.faults() == [])
  }
}

@Test("large rows that are written again and again take little room, in ordinary databases")
func roomOfLargeRows() throws {
  let captured = try CapturedDatabase(
    ["t"],
    setUp: [
      "PRAGMA synchronous = OFF", "CREATE TABLE t (id INTEGER PRIMARY KEY, state, photo)",
      "INSERT INTO t VALUES (1, 0, zeroblob(700000)), (2, 0, zeroblob(10))",
    ])
  let database = try captured.open()
  try database.execute("PRAGMA synchronous = OFF; BEGIN")
  for turn in 1...300 { try database.execute("UPDATE t SET state = \(turn)") }
  try database.execute("COMMIT")
  #expect(try entries(in: database) < 2 * 64 + 8)
  #expect(try captured.steps() == ["update t 1: state 0 -> 300", "update t 2: state 0 -> 300"])
}

@Test("compaction keeps a row's first version, its last write's time, and the number of writes")
func tidying() throws {
  let captured = try CapturedDatabase(
    ["t"], setUp: ["CREATE TABLE t (id INTEGER PRIMARY KEY, a)", "INSERT INTO t VALUES (1, 'first'), (2, 'other')"])
  try captured.tidyOften(room: 0, interval: 1)
  let database = try captured.open()
  for turn in 1...5 { try database.execute("UPDATE t SET a = \(turn) WHERE id = 1") }
  try database.execute("INSERT INTO t (a) VALUES ('new'); DELETE FROM t WHERE id = 2")
  let first = """
    SELECT id, satchel_existed, a
    FROM satchel_writes_t
    WHERE satchel_number IN (SELECT min(satchel_number) FROM satchel_writes_t WHERE satchel_number > 0 GROUP BY id)
    ORDER BY id
    """
  #expect(
    try database.all(first) { list($0.values(from: 0, count: 3)) } == ["1, 1, 'first'", "2, 1, 'other'", "3, 2, NULL"])
  let total = try database.first("SELECT count(*) + sum(satchel_again) FROM satchel_writes_t WHERE id = 1") {
    $0.integer(0)
  }
  #expect(total == 5)
  #expect(try captured.steps() == ["delete t 2, 'other'", "update t 1: a 'first' -> 5", "insert t 3, 'new'"])
}

@Test("a large load of rows that are each written once is checked less often the larger it is")
func tidyingOfLoads() throws {
  let captured = try CapturedDatabase(["t"], setUp: ["CREATE TABLE t (id INTEGER PRIMARY KEY, a)"])
  try captured.tidyOften(room: 100, interval: 8)
  let database = try captured.open()
  var looks: Set<Int64> = []
  for turn in 1...1_000 {
    try database.execute("INSERT INTO t VALUES (\(turn * 2), 'x')")
    looks.insert(
      try database.first("SELECT satchel_again FROM satchel_writes_t WHERE satchel_number = 0") { $0.integer(0) } ?? 0)
  }
  #expect((5...12).contains(looks.count))
  #expect(try entries(in: database) == 1_000)
  #expect(try captured.faults() == [])
}

extension CapturedDatabase {
  /// Changes the triggers, so that they compact the table after fewer writes than usual.
  func tidyOften(room: Int, interval: Int) throws {
    let database = try open()
    let triggers = try database.all(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'satchel%'"
    ) {
      (name: $0.text(0), sql: $0.text(1))
    }
    for trigger in triggers {
      let sql = trigger.sql.replacing("> 33554432", with: ">= \(room)").replacing("% 64 <", with: "% \(interval) <")
      #expect(sql != trigger.sql)
      try database.execute("DROP TRIGGER \(quoted(trigger.name)); \(sql)")
    }
  }
}
