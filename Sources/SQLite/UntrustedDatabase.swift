import CSQLite
import SatchelValues

extension Database {
  /// Opens an untrusted file, read-only and with every defence that SQLite has, and checks its structure.
  ///
  /// Throws if the file is not a sound database. The caller must still check the schema, because a sound file may have
  /// any content.
  public static func untrusted(path: String) throws -> Database {
    let database = try hardened(path: path)
    try database.requireSound()
    return database
  }

  /// Opens an untrusted file as `untrusted` does, but does not check its pages. The caller checks the schema first, and
  /// then calls `requireSound`.
  public static func hardened(path: String) throws -> Database {
    let database = try Database(path: path, mode: .readOnly)
    satchel_db_config(database.handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    satchel_db_config(database.handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    satchel_db_config(database.handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    satchel_db_config(database.handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    sqlite3_limit(database.handle, SQLITE_LIMIT_ATTACHED, 0)
    // Rows that break a CHECK are accepted. So SQLite need not compute any CHECK.
    try database.execute(
      """
      PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA query_only = ON;
      PRAGMA ignore_check_constraints = ON
      """)
    try database.acceptJSONFunctions()
    return database
  }

  /// Throws unless SQLite can read every row.
  public func requireSound() throws {
    if try isSound() { return }
    throw SQLiteError(code: SQLITE_CORRUPT, message: "the database's pages contradict each other")
  }
}
