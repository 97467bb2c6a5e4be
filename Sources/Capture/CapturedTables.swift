import SatchelDataset
import SatchelSQLite
import Synchronization

/// The tables of a dataset in a database with capture, and the damage to them.
public struct CapturedTables: Sendable {
  /// The tables that can be kept in step, parents before children. Without damage these are all tables of the
  /// dataset.
  public let tables: [TrackedTable]
  /// Damage to the database that may have hidden changes from capture.
  public let damage: [CaptureDamage]

  /// Finds the tables and the damage. The caller must have no open transaction.
  ///
  /// Each command does this, often several times. If this process has already found the same database without damage,
  /// it uses the same tables again. Each call reads and compares everything on which this depends.
  public init(of dataset: DatasetDefinition, in database: borrowing Database) throws {
    self = try database.readTransaction {
      let basis = try Self.basis(of: dataset, in: database)
      if let known = KnownTables.find(basis) { return CapturedTables(tables: known, damage: []) }
      let tables = try TrackedTable.findIntact(dataset, in: database)
      let damage = try Capture.damage(in: database, tables: tables, dataset: dataset)
      // Tables with damage are not remembered, because the description of damage also depends on rows.
      if damage.isEmpty { KnownTables.add(tables, basis) }
      return CapturedTables(tables: tables, damage: damage)
    }
  }

  private init(tables: [TrackedTable], damage: [CaptureDamage]) {
    self.tables = tables
    self.damage = damage
  }

  /// Everything that decides which tables are found and that they are intact: the definition, the schema in its
  /// order, and capture's own records.
  private static func basis(of dataset: DatasetDefinition, in database: borrowing Database) throws -> [[UInt8]] {
    return [
      dataset.source, try database.bytes(ofRows: "SELECT rowid, type, name, tbl_name, sql FROM sqlite_schema"),
      try DeclaredColumns.bytes(in: database), Array((try database.otherTextEncoding() ?? "").utf8),
      [try Capture.countsExports(in: database) ? 1 : 0],
    ]
  }
}

/// The tables that this process has found without damage. The latest are at the end.
private enum KnownTables {
  private static let known = Mutex<[(basis: [[UInt8]], tables: [TrackedTable])]>([])

  /// The most remembered sets of tables. A process uses few databases, and the devices of a dataset often have the
  /// same schema.
  private static let capacity = 16
  /// A set of tables with a larger schema is not remembered.
  private static let mostBytes = 1 << 20

  static func find(_ basis: [[UInt8]]) -> [TrackedTable]? {
    known.withLock { known in
      guard let place = known.lastIndex(where: { $0.basis == basis }) else { return nil }
      let found = known.remove(at: place)
      known.append(found)
      return found.tables
    }
  }

  static func add(_ tables: [TrackedTable], _ basis: [[UInt8]]) {
    if basis.reduce(0, { $0 + $1.count }) > mostBytes { return }
    known.withLock { known in
      if known.count >= capacity { known.removeFirst() }
      known.append((basis, tables))
    }
  }
}
