import Foundation
import SatchelCapture
import SatchelSQLite
import SatchelValues
import Testing

private func setting(_ name: String) -> UInt64? { ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } }

private let lanes: UInt64 = 4

/// SATCHEL_PROGRAMS sets the number of random programs, and SATCHEL_SEED the seed of the first one.
@Test("the steps of random programs are the true difference", arguments: 0..<lanes)
func randomPrograms(lane: UInt64) throws { try runPrograms(lane, RandomTable.primaryKeys) }

@Test("so they are where UNIQUE columns name the rows beside a local key", arguments: 0..<lanes)
func randomProgramsOfNamedRows(lane: UInt64) throws { try runPrograms(lane, RandomTable.namedKeys) }

private func runPrograms(_ lane: UInt64, _ kinds: [RandomTable.Kind]) throws {
  let first = setting("SATCHEL_SEED") ?? 1
  for seed in stride(from: first + lane, to: first + (setting("SATCHEL_PROGRAMS") ?? 500), by: Int(lanes)) {
    let program = RandomProgram(seed: seed, kinds)
    let faults = try faults(of: program)
    if faults.isEmpty { continue }
    Issue.record("SATCHEL_SEED=\(seed) SATCHEL_PROGRAMS=1\n\(program.text)\n\n\(faults.joined(separator: "\n"))")
    return
  }
}

private func faults(of program: RandomProgram) throws -> [String] {
  let captured = try CapturedDatabase(
    program.tables, setUp: program.setUp, attempts: program.attempts, rules: program.rules)
  if program.tidiesOften { try captured.tidyOften(room: 0, interval: 1) }
  let first = try captured.open()
  let second = try captured.open()
  try first.execute("PRAGMA busy_timeout = 0")
  try second.execute("PRAGMA busy_timeout = 0")
  var generation = Generation.zero
  var faults: [String] = []
  for action in program.actions {
    switch action {
    case .settle: _ = refusal { () throws(SQLiteError) in try captured.settle() }
    case .begin:
      for command in ["COMMIT", "ROLLBACK"] {
        _ = refusal { () throws(SQLiteError) in try first.execute(command) }
        _ = refusal { () throws(SQLiteError) in try second.execute(command) }
      }
      generation = generation.next
      try captured.begin(generation)
    case .statement(let sql, let connection):
      let error = refusal { () throws(SQLiteError) in
        if connection == 0 { try first.execute(sql) } else { try second.execute(sql) }
      }
      if let error, error.isMistake { faults.append("\(sql): \(error)") }
    }
  }
  for command in ["COMMIT", "ROLLBACK"] {
    _ = refusal { () throws(SQLiteError) in try first.execute(command) }
    _ = refusal { () throws(SQLiteError) in try second.execute(command) }
  }
  faults += try captured.faults()
  if generation > .zero {
    try captured.forget(before: generation)
    faults += try captured.faults(since: generation).map { "after forgetting what came before \(generation), \($0)" }
  }
  return faults
}

private func refusal(_ body: () throws(SQLiteError) -> Void) -> SQLiteError? {
  do { try body() } catch { return error }
  return nil
}

extension SQLiteError {
  /// Whether the error shows that a statement could never run, because of a fault in the generator or in a trigger.
  fileprivate var isMistake: Bool {
    [
      "syntax", "no such table", "no such column", "ambiguous", "mismatch -", "too many", "no query solution",
      "satchel_",
    ].contains {
      message.contains($0)
    }
  }
}
