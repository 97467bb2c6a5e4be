import Foundation
import SatchelCapture
import SatchelDataset
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// Measures how much capture slows down an app's own writes. The same writes run in turn with capture and without it,
/// on the disk of the present folder.
func measureCaptureCost(isQuick: Bool) throws {
  let folder = ".build/bench"
  let files = HostFileSystem()
  try? files.removeTree(folder)
  try files.makeDirectory(folder, mode: 0o755)
  defer { try? files.removeTree(folder) }
  let cost = CaptureCost(folder: folder, visits: isQuick ? 20_000 : 100_000, rounds: 5)
  print("\nCapture: microseconds a row, \(cost.visits) visits before; medians of \(cost.rounds), ratios of neighbours")
  var lines = [["writes", "plain", "captured", "ratio", "limit", ""]]
  for (setting, keys, rules) in CaptureCost.cases {
    for (work, plain, captured, ratio) in try cost.measure(setting, keys, rules) {
      lines.append([
        "\(work.name), \(setting.name), \(keys.rawValue) keys\(rules == .units ? ", units" : "")", decimal(plain, 1),
        decimal(captured, 1),
        decimal(ratio, 2),
        decimal(work.limit, 1), Comparison.verdict(ratio <= work.limit),
      ])
    }
  }
  printTable(lines)
}

struct CaptureCost {
  let folder: String
  let visits: Int
  let rounds: Int

  /// The settings of the app's connection.
  struct Setting {
    let name: String
    let pragmas: String
    static let rollback = Setting(
      name: "rollback journal, full", pragmas: "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL")
    static let full = Setting(name: "WAL, full", pragmas: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    static let normal = Setting(name: "WAL, normal", pragmas: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
  }

  /// The table's rules, in JSON.
  enum Rules: String {
    case plain = "{}"
    case units = #"{"unit": "transaction"}"#
  }

  static let cases: [(Setting, Survey.Keys, Rules)] = [
    (.rollback, .text, .plain), (.full, .text, .plain), (.normal, .text, .plain), (.rollback, .integer, .plain),
    (.normal, .integer, .plain), (.normal, .integer, .units),
  ]

  /// Writes of one kind: how many rows are written, and how many of them in each transaction.
  struct Work {
    enum Kind: String { case insert, update, delete }
    let kind: Kind
    let batch: Int
    let count: Int
    let limit: Double
    var name: String {
      switch batch {
      case 1: "\(kind), one a transaction"
      case 1_000: "\(kind), 1,000 a transaction"
      default: "\(kind), \(batch) at once"
      }
    }
  }

  /// The pieces of work. Bulk loads come first, so that there are no pending changes yet.
  var works: [Work] {
    let kinds = [Work.Kind.insert, .update, .delete]
    let many = visits / 5
    let single = visits < 100_000 ? 1_000 : 3_000
    return kinds.map { Work(kind: $0, batch: many, count: many, limit: 2) }
      + kinds.map { Work(kind: $0, batch: 1_000, count: max(many / 2_000, 4) * 1_000, limit: 1.4) }
      // So many rows are written that SQLite empties the write-ahead log several times, with capture and without it.
      + kinds.map { Work(kind: $0, batch: 1, count: single, limit: 1.5) }
  }

  func measure(_ setting: Setting, _ keys: Survey.Keys, _ rules: Rules) throws -> [(
    work: Work, plain: Double, captured: Double, ratio: Double
  )] {
    var plain: [[Double]] = works.map { _ in [] }
    var captured = plain
    for round in 0..<rounds {
      for isCaptured in [false, true] {
        let survey = Survey(keys, seed: UInt64(round))
        for (place, time) in try run(setting, survey, isCaptured ? rules : nil).enumerated() {
          if isCaptured { captured[place].append(time) } else { plain[place].append(time) }
        }
      }
    }
    return works.indices.map { place in
      let ratios = zip(captured[place], plain[place]).map { $0 / $1 }
      return (works[place], median(plain[place]), median(captured[place]), median(ratios))
    }
  }

  /// The microseconds for each row in each piece of work. Each piece of work has a new database.
  /// - Parameter rules: the table's rules; nil: capture is off.
  private func run(_ setting: Setting, _ fresh: Survey, _ rules: Rules?) throws -> [Double] {
    let path = "\(folder)/survey.sqlite"
    for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    var survey = fresh
    do {
      let database = try Database(path: path, mode: .create)
      try database.execute("PRAGMA synchronous = OFF; " + survey.schema)
      try database.writeTransaction {
        let insert = try database.prepare(Survey.insert)
        for _ in 0..<visits { try insert.run(survey.newVisit()) }
        if let rules { try Capture.install(in: database, tables: TrackedTable.find(dataset(rules), in: database)) }
      }
    }
    let database = try Database(path: path, mode: .readWrite)
    try database.execute(setting.pragmas)
    return try works.map { try time($0, &survey, database) }
  }

  private func time(_ work: Work, _ survey: inout Survey, _ database: borrowing Database) throws -> Double {
    let sql: String
    let rows: [[Value]]
    switch work.kind {
    case .insert: (sql, rows) = (Survey.insert, (0..<work.count).map { _ in survey.newVisit() })
    case .update:
      let chosen = (0..<work.count).map { _ in survey.takeVisit() }
      (sql, rows) = (Survey.update, chosen.map { survey.change(of: $0) })
    case .delete: (sql, rows) = (Survey.delete, (0..<work.count).map { _ in [survey.takeVisit()] })
    }
    let statement = try database.prepare(sql)
    let total = try seconds {
      for (place, row) in rows.enumerated() {
        if place % work.batch == 0 { try database.execute("BEGIN") }
        try statement.run(row)
        if place % work.batch == work.batch - 1 { try database.execute("COMMIT") }
      }
    }
    return total / Double(work.count) * 1e6
  }

  private func dataset(_ rules: Rules) throws -> DatasetDefinition {
    try DatasetDefinition(
      json: Array(#"{"dataset": "survey", "version": 1, "tables": {"visits": \#(rules.rawValue)}}"#.utf8))
  }
}
