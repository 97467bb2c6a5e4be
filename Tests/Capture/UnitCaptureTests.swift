import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

/// Capture gives one unit number to the writes of one transaction.
@Suite("Writes of one transaction have one unit")
struct UnitCaptureTests {
  private let scratch: Scratch
  private let definition: DatasetDefinition

  init() throws {
    scratch = try Scratch()
    definition = try DatasetDefinition(
      json: Array(
        #"{ "dataset": "units", "version": 1, "tables": { "a": { "unit": "transaction" }, "b": { "unit": "transaction" }, "c": {} } }"#
          .utf8))
  }

  private func open() throws -> Database {
    let database = try Database(path: scratch("data.sqlite"), mode: .create)
    for table in ["a", "b", "c"] {
      try database.execute("CREATE TABLE \(table) (id INTEGER PRIMARY KEY, v)")
      for id in 1...6 { try database.execute("INSERT INTO \(table) VALUES (\(id), 0)") }
    }
    try Capture.install(in: database, tables: TrackedTable.find(definition, in: database))
    return database
  }

  /// The tables and keys of the steps, grouped by unit. A step without a unit is a group of its own.
  private func units(_ database: borrowing Database) throws -> Set<Set<String>> {
    let tables = try TrackedTable.find(definition, in: database)
    try Capture.settle(tables, in: database)
    var units = try #require(try StepUnits(tables, since: .zero, in: database))
    var groups: [String: Set<String>] = [:]
    try PreImageStore.eachStep(tables, since: .zero, in: database) { _, table, step in
      let name = "\(step.table)\(list(step.key.values))"
      let number = units.number(of: step.key, step.generation, in: table)
      groups[number.map { "\(step.generation) \($0)" } ?? name, default: []].insert(name)
    }
    return Set(groups.values)
  }

  private func rest(_ seconds: Int, in database: borrowing Database) throws {
    for table in ["a", "b"] {
      try database.execute(
        """
        UPDATE satchel_writes_\(table) SET satchel_written = satchel_written - \(seconds) / 86400.0 WHERE \
        satchel_number > 0
        """
      )
    }
  }

  private func write(_ rows: String..., in database: borrowing Database) throws {
    for row in rows { try database.execute("UPDATE \(row.prefix(1)) SET v = v + 1 WHERE id = \(row.dropFirst())") }
  }

  @Test("a pause separates units, and a row that both wrote joins them")
  func pauses() throws {
    let database = try open()
    try write("a1", "b1", "c1", in: database)
    try rest(10, in: database)
    try write("a2", "b2", in: database)
    try rest(10, in: database)
    try write("b2", "a3", in: database)
    try rest(10, in: database)
    try write("a4", in: database)
    #expect(try units(database) == [["a1", "b1"], ["a2", "b2", "a3"], ["a4"], ["c1"]])
  }

  @Test("writes with two seconds between them are one unit")
  func shortPause() throws {
    let database = try open()
    try write("a1", in: database)
    try rest(2, in: database)
    try write("b1", in: database)
    #expect(try units(database) == [["a1", "b1"]])
  }

  @Test("a mark begins a unit, which lasts until the next mark whatever pauses")
  func marks() throws {
    let database = try open()
    func mark() throws { try database.execute("INSERT INTO satchel_unit DEFAULT VALUES") }
    try mark()
    try write("a1", in: database)
    try rest(100, in: database)
    try write("b1", in: database)
    try mark()
    try write("a2", "b2", in: database)
    #expect(try units(database) == [["a1", "b1"], ["a2", "b2"]])
    try write("a3", in: database)
    #expect(try units(database) == [["a1", "b1"], ["a2", "b2", "a3"]], "also after a command came between")
  }

  @Test("units of two generations are never one")
  func generations() throws {
    let database = try open()
    try database.execute("INSERT INTO satchel_unit DEFAULT VALUES")
    try write("a1", "b1", in: database)
    try Capture.settle(try TrackedTable.find(definition, in: database), in: database)
    try Capture.begin(Generation(1), in: database)
    try write("a1", "b2", in: database)
    #expect(try units(database) == [["a1", "b1"], ["a1", "b2"]])
  }

  @Test("compaction separates no writes of one transaction")
  func tidied() throws {
    let database = try open()
    let trigger = try #require(
      try database.first("SELECT sql FROM sqlite_schema WHERE name = 'satchel_tidy:a'") { $0.text(0) })
    try database.execute("DROP TRIGGER \"satchel_tidy:a\"")
    try database.execute(trigger.replacing("> \(32 << 20)", with: "> 100"))
    // The row a1 is written all the time, and the other rows only sometimes. Only a1 joins these writes.
    for turn in 0..<300 {
      try write("a1", in: database)
      if turn % 100 == 0 { try write("b\(turn / 100 + 1)", in: database) }
      if turn % 20 == 0 { try rest(1, in: database) }
    }
    let left = try database.first("SELECT count(*) FROM satchel_writes_a") { $0.integer(0) } ?? 0
    #expect(left < 200, "\(left)")
    #expect(try units(database) == [["a1", "b1", "b2", "b3"]])
  }

  @Test("a table without units has neither the columns nor the look-up")
  func free() throws {
    let database = try open()
    let sql = try database.all("SELECT sql FROM sqlite_schema WHERE name LIKE 'satchel%c' AND sql IS NOT NULL") {
      $0.text(0)
    }
    #expect(sql.count > 3)
    #expect(!sql.contains { $0.contains("satchel_unit") || $0.contains("satchel_mark") })
  }
}
