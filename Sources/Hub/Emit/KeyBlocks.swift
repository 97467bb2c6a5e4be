import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Gives ranges of primary keys: to the hub's own writers, and to a device with its emission.
struct KeyBlocks {
  private let store: HubStore

  init(_ store: HubStore) { self.store = store }

  private var places: [Int] { store.tables.indices.filter { store.tables[$0].rules.keys == .blocks } }

  /// Ensures that rows written at the hub get keys from the hub's own range. Rows from devices may have greater keys.
  func renewOwn() throws {
    for place in places {
      let table = store.tables[place]
      let next = try table.nextKey(in: store.database)
      if let own = try BlockTable.newest(of: table.name, for: store.identity.id, in: store.database), next >= own.first,
        next <= own.last, !own.isShort(from: next)
      {
        continue
      }
      guard let block = try give(place, to: store.identity.id, with: .zero) else { continue }
      try table.count(from: block, in: store.database)
    }
  }

  /// Ensures that no key is given twice after a restore. The lost hub may have given keys after the backup. So a range
  /// of keys is reserved for the epoch `lost`.
  func beginAnew(after lost: Epoch) throws {
    for (place, table) in store.tables.enumerated() where table.givesNewKeys {
      let (greatest, gap) = (try store.greatestKey(in: place), max(Self.lostKeys, 100 * table.rules.block))
      guard greatest < Int64.max - gap else { continue }
      let block = KeyBlock(table: table.name, first: greatest + 1, last: greatest + gap, number: .zero)
      try BlockTable.add(block, of: ReplicaID(unchecked: lost.text), in: store.database)
    }
    for place in places {
      guard let block = try give(place, to: store.identity.id, with: .zero) else { continue }
      try store.tables[place].count(from: block, in: store.database)
    }
  }

  /// A restored hub skips at least this number of keys. A hub gives far fewer keys between two backups.
  private static let lostKeys: Int64 = 1_000_000

  /// Gives a device new ranges with its emission. This happens if its range is nearly used up, or if it receives rows
  /// with keys above its range.
  func renew(for plan: EmissionPlan) throws {
    for place in places {
      let newest = try BlockTable.newest(of: store.tables[place].name, for: plan.device.id, in: store.database)
      if let newest, try !isUsedUp(newest, place), try !holdsRows(above: newest, place, plan) { continue }
      _ = try give(place, to: plan.device.id, with: plan.number)
    }
  }

  /// Gives a replica a range above every key that a replica has, or may still give to a row. nil if too few numbers are
  /// left.
  private func give(_ place: Int, to replica: ReplicaID, with number: EmissionNumber) throws -> KeyBlock? {
    let size = store.tables[place].rules.block
    let greatest = try store.greatestKey(in: place)
    // If too few numbers are left, no range is given. SQLite then chooses keys itself, and colliding rows get new keys.
    guard greatest < Int64.max - size else { return nil }
    let block = KeyBlock(table: store.tables[place].name, first: greatest + 1, last: greatest + size, number: number)
    try BlockTable.add(block, of: replica, in: store.database)
    return block
  }

  /// Whether more than half of the range is known to be in use. The rest must suffice until the hub's next bundle
  /// reaches the device.
  private func isUsedUp(_ block: KeyBlock, _ place: Int) throws -> Bool {
    let key = RowNumbers.names(store.tables[place]).key[0]
    let numbers = RowNumbers.names(store.tables[place]).table
    let used = try store.database.first(
      "SELECT max(\(key)) FROM \(numbers) WHERE \(key) BETWEEN :first AND :last",
      ["first": .integer(block.first), "last": .integer(block.last)]
    ) { $0.optionalInteger(0) }
    guard let used = used ?? nil else { return false }
    return used - block.first >= (block.last - block.first) / 2
  }

  private func holdsRows(above block: KeyBlock, _ place: Int, _ plan: EmissionPlan) throws -> Bool {
    let names = RowNumbers.names(store.tables[place])
    let visible = plan.visible[place]
    var isThere = false
    try store.database.each(
      "SELECT \(names.number) FROM \(names.table) WHERE \(names.key[0]) > :last", ["last": .integer(block.last)]
    ) { if visible.contains($0.integer(0)) { isThere = true } }
    return isThere
  }
}
