import SatchelConflicts
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import TestSupport
import Testing

/// Each device numbers the units of its conflicts by itself. So a unit number has a meaning only together with its
/// device.
@Suite("Conflicts of one unit are counted and listed as one")
struct ConflictUnitTests {
  private let folder: TemporaryFolder
  private let devices = (0..<2).map { _ in SystemRandom().identifier(ReplicaID.self) }

  init() throws { folder = try TemporaryFolder() }

  private func id(_ digit: Character) throws -> ConflictID {
    try #require(ConflictID(String(repeating: digit, count: 32)))
  }

  /// Makes a table of conflicts. Each has an id, the index of its device, and the unit that it names.
  private func table(_ conflicts: [(id: Character, device: Int, unit: Character?)]) throws -> Database {
    let database = try Database(path: Paths.join(folder.path, "conflicts.sqlite"), mode: .create)
    try database.execute(ConflictTable.schema)
    for conflict in conflicts {
      let record = ConflictRecord(
        id: try id(conflict.id), device: devices[conflict.device], user: "ann", table: "t",
        key: RowKey([.integer(1)]), generation: Generation(1), stamp: .zero, operation: .insert, kind: .unit,
        state: .open, baseValues: nil, hubValues: nil, deviceValues: [], winners: [], rowWinner: .hub, note: nil,
        unit: try conflict.unit.map { try id($0) })
      #expect(try ConflictTable.add(record, bundle: nil, noted: 0, in: database))
    }
    return database
  }

  /// The conflicts that are listed as one unit, by the first digits of their ids.
  private func units(_ database: borrowing Database) throws -> [String] {
    let units = try ConflictTable.list([.open], in: database).units
    let page = try ConflictTable.page(ConflictFilter(), from: 0, count: 100, in: database)
    #expect(page.total == Int64(units.count))
    #expect(try ConflictTable.count(ConflictFilter(), in: database) == page.total)
    #expect(try ConflictTable.count(.open, in: database) == Int64(units.count))
    #expect(Set(page.conflicts.map(\.record.id)) == Set(units.map(\.head.record.id)))
    try compareBatches(database)
    return units.map { $0.members.map { String($0.record.id.text.prefix(1)) }.joined() }
  }

  /// Expects that reading conflicts in batches gives the same units as reading them at once.
  private func compareBatches(_ database: borrowing Database) throws {
    let all = try ConflictTable.list([.open], in: database)
    func ids(_ units: [ConflictUnit]) -> [[ConflictID]] { units.map { $0.members.map(\.record.id) } }
    let every = try ConflictTable.units([.open], in: database) { _ in true }
    #expect(ids(every) == ids(all.units))
    let wanted = try ConflictTable.units([.open], in: database) { !$0.isSingle }
    #expect(ids(wanted) == ids(all.units.filter { !$0.isSingle }))
    let single = try ConflictTable.list([.open], in: database) { $0.record.unit == nil }
    #expect(single.map(\.record.id) == all.filter { $0.record.unit == nil }.map(\.record.id))
  }

  @Test("the named conflict represents its unit")
  func represented() throws {
    let database = try table([("1", 0, "2"), ("2", 0, "2"), ("3", 0, nil)])
    #expect(try units(database) == ["12", "3"])
    let head = try ConflictTable.page(ConflictFilter(), from: 0, count: 1, in: database).conflicts.first
    #expect(try head?.record.id == id("2"))
  }

  @Test("a device that names another device's unit joins nothing to it")
  func ofOthers() throws {
    #expect(try units(table([("1", 0, "1"), ("2", 0, "1"), ("3", 1, "1")])) == ["12", "3"])
  }

  @Test("a unit whose representative is not there, or belongs to no unit, has another one")
  func unrepresented() throws {
    #expect(try units(table([("1", 0, nil), ("2", 0, "1"), ("3", 0, "1"), ("4", 0, "9")])) == ["1", "23", "4"])
  }
}
