import Foundation
import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues
import Testing

/// The writes of an app to a captured database, and the steps that must result.
struct Story: Sendable, CustomTestStringConvertible {
  let name: String
  /// The captured tables.
  let tables: [String]
  /// SQL that creates the database before capture is installed.
  let setUp: [String]
  /// The app's statements. The prefix `FAILS ` means that SQLite must refuse the statement.
  let writes: [String]
  let steps: [String]
  /// The rules of the tables, by table name. Tables without rules are left out.
  let rules: [String: String]

  init(
    _ name: String, tables: [String] = ["t"], setUp: [String], writes: [String], steps: [String],
    rules: [String: String] = [:]
  ) {
    self.rules = rules
    self.name = name
    self.tables = tables
    self.setUp = setUp
    self.writes = writes
    self.steps = steps
  }

  var testDescription: String { name }
}

enum Writer: String, Sendable, CaseIterable { case shell, connection }

/// A captured database, and its content at the beginning of its present generation.
final class CapturedDatabase {
  let scratch: Scratch
  let path: String
  let tables: [TrackedTable]
  private var atBeginning: [Generation: Contents] = [:]

  /// - Parameter attempts: statements of the set-up that SQLite may refuse.
  init(_ tableNames: [String], setUp: [String], attempts: [String] = [], rules: [String: String] = [:]) throws {
    scratch = try Scratch()
    path = scratch("data.sqlite")
    let database = try Database(path: path, mode: .create)
    for statement in setUp { try database.execute(statement) }
    for statement in attempts { try? database.execute(statement) }
    tables = try TrackedTable.find(definition(tableNames, rules: rules), in: database)
    let tables = tables
    try database.writeTransaction { try Capture.install(in: database, tables: tables) }
    atBeginning[.zero] = try Contents(of: tables, in: database)
  }

  func open() throws -> Database { try Database(path: path, mode: .readWrite) }

  func write(_ statements: String...) throws { try write(statements, by: .connection) }

  func write(_ statements: [String], by writer: Writer) throws {
    let mayFail = statements.map { $0.hasPrefix("FAILS ") ? (String($0.dropFirst(6)), true) : ($0, false) }
    switch writer {
    case .shell: try scratch.shell(path, mayFail.map { $0.0 + ";\n" }.joined())
    case .connection:
      let database = try open()
      for (statement, fails) in mayFail {
        let error = refusal(of: statement, by: database)
        #expect(fails == (error != nil), "\(statement): \(error?.message ?? "was to fail")")
      }
    }
  }

  private func refusal(of statement: String, by database: borrowing Database) -> SQLiteError? {
    do { try database.execute(statement) } catch { return error }
    return nil
  }

  func begin(_ generation: Generation) throws {
    let database = try open()
    atBeginning[generation] = try Contents(of: tables, in: database)
    try Capture.settle(tables, in: database)
    try Capture.begin(generation, in: database)
  }

  /// Does the first step of every Satchel command: sorts the saved rows. Throws if a writer blocks it.
  func settle() throws(SQLiteError) {
    do {
      let database = try open()
      try database.execute("PRAGMA busy_timeout = 0")
      try database.writeTransaction { try Capture.settle(tables, in: database) }
    } catch let error as SQLiteError { throw error } catch { Issue.record(error) }
  }

  func forget(before generation: Generation) throws {
    let database = try open()
    try Capture.settle(tables, in: database)
    try PreImageStore.forget(before: generation, tables, in: database)
  }

  /// The steps since a generation, as text.
  func steps(since first: Generation = .zero) throws -> [String] {
    let database = try open()
    try Capture.settle(tables, in: database)
    return try PreImageStore.steps(tables, since: first, in: database).map { text($0, tables) }
  }

  /// The faults of the steps. Each step must change something. All steps of a generation together must lead from the
  /// content at its beginning to the content at the beginning of the next generation. The steps of the last generation
  /// must lead to the present content.
  func faults(since first: Generation = .zero) throws -> [String] {
    let database = try open()
    let now = try Contents(of: tables, in: database)
    try Capture.settle(tables, in: database)
    let steps = try PreImageStore.steps(tables, since: first, in: database)
    let generations = atBeginning.keys.filter { $0 >= first }.sorted()
    guard var contents = atBeginning[first] else { return ["no such generation"] }
    var faults: [String] = []
    for (i, generation) in generations.enumerated() {
      for step in steps where step.generation == generation {
        if let fault = contents.apply(step) { faults.append("\(text(step, tables)): \(fault)") }
      }
      let expected = i + 1 < generations.count ? atBeginning[generations[i + 1]] : now
      faults += contents.differences(from: expected ?? now).map { "at the end of generation \(generation), \($0)" }
    }
    return faults
  }
}

/// A dataset of these tables. Tables without rules have the default rules.
func definition(_ tables: [String], rules: [String: String] = [:]) throws -> DatasetDefinition {
  let names = try tables.map {
    String(decoding: try JSONEncoder().encode($0), as: UTF8.self) + ": " + (rules[$0] ?? "{}")
  }
  return try DatasetDefinition(
    json: Array("{\"dataset\":\"d\",\"version\":1,\"tables\":{\(names.joined(separator: ","))}}".utf8))
}
