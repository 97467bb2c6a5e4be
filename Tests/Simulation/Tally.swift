import TestSupport

/// The numbers that people counted: a row for each device's user, and one to which all add. Each addition counts once,
/// whatever happens to hubs and databases.
struct Tally {
  static let common = "all"
  private static let rows = (0..<Season.devices).map(String.init) + [common]

  private var byDevice: [String: [String: Int64]] = [:]
  /// The office's additions. They are lost with the time that a hub loses: a number does not show who added which part.
  var atHub: [String: Int64] = [:]
  /// Rows to which a lost device added: it is unknown how much of that arrived.
  private var uncertain: Set<String> = []

  static func stock(_ app: FieldApp) throws {
    try app.execute(FieldApp.counters)
    for row in rows { try app.database.run("INSERT INTO counters VALUES (:id, 0)", ["id": .string(row)]) }
  }

  /// - Parameter device: nil: the office.
  mutating func add(_ more: Int64, to row: String, by device: String?) {
    if let device { byDevice[device, default: [:]][row, default: 0] += more } else { atHub[row, default: 0] += more }
  }

  mutating func lose(_ device: String) {
    uncertain.formUnion(byDevice.removeValue(forKey: device)?.keys.map(\.self) ?? [])
  }

  /// Each device brings its own number, and it is unknown which parts are the same.
  mutating func loseHub() { uncertain = Set(Self.rows) }

  /// nil: unknown.
  func expected(in row: String) -> Int64? {
    if uncertain.contains(row) { return nil }
    return atHub[row, default: 0] + byDevice.values.reduce(0) { $0 + $1[row, default: 0] }
  }
}

extension Season {
  func count(on device: FieldDevice, _ random: inout SplitMix64) throws {
    let isOffice = random.once(in: 5)
    guard let app = try isOffice ? admin() : device.app() else { return }
    let row = random.once(in: 2) ? Tally.common : String(device.index)
    let more = Int64(1 + random.below(9))
    try app.count(more, in: row)
    tally.add(more, to: row, by: isOffice ? nil : device.name)
    say("\(isOffice ? "hub" : device.name) adds \(more) to \(row)")
  }

  func checkCounts() throws {
    for (row, n) in try admin().counts() {
      guard let expected = tally.expected(in: row), n != expected else { continue }
      throw Wrong("the counter \(row) is \(n), and people added \(expected)")
    }
  }
}
