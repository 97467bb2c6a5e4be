import CSQLite

extension Database {
  /// Opens a file that someone else made, read-only and with every defence that SQLite has, and checks its structure.
  ///
  /// Throws where the file is not a sound database. Its schema is still the caller's to compare: a sound file may hold
  /// anything.
  public static func untrusted(path: String) throws -> Database {
    let database = try Database(path: path, mode: .readOnly)
    satchel_db_config(database.handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    satchel_db_config(database.handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    satchel_db_config(database.handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    satchel_db_config(database.handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    sqlite3_limit(database.handle, SQLITE_LIMIT_ATTACHED, 0)
    try database.execute("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA query_only = ON")
    guard try database.isSound() else {
      throw SQLiteError(code: SQLITE_CORRUPT, message: "the database's pages contradict each other")
    }
    return database
  }
}
