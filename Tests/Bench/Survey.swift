import SatchelSQLite
import SatchelValues
import TestSupport

/// A survey's visits, with 12 columns. The rows are the same in every run.
struct Survey {
  enum Keys: String {
    /// Random UUIDs as texts.
    case text
    /// Numbers that SQLite assigns.
    case integer
  }

  var schema: String {
    """
    CREATE TABLE visits (
      id \(keys == .text ? "TEXT" : "INTEGER") PRIMARY KEY, household TEXT NOT NULL, surveyor TEXT NOT NULL, visited TEXT NOT NULL, persons INTEGER, income REAL,
      water INTEGER, latitude REAL, longitude REAL, remark TEXT, state TEXT NOT NULL DEFAULT 'new', photo BLOB
    )
    """
  }
  static let insert = "INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
  static let update = "UPDATE visits SET remark = ?2, persons = ?3 WHERE id = ?1"
  static let delete = "DELETE FROM visits WHERE id = ?1"

  private(set) var ids: [Value] = []
  private let keys: Keys
  private var made: Int64 = 0
  private var random: SplitMix64

  init(_ keys: Keys, seed: UInt64) {
    self.keys = keys
    random = SplitMix64(seed: seed)
  }

  mutating func newVisit() -> [Value] {
    let id: Value = keys == .text ? .string(uuid()) : .null
    made += 1
    ids.append(keys == .text ? id : .integer(made))
    return [
      id, .string("household-\(random.below(20_000))"), .string("surveyor-\(random.below(25))"),
      .string("2026-05-04T10:11:12Z"),
      .integer(Int64(random.below(12))), .real(Double(random.below(900_000)) / 100), .integer(Int64(random.below(3))),
      .real(47 + random.fraction()), .real(8 + random.fraction()),
      .string("The well at the end of the road was dry; come back in June."), .string("new"), .null,
    ]
  }

  /// Chooses an existing visit that was not chosen before.
  mutating func takeVisit() -> Value {
    let place = random.below(ids.count)
    ids.swapAt(place, ids.count - 1)
    return ids.removeLast()
  }

  mutating func change(of id: Value) -> [Value] {
    [id, .string("Seen again: all is well, and the road is open."), .integer(Int64(random.below(12)))]
  }

  private mutating func uuid() -> String {
    func part(_ digits: Int) -> String {
      let text = String(random.next() & (1 << (UInt64(digits) * 4) - 1), radix: 16)
      return String(repeating: "0", count: digits - text.count) + text
    }
    return [part(8), part(4), part(4), part(4), part(12)].joined(separator: "-")
  }
}
