import SatchelCapture
import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

@testable import SatchelHub

@Suite("Keys that a device itself gave to its rows")
struct RekeyStoreTests {
  private let folder: TemporaryFolder
  private let store: HubStore
  private let device = ReplicaID(unchecked: "tablet")

  init() throws {
    folder = try TemporaryFolder()
    let database = try Database(path: folder("data.sqlite"), mode: .create)
    try database.execute("CREATE TABLE plots (id INTEGER PRIMARY KEY, code TEXT)")
    store = try HubStore.make(
      of: database, at: folder("data.sqlite"),
      #"{ "dataset": "d", "version": 1, "tables": { "plots": { "keys": "rekey" } } }"#)
  }

  /// Records at the hub that the rows with the keys 0, 1, 2, ... now have other keys.
  private func insert(_ count: Int64) throws {
    for key in 0..<count {
      try store.insertRekeyed(.integer(key), to: .integer(1_000 + key), in: 0, of: device, at: 0)
    }
  }

  private func takeOver(_ renamed: [(Int64, Int64)]) throws {
    let rows = renamed.map { (row: KeyedRow(place: 0, key: .integer($0.0)), new: Value.integer($0.1)) }
    try store.takeOver(rows, of: device, at: .zero)
  }

  /// The keys on the device, in the order of the hub's keys.
  private func keys() throws -> [Int64] {
    try store.database.all("SELECT old_key FROM satchel_rekeyed ORDER BY new_key") { $0.integer(0) }
  }

  @Test("many changes of keys at once have the effect of one after the other", arguments: UInt64(0)..<10)
  func order(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let renamed = (0..<12).map { _ in (Int64(random.below(6)), Int64(random.below(6))) }
    var expected = (0..<Int64(5)).map { $0 }
    for (old, new) in renamed { expected = expected.map { $0 == old ? new : $0 } }
    try store.writeTransaction(.commit) {
      try insert(5)
      try takeOver(renamed)
    }
    #expect(try keys() == expected, "\(renamed)")
  }

  @Test("each row is written once, however often many rows got another key together")
  func together() throws {
    let count: Int64 = 50
    try store.writeTransaction(.commit) {
      try insert(count)
      func writes() throws -> Int64? { try store.database.first("SELECT total_changes()") { $0.integer(0) } }
      let before = try writes() ?? 0
      let joined = (0..<count).map { ($0, Int64(100)) }
      let moved = (0..<Int64(50)).map { (100 + $0, 101 + $0) }
      try takeOver(joined + moved)
      #expect(try writes() == before + count)
    }
    #expect(try Set(keys()) == [150])
  }
}
