import CSQLite

/// An error of SQLite, in its own words, with the statement that failed.
public struct SQLiteError: Error, CustomStringConvertible {
  /// SQLite's extended result code.
  public let code: Int32
  public let message: String
  public let sql: String?

  public init(code: Int32, message: String, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
  }

  /// The last error of a connection.
  init(of connection: OpaquePointer?, _ sql: String?) {
    self.init(
      code: sqlite3_extended_errcode(connection), message: String(cString: sqlite3_errmsg(connection)), sql: sql)
  }

  /// An error for damage that SQLite's check found before any statement read the damaged pages.
  public init(corrupt message: String) { self.init(code: SQLITE_CORRUPT, message: message) }

  /// An error for a row that breaks a rule of its table. SQLite itself does not check this rule.
  public init(constraint message: String) { self.init(code: SQLITE_CONSTRAINT, message: message) }

  public var description: String { message }

  /// Whether the file is damaged, or is no SQLite database.
  public var isDamage: Bool { kind == .corrupt || kind == .notADatabase }

  /// The kind of this failure, for callers that act on it.
  public enum Kind: Sendable {
    case busy, full, readOnly, cannotOpen, notADatabase, corrupt, inputOutput
    case unique, foreignKey, constraint
    /// `Database.bounded` ended the statement.
    case interrupted
    /// A value is larger than the connection's limit.
    case tooLarge
    case other
  }

  public var kind: Kind {
    switch code {
    case ExtendedCode.unique, ExtendedCode.primaryKey, ExtendedCode.rowid: return .unique
    case ExtendedCode.foreignKey: return .foreignKey
    default: break
    }
    switch code & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED: return .busy
    case SQLITE_FULL: return .full
    case SQLITE_READONLY, SQLITE_PERM: return .readOnly
    case SQLITE_CANTOPEN: return .cannotOpen
    case SQLITE_NOTADB: return .notADatabase
    case SQLITE_CORRUPT: return .corrupt
    case SQLITE_IOERR: return .inputOutput
    case SQLITE_INTERRUPT: return .interrupted
    case SQLITE_TOOBIG: return .tooLarge
    // SQLite reports a mismatch if a value has the wrong type for a STRICT table, or if a rowid is no integer.
    case SQLITE_CONSTRAINT, SQLITE_MISMATCH: return .constraint
    default: return .other
    }
  }
}

extension SQLiteError {
  /// This error with the kind `constraint`, if a value of the written row may have caused it; nil: the row is not the
  /// cause. Call it only if SQLite had compiled the statement before the error.
  public var asConstraint: SQLiteError? {
    switch code {
    // A function in a CHECK constraint reports SQLITE_ERROR for a value that the function cannot read.
    case SQLITE_ERROR, SQLITE_TOOBIG: SQLiteError(code: SQLITE_CONSTRAINT, message: message, sql: sql)
    default: nil
    }
  }

  /// Whether `asConstraint` made this error, because SQLite could not compute an expression of the row.
  public var isOfExpression: Bool { code == SQLITE_CONSTRAINT }

  /// Whether the machine or another program caused the error: disk space, rights, open files, or a lock. Such an error
  /// is no sign of damage to the file.
  public var isOfTheMachine: Bool { [.busy, .full, .readOnly, .cannotOpen, .inputOutput].contains(kind) }
}

// Swift does not import C macros that are expressions. These numbers are the documented values, for example of
// SQLITE_CONSTRAINT_UNIQUE.
private enum ExtendedCode {
  static let unique: Int32 = 19 | 8 << 8
  static let primaryKey: Int32 = 19 | 6 << 8
  static let rowid: Int32 = 19 | 10 << 8
  static let foreignKey: Int32 = 19 | 3 << 8
}
