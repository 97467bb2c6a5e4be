import Foundation
import SatchelSQLite

/// Measures the cost of sending each user the rows of only one region. It is measured for several numbers of existing
/// rows, and compared with a user who gets all rows.
func measureScopeCost(_ hubs: SurveyHubs, isQuick: Bool) throws {
  let sizes = isQuick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000]
  let costs = try sizes.map(hubs.hub)
  for cost in costs { try cost.addUsers() }
  print("\nScopes: seconds to emit, medians of 5; 25 users of a region each, and one user who sees everything")
  var lines = [["what"] + sizes.map { "\($0) visits" } + ["ratio", "limit", ""]]
  for (name, words, change) in SurveyHub.deltas {
    let times = try costs.map { try $0.timeToEmit(words, after: change) }
    let ratio = times[times.count - 1] / times[0]
    lines.append([name] + times.map { decimal($0, 3) } + [decimal(ratio, 2), "3.0", Comparison.verdict(ratio <= 3)])
  }
  printTable(lines)
  print("")
  lines = [["what", "25 users", "one user", "ratio", "limit", ""]]
  for cost in costs.dropFirst() {
    let times = try [SurveyHub.users, SurveyHub.everybody].map {
      try cost.timeToEmit("--full \($0)", after: "SELECT 1")
    }
    let ratio = times[0] / times[1]
    lines.append(
      ["full bundles, \(cost.visits) visits"] + times.map { decimal($0, 3) } + [
        decimal(ratio, 2), "3.0", Comparison.verdict(ratio <= 3),
      ])
  }
  printTable(lines)
  print("")
  lines = [["what", "bytes", "limit", ""]]
  for cost in costs.dropFirst() {
    let bytes = try cost.bytesKeptForARow()
    lines.append(
      [
        "kept at the hub for a device and a visible row, \(cost.visits) visits", decimal(bytes, 2), "1.0",
        Comparison.verdict(bytes <= 1),
      ])
  }
  printTable(lines)
}

extension SurveyHub {
  static let users = (1...25).map { "--device d\($0)" }.joined(separator: " ")
  static let everybody = "--device tablet"

  private static let thousand =
    "UPDATE visits SET state = 'seen' WHERE rowid IN (SELECT rowid FROM visits ORDER BY rowid LIMIT 1000)"

  /// The measurements. Each has a title, the users, and the SQL of the change at the office.
  static let deltas = [
    ("1,000 visits changed, one user who sees everything", everybody, thousand),
    ("1,000 visits changed, 25 users", users, thousand),
    ("a household of 10 visits moves, 25 users", users, "UPDATE households SET region = 'r07' WHERE id = 'h1'"),
  ]

  /// The median time of several emissions. Each begins with the same state of the hub.
  func timeToEmit(_ words: String, after change: String) throws -> Double {
    try bash("sqlite3 office.sqlite 'PRAGMA wal_checkpoint(TRUNCATE)' > /dev/null; cp office.sqlite before.sqlite")
    var times: [Double] = []
    for _ in 0..<5 {
      // The copies are synced before the clock runs.
      try bash("sqlite3 office.sqlite \"\(change)\" > /dev/null; sync office.sqlite")
      times.append(try tool("satchel-hub -C hub emit \(words)").seconds)
      try bash("rm -f office.sqlite-wal office.sqlite-shm; cp before.sqlite office.sqlite")
    }
    return median(times)
  }

  /// The bytes of all sets that the hub keeps for the devices of 25 users, divided by the number of rows that these
  /// users see. Each device has had at least two emissions.
  func bytesKeptForARow() throws -> Double {
    try bash("sqlite3 office.sqlite \"\(Self.thousand)\"")
    try tool("satchel-hub -C hub emit \(Self.users)")
    let database = try Database(path: "\(root)/office.sqlite", mode: .readOnly)
    let bytes = try database.first(
      """
      SELECT sum(length(rows))
      FROM satchel_emission_sets
      WHERE device IN (SELECT id FROM satchel_devices WHERE user LIKE 'u-d%')
      """
    ) { $0.integer(0) }
    let rows = try database.first(
      """
      SELECT count(DISTINCT r.id) + count(DISTINCT h.id) + count(v.id)
      FROM regions r JOIN households h ON h.region = r.id JOIN visits v ON v.household = h.id
      WHERE r.id <= :last
      """, ["last": .string(Self.region(25))]
    ) { $0.integer(0) }
    return Double(bytes ?? 0) / Double(rows ?? 1)
  }
}
