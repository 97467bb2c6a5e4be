import SatchelCapture
import SatchelSQLite
import SatchelValues

/// Keeps the local keys of one table's rows while an import removes rows and inserts them again.
///
/// Programs on this replica refer to rows by local keys, for example an R-tree or a relation in a GIS project. So a
/// row that is inserted again in the same transaction gets its former local key. Until then no new row gets that key.
///
/// The keys are in a temporary table. All `RowTable` values of a connection share it, and a rollback restores it.
/// Keys from earlier transactions do no harm, because a kept key is used only if no row has it.
public final class LocalPrimaryKeys {
  /// SQL for the local key of a row that is inserted. Its parameters `?1`, `?2` and so on are the row's columns. The
  /// result NULL means that SQLite chooses the key.
  let valueSQL: String
  /// The quoted name of the local key's column.
  let column: String
  private let saving: Statement
  private let savingAll: Statement
  private let reading: Statement
  private let assigning: Statement

  /// nil if the table has no local key or the database is read-only.
  init?(_ table: TrackedTable, in database: borrowing Database) throws {
    guard let local = table.info.localKey, !database.isReadOnly else { return nil }
    let (rows, column) = (quoted(table.name), quoted(local))
    let kept = "temp.\(quoted(Name("satchel_local_keys_\(table.name)")))"
    let parts = table.schema.key.indices.map { "part_\($0 + 1)" }
    try Self.create(kept, parts, for: table, in: database)
    let isKept = zip(parts, table.schema.key).map { "\($0) = ?\($1 + 1)" }.joined(separator: " AND ")
    self.column = column
    valueSQL = """
      coalesce(
        (SELECT place FROM \(kept) WHERE \(isKept) AND NOT EXISTS (SELECT 1 FROM \(rows) WHERE \(column) = place)),
        \(Self.newKeySQL(table, column, beside: kept)))
      """
    let all = (parts + ["place"]).joined(separator: ", ")
    let save = "INSERT OR REPLACE INTO \(kept) (\(all)) SELECT \(quotedList(table.keyColumns)), \(column) FROM \(rows)"
    savingAll = try database.prepare(save)
    saving = try database.prepare("\(save) WHERE \(table.isKeySQL)")
    reading = try database.prepare("SELECT \(column) FROM \(rows) WHERE \(table.isKeySQL)")
    assigning = try database.prepare(
      "INSERT OR REPLACE INTO \(kept) (\(all)) VALUES (\(parts.map { _ in "?" }.joined(separator: ", ")), ?)")
  }

  private static func create(
    _ kept: String, _ parts: [String], for table: TrackedTable, in database: borrowing Database
  ) throws {
    let name = "satchel_local_keys_\(table.name)"
    let isThere = try database.first(
      "SELECT 1 FROM sqlite_temp_schema WHERE type = 'table' AND name = :name", ["name": .string(name)]
    ) { _ in true }
    if isThere != nil { return }
    // The columns have no types, as in the tables of pre-images. So 1 and 1.0 are the same key.
    try database.execute(
      """
      CREATE TABLE \(kept) (
        \(parts.joined(separator: ", ")),
        place INTEGER NOT NULL, -- the local key that the row had
        PRIMARY KEY (\(parts.joined(separator: ", ")))
      ) WITHOUT ROWID;
      CREATE INDEX temp.\(quoted(Name(name + " by place"))) ON \(quoted(Name(name))) (place)
      """)
  }

  /// SQL for a new local key above the keys of all present and removed rows. SQLite's own choice could be the key of
  /// a removed row that is inserted again later. NULL if no row was removed, or if there is no greater number.
  private static func newKeySQL(_ table: TrackedTable, _ column: String, beside kept: String) -> String {
    let counted =
      table.info.isAutoincrement
      ? "\n      UNION ALL SELECT seq FROM sqlite_sequence WHERE name = \(quotedText(table.name.text))" : ""
    return """
      (SELECT max(last) + 1
          FROM (SELECT max(place) AS last FROM \(kept)
            UNION ALL SELECT max(\(column)) FROM \(quoted(table.name))\(counted))
          WHERE EXISTS (SELECT 1 FROM \(kept))
          HAVING max(last) < \(Int64.max))
      """
  }

  /// Saves the local keys of all rows of these tables, before code that does not keep local keys writes to the
  /// tables.
  public static func saveAll(of tables: [TrackedTable], in database: borrowing Database) throws {
    for table in tables { try LocalPrimaryKeys(table, in: database)?.savingAll.run([]) }
  }

  /// Saves the local key of a row that is about to be deleted.
  func save(_ key: RowKey) throws { try saving.run(key.values) }

  /// The local key of a row; nil if there is no such row.
  func place(of key: RowKey) throws -> Int64? {
    defer { reading.reset() }
    try reading.bind(key.values)
    return try reading.step() ? reading.integer(0) : nil
  }

  /// Reserves a local key for a row that is about to be inserted. The row gets the key if no other row has it then.
  func assign(_ place: Int64, to key: RowKey) throws { try assigning.run(key.values + [.integer(place)]) }
}
