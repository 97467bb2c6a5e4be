import SatchelBundle
import SatchelCapture
import SatchelJSON
import SatchelSQLite
import SatchelValues

/// Builds a database with chosen rows in a new file. No other rows were ever in the file, so none are in its free
/// pages.
///
/// The file has the dataset's tables with their indexes as the source declares them. It has the source's
/// `application_id` and `user_version`. The table `satchel_stamps` has the newest stamp of each row that was ever
/// changed.
public final class SnapshotBuilder {
  private let database: Database
  private let source: [(table: Name, sql: [String])]
  private let stamps: Statement

  public static let stampTable = "satchel_stamps"
  /// The columns of the table `satchel_stamps` in each snapshot. A snapshot may also have the column `others`.
  public static let stampColumns = ["table_name", "key", "stamp"]

  private let saysOthers: Bool

  /// - Parameter saysOthers: whether the stamp table also lists writes that others than the receiving device made to
  ///   a row since the device's last contact.
  public init(
    at path: String, like original: borrowing Database, tables: [TrackedTable], saysOthers: Bool = false
  ) throws {
    self.saysOthers = saysOthers
    database = try Database(path: path, mode: .create)
    // With `secure_delete`, free bytes within pages are zero, with any build of the library. Otherwise they could
    // hold bytes of other rows, and would differ from run to run.
    try database.execute("PRAGMA secure_delete = ON; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    // Rows are stored as the source has them, even if a row breaks a CHECK.
    try database.execute("PRAGMA ignore_check_constraints = ON")
    for pragma in ["application_id", "user_version"] {
      let number = try original.first("PRAGMA \(pragma)") { $0.integer(0) } ?? 0
      try database.execute("PRAGMA \(pragma) = \(number)")
    }
    try database.execute("BEGIN")
    var indexes: [(table: Name, sql: [String])] = []
    for table in tables {
      let name: KeyValuePairs<String, Value> = ["name": .string(table.name.text)]
      let declaration = try original.first("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = :name", name)
      {
        $0.text(0)
      }
      if let declaration { try database.execute(declaration) }
      let sql = try original.all(
        "SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = :name AND sql IS NOT NULL ORDER BY name",
        name
      ) { $0.text(0) }
      indexes.append((table.name, sql))
    }
    source = indexes
    try database.execute(
      """
      CREATE TABLE \(Self.stampTable) (
        table_name TEXT NOT NULL,
        key TEXT NOT NULL,       -- JSON array
        stamp INTEGER NOT NULL,  -- hybrid logical clock of the row's newest change
        \(saysOthers ? "others TEXT, -- JSON: what others than the device wrote since it heard; NULL: nothing" : "")
        PRIMARY KEY (table_name, key)
      ) WITHOUT ROWID
      """)
    stamps = try database.prepare("INSERT INTO \(Self.stampTable) VALUES (?, ?, ?\(saysOthers ? ", ?" : ""))")
  }

  /// A writer for the rows of one table. The file stores the rows in the order in which they are written.
  public func rows(of table: TrackedTable) throws -> RowTable {
    try RowTable(table, in: database, localKeys: .numbered)
  }

  /// - Parameter others: the writes to the row that others than the receiving device made since the device's last
  ///   contact.
  public func addStamp(_ stamp: Stamp, _ others: [OthersWrite], of key: RowKey, in table: Name) throws {
    let known = [.string(table.text), .text(canonicalKey(key)), .integer(stamp.rawValue)] as [Value]
    let written = others.isEmpty ? Value.null : .text(OthersWriteCoding.json(others))
    try stamps.run(saysOthers ? known + [written] : known)
  }

  /// Throws a `BundleError` if a row is larger than a receiver accepts.
  public func refuseLargeRows(of tables: [TrackedTable]) throws {
    let limit = BundleSnapshot.mostRowBytes
    for table in tables {
      guard let key = try database.row(of: table.schema, largerThan: limit) else { continue }
      throw BundleError.rowTooLarge(
        "\(table.name) \(String(decoding: canonicalKey(key), as: UTF8.self))", limit: Int(limit))
    }
  }

  /// Creates the indexes and commits.
  public func finish() throws {
    for table in source {
      for sql in table.sql { try database.execute(sql) }
    }
    try database.execute("COMMIT")
  }
}

extension SnapshotBuilder {
  /// The newest stamp of a row in a snapshot; zero if the row was never changed.
  public static func stamp(of key: RowKey, in table: Name, database: borrowing Database) throws -> Stamp {
    try database.first(
      "SELECT stamp FROM \(stampTable) WHERE table_name = :table AND key = :key",
      ["table": .string(table.text), "key": .text(canonicalKey(key))]
    ) { Stamp($0.integer(0)) } ?? .zero
  }

  /// The writes that others than the receiving device made to a row since the device's last contact. nil if the
  /// snapshot does not list such writes.
  public static func others(
    of key: RowKey, in table: Name, database: borrowing Database
  ) throws -> [OthersWrite]? {
    let columns = try database.all("SELECT name FROM pragma_table_info('\(stampTable)')") { $0.text(0) }
    guard columns.contains("others") else { return nil }
    return try database.first(
      "SELECT others FROM \(stampTable) WHERE table_name = :table AND key = :key AND others IS NOT NULL",
      ["table": .string(table.text), "key": .text(canonicalKey(key))]
    ) { Array($0.text(0).utf8) }.map { try OthersWriteCoding.parse($0) } ?? []
  }
}

extension SnapshotBuilder {
  /// Puts a snapshot of all rows of these tables into a bundle draft. A row with NULL in its key is left out, because
  /// no other replica can refer to it.
  ///
  /// Throws a `BundleError` if a row is larger than a receiver accepts, unless `largeRows` allows it.
  public static func addWhole(
    _ database: borrowing Database, _ tables: [TrackedTable], to draft: inout BundleDraft, largeRows: LargeRows
  ) throws {
    let path = draft.file("building.sqlite")
    let builder = try SnapshotBuilder(at: path, like: database, tables: tables)
    for table in tables {
      let rows = try builder.rows(of: table)
      try database.each(table.namedRowsInOrderSQL) { try rows.insert(rowOf: $0) }
    }
    try builder.finish()
    if largeRows == .areRefused { try builder.refuseLargeRows(of: tables) }
    try draft.addSnapshot(at: path)
  }

  /// The rule for rows that are larger than other replicas accept.
  public enum LargeRows {
    case areRefused
    /// Large rows are allowed, because the bundle is for this replica itself.
    case areTaken
  }
}
