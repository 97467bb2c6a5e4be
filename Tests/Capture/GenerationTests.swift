import SatchelCapture
import SatchelSQLite
import SatchelValues
import Testing

private let people = ["CREATE TABLE t (id INTEGER PRIMARY KEY, a)", "INSERT INTO t VALUES (1, 'x'), (2, 'y')"]

@Test("each generation has its own steps, from its own beginning to the next one's")
func generations() throws {
  let database = try CapturedDatabase(["t"], setUp: people)
  try database.write("UPDATE t SET a = 'x0' WHERE id = 1", "INSERT INTO t VALUES (3, 'z')")
  try database.begin(Generation(1))
  try database.write(
    "UPDATE t SET a = 'x1' WHERE id = 1", "DELETE FROM t WHERE id = 3", "UPDATE t SET id = 4 WHERE id = 2")
  try database.begin(Generation(2))
  try database.write(
    "INSERT INTO t VALUES (3, 'again')", "UPDATE t SET a = 'x' WHERE id = 1", "UPDATE t SET a = a WHERE id = 4")
  #expect(
    try database.steps() == [
      "update t 1: a 'x' -> 'x0'", "insert t 3, 'z'",
      "@1 delete t 2, 'y'", "@1 delete t 3, 'z'", "@1 update t 1: a 'x0' -> 'x1'", "@1 insert t 4, 'y'",
      "@2 update t 1: a 'x1' -> 'x'", "@2 insert t 3, 'again'",
    ])
  for first in 0...2 { #expect(try database.faults(since: Generation(Int64(first))) == []) }
  #expect(try database.steps(since: Generation(3)) == [])
}

@Test("an acknowledgement forgets what it names, and nothing written after that")
func acknowledgement() throws {
  let database = try CapturedDatabase(["t"], setUp: people)
  try database.write("UPDATE t SET a = 'x0' WHERE id = 1")
  try database.begin(Generation(1))
  try database.write("UPDATE t SET a = 'x1' WHERE id = 1", "DELETE FROM t WHERE id = 2")
  let written = try database.steps(since: Generation(1))
  #expect(written == ["@1 delete t 2, 'y'", "@1 update t 1: a 'x0' -> 'x1'"])
  try database.forget(before: Generation(1))
  #expect(try database.steps() == written)
  try database.forget(before: Generation(1))
  #expect(try database.steps() == written)
  try database.write("UPDATE t SET a = 'x2' WHERE id = 1")
  #expect(try database.steps() == ["@1 delete t 2, 'y'", "@1 update t 1: a 'x0' -> 'x2'"])
  try database.forget(before: Generation(2))
  #expect(try database.steps() == [])
}

@Test("a key that changes only its number's kind keeps its generations apart")
func numbersOfOneSize() throws {
  let database = try CapturedDatabase(
    ["t"], setUp: ["CREATE TABLE t (k PRIMARY KEY, a)", "INSERT INTO t VALUES (1, 'x')"])
  try database.write("UPDATE t SET k = 1.0")
  try database.begin(Generation(1))
  try database.write("UPDATE t SET a = 'y'")
  try database.begin(Generation(2))
  try database.write("UPDATE t SET k = 1")
  #expect(
    try database.steps() == [
      "delete t 1, 'x'", "insert t 1.0, 'x'", "@1 update t 1.0: a 'x' -> 'y'", "@2 delete t 1.0, 'y'",
      "@2 insert t 1, 'y'",
    ])
  #expect(try database.faults() == [])
}

@Test("stamps grow with each write, and never fall behind what this replica has seen")
func stamps() throws {
  let captured = try CapturedDatabase(["t"], setUp: people)
  let database = try captured.open()
  let ahead = Stamp(milliseconds: 4_000_000_000_000)
  try Capture.witness(ahead, in: database)
  try Capture.witness(Stamp(5), in: database)
  try captured.write("UPDATE t SET a = 1 WHERE id = 1")
  try Capture.settle(captured.tables, in: database)
  let first = try PreImageStore.newestStamp(captured.tables, in: database)
  try captured.write("UPDATE t SET a = 2 WHERE id = 1")
  try Capture.settle(captured.tables, in: database)
  let second = try PreImageStore.newestStamp(captured.tables, in: database)
  #expect(ahead < first && first < second)
  #expect(try Capture.tick(now: 0, in: database) > ahead)
  try Capture.witness(second, in: database)
  #expect(try Capture.tick(now: 0, in: database) > second)
}

@Test("a row's pre-images can be read and exchanged")
func exchange() throws {
  let captured = try CapturedDatabase(["t"], setUp: people)
  try captured.write("UPDATE t SET a = 'x0' WHERE id = 1", "UPDATE t SET a = 'y0' WHERE id = 2")
  let database = try captured.open()
  try Capture.settle(captured.tables, in: database)
  let table = captured.tables[0]
  let key = RowKey([.integer(1)])
  let images = try PreImageLookup(table, in: database).images(of: key)
  #expect(images.map(\.row) == [Row([.integer(1), .string("x")])])
  let others = [
    PreImage(generation: Generation(0), stamp: Stamp(7), row: nil),
    PreImage(generation: Generation(3), stamp: Stamp(8), row: Row([.integer(1), .string("between")])),
  ]
  try PreImageStore.replace(others, of: key, in: table, database: database)
  #expect(try PreImageLookup(table, in: database).images(of: key) == others)
  #expect(
    try captured.steps() == [
      "insert t 1, 'between'", "update t 2: a 'y' -> 'y0'", "@3 update t 1: a 'between' -> 'x0'",
    ])
  try PreImageStore.replace([], of: key, in: table, database: database)
  #expect(try captured.steps() == ["update t 2: a 'y' -> 'y0'"])
}

@Test("writes that were sorted in leave nothing behind, and a pre-image is made once")
func settling() throws {
  let captured = try CapturedDatabase(["t"], setUp: people)
  let database = try captured.open()
  for turn in 1...3 {
    try captured.write("UPDATE t SET a = 'x\(turn)' WHERE id = 1", "INSERT INTO t VALUES (\(turn + 10), 'new')")
    try Capture.settle(captured.tables, in: database)
    #expect(try database.first("SELECT count(*) FROM satchel_writes_t WHERE satchel_number > 0") { $0.integer(0) } == 0)
  }
  #expect(try captured.steps() == ["update t 1: a 'x' -> 'x3'"] + (11...13).map { "insert t \($0), 'new'" })
}
