import SatchelSQLite
import SatchelValues

extension Capture {
  /// Installs capture on the present tables again. Pre-images are kept, and get the present columns of the tables.
  ///
  /// The caller has begun a transaction, and has checked that all damage can be repaired.
  /// - Parameters:
  ///   - generation: the present generation, for a database that has lost it.
  ///   - known: the column mappings of tables whose changes were followed. For other tables the mapping is guessed.
  /// - Returns: the column mapping of each table whose columns changed.
  public static func reinstall(
    in database: borrowing Database, tables: [TrackedTable], generation: Generation, known: [Name: ColumnMapping] = [:]
  ) throws -> [Name: ColumnMapping] {
    var mappings: [Name: ColumnMapping] = [:]
    if try !database.hasTable("satchel_capture") { try database.execute(schema) }
    try addUnitTables(in: database)
    try database.run(
      "INSERT OR IGNORE INTO satchel_capture VALUES (1, :generation, 0)", ["generation": .integer(generation.rawValue)])
    for table in tables {
      try dropTriggers(of: table.name, in: database)
      try renewWrites(of: table, in: database)
      let mapping = try renewSaved(of: table, known[table.name], in: database)
      // If the columns were followed through a migration, they have the same names as at the hub.
      let renamed = try known[table.name] == nil ? DeclaredColumns.renamed(in: table.name, mapping, database) : [:]
      mappings[table.name] = mapping
      for trigger in table.captureSQL.triggers { try database.execute(trigger.sql) }
      try DeclaredColumns.note(table.name, renamed: renamed, in: database)
    }
    return mappings
  }

  /// Drops the triggers of capture on a table. As long as a trigger names a column, the column cannot be dropped.
  public static func dropTriggers(of table: Name, in database: borrowing Database) throws {
    let names = try database.all(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'satchel\\_%' ESCAPE '\\'"
    ) {
      $0.text(0)
    }
    for name in names {
      // The table's name begins after the first colon.
      guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { continue }
      if Name(String(name[name.utf8.index(after: colon)...])) == table {
        try database.execute("DROP TRIGGER \(quoted(name))")
      }
    }
  }

  /// Creates the table of writes again, without entries. Entries of the former table are first moved into the
  /// pre-images, if both tables have the same columns.
  private static func renewWrites(of table: TrackedTable, in database: borrowing Database) throws {
    if let writes = try database.tableShape(table.names.writes) {
      if let before = try table.saved(in: database), table.savedWrites(writes) == table.savedColumns(before) {
        let key = before.key.map { before.columns[$0] }.filter { $0 != table.names.generation }
        // If these writes are from before the dataset had units, they belong to no unit.
        let keepsUnits = table.names.keepsUnits && table.hasUnits(in: before, writes)
        if keepsUnits { try UnitNumbers.give(to: [table], in: database) }
        let sql = CaptureTables.settle(
          keepsUnits ? table.names : CaptureNames(table.schema), columns: table.savedColumns(before), key: key,
          alias: table.info.rowidAlias == nil ? nil : key[0]
        )
        for statement in sql { try database.run(statement) }
      }
      try database.execute("DROP TABLE main.\(quoted(table.names.writes))")
    }
    for statement in table.captureSQL.tables.makeWrites { try database.execute(statement) }
  }

  /// Creates the table of pre-images again if it is missing or has other columns. Its rows are kept in the second
  /// case.
  private static func renewSaved(
    of table: TrackedTable, _ known: ColumnMapping?, in database: borrowing Database
  ) throws -> ColumnMapping? {
    guard let before = try table.saved(in: database) else {
      // The doctor finds the changes of a lost table of pre-images again as unseen changes.
      try database.execute("DROP TABLE IF EXISTS main.\(quoted(table.names.before))")
      try database.execute(table.captureSQL.tables.makeBefore)
      return nil
    }
    let columns = table.savedColumns(before)
    let mapping = known ?? ColumnMapping(from: columns, to: table.schema.columns)
    let hasUnits = before.columns.contains(table.names.unit)
    if mapping.isIdentity, hasUnits == table.names.keepsUnits { return nil }
    // ALTER TABLE is not used. It fails if any view or trigger of the app has an error.
    let old = "temp.satchel_old"
    try database.execute("CREATE TEMP TABLE satchel_old AS SELECT * FROM main.\(quoted(table.names.before))")
    try database.execute("DROP TABLE main.\(quoted(table.names.before))")
    try database.execute(table.captureSQL.tables.makeBefore)
    let controls = table.names.controls
    let kept = controls.map { $0 == table.names.unit && !hasUnits ? "NULL" : quoted($0) }
    let defaults = try database.defaults(of: table.schema.columns, in: table.name)
    // A row that existed when the column was added got the column's default.
    let sources = zip(table.schema.columns, defaults).map { column, value in
      mapping.old(column).map { quoted($0) } ?? "CASE WHEN \(quoted(table.names.existed)) THEN \(value ?? "NULL") END"
    }
    try database.execute(
      """
      INSERT INTO \(quoted(table.names.before)) (\(quotedList(table.schema.columns + controls)))
      SELECT \(sources.joined(separator: ", ")), \(kept.joined(separator: ", "))
      FROM \(old)
      """)
    try database.execute("DROP TABLE \(old)")
    return mapping.isIdentity ? nil : mapping
  }
}
