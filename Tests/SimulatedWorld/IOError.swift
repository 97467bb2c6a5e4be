import CSQLite

/// SQLite's extended codes for disk errors. They are macros, which Swift does not import.
/// https://www.sqlite.org/rescode.html
enum IOError {
  static let read = SQLITE_IOERR | 1 << 8
  static let shortRead = SQLITE_IOERR | 2 << 8
  static let write = SQLITE_IOERR | 3 << 8
  static let fsync = SQLITE_IOERR | 4 << 8
  static let truncate = SQLITE_IOERR | 6 << 8
  static let delete = SQLITE_IOERR | 10 << 8
  static let access = SQLITE_IOERR | 13 << 8
  static let deleteMissing = SQLITE_IOERR | 23 << 8
}
