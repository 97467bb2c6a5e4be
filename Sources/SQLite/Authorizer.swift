import CSQLite
import SatchelValues

/// The rights of a statement from a dataset's rules. The statement may read these tables and call ordinary functions.
/// The statement may do nothing else.
public final class ReadAuthorizer {
  private let tables: Set<[UInt8]>
  /// Functions that Satchel itself registers and that these statements may call. Most rules may call no such function.
  private let ownFunctions: Set<[UInt8]>

  /// Why SQLite refused a statement, in words; nil if no statement was refused.
  public private(set) var refusal: String?

  /// The columns that statements read, by table name. All names are in small ASCII letters.
  private var columns: [[UInt8]: Set<[UInt8]>] = [:]

  /// SQLite compares names without regard to the case of ASCII letters. So does this class.
  /// - Parameter ownFunctions: functions that Satchel itself registers and that the statements may call.
  public init(tables: some Sequence<String>, ownFunctions: some Sequence<Name> = EmptyCollection()) {
    self.tables = Set(tables.map { Array($0.utf8).asciiLowercased })
    self.ownFunctions = Set(ownFunctions.map { Array($0.text.utf8).asciiLowercased })
  }

  /// The positions of the table's columns that statements prepared under this authorizer read. If a statement reads
  /// anything else of the table, all columns are returned. For example, a generated column may depend on any column.
  public func dependencies(on table: TableSchema) -> Set<Int> {
    var read = columns[Array(table.name.text.utf8).asciiLowercased] ?? []
    // If a statement reads no value of a row, or only its rowid, SQLite reports a column with an empty name.
    if !table.columns.contains(where: \.text.isEmpty) { read.remove([]) }
    let places = table.columns.indices.filter { read.remove(Array(table.columns[$0].text.utf8).asciiLowercased) != nil }
    return Set(read.isEmpty ? places : Array(table.columns.indices))
  }

  /// Whether statements prepared under this authorizer read this column of the table.
  public func reads(_ column: Name, of table: Name) -> Bool {
    let read = columns[Array(table.text.utf8).asciiLowercased] ?? []
    return read.contains(Array(column.text.utf8).asciiLowercased)
  }

  /// Whether statements prepared under this authorizer read the table.
  public func reads(_ table: Name) -> Bool { columns[Array(table.text.utf8).asciiLowercased] != nil }

  /// Whether statements call functions of date and time. For some arguments, these functions return the present time.
  public private(set) var callsDateFunctions = false

  /// Functions whose result depends on more than the row, or that have effects outside the database.
  private static let forbidden: Set<[UInt8]> = Set(
    [
      "load_extension", "random", "randomblob", "changes", "total_changes", "last_insert_rowid", "current_date",
      "current_time",
      "current_timestamp", "readfile", "writefile", "edit", "fts3_tokenizer", "sqlite_compileoption_get",
      "sqlite_source_id",
      "sqlite_version",
    ].map { Array($0.utf8) })

  fileprivate func allows(_ action: Int32, _ first: String?, _ second: String?) -> Bool {
    switch action {
    case SQLITE_SELECT, SQLITE_RECURSIVE:
      return true
    case SQLITE_READ:
      // SQLite reports a subquery in FROM as a table with an empty name.
      guard let first, !first.isEmpty else { return true }
      let table = Array(first.utf8).asciiLowercased
      if let second { columns[table, default: []].insert(Array(second.utf8).asciiLowercased) }
      if tables.contains(table) { return true }
      refusal = "it reads \(first), which is no table of the dataset"
    case SQLITE_FUNCTION:
      guard let second else { return true }
      let function = Array(second.utf8).asciiLowercased
      if dateFunctions.contains(function) { callsDateFunctions = true }
      let isOwn = function.starts(with: "satchel_".utf8)
      if isOwn ? ownFunctions.contains(function) : !Self.forbidden.contains(function) { return true }
      refusal = "it calls \(second)(), whose result is not decided by the row alone"
    default:
      refusal = "it does more than read"
    }
    return false
  }
}

extension [UInt8] {
  var asciiLowercased: [UInt8] { map { (65...90).contains($0) ? $0 + 32 : $0 } }
}

extension Database {
  /// Runs `body`. Every statement that `body` prepares has only the rights that `authorizer` gives.
  public func authorized<T: ~Copyable>(by authorizer: ReadAuthorizer, _ body: () throws -> T) throws -> T {
    // In these statements, double quotes may enclose only names. Otherwise SQLite would read a misspelt column name as
    // a text, and a text is greater than any number.
    satchel_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0)
    defer { satchel_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 1) }
    return try watched(by: Watch { action, first, second, _ in authorizer.allows(action, first, second) }, body)
  }

  /// Runs `body`. Passes each action of the statements that `body` prepares to `watch`.
  func watched<T: ~Copyable>(by watch: Watch, _ body: () throws -> T) throws -> T {
    sqlite3_set_authorizer(
      handle,
      { context, action, first, second, schema, _ in
        guard let context else { return SQLITE_DENY }
        let watch = Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue()
        let words = [first, second, schema].map { $0.map { String(cString: $0) } }
        return watch.allows(action, words[0], words[1], words[2]) ? SQLITE_OK : SQLITE_DENY
      }, Unmanaged.passUnretained(watch).toOpaque())
    defer { sqlite3_set_authorizer(handle, nil, nil) }
    return try withExtendedLifetime(watch, body)
  }
}

/// Allows or denies one action of a statement. The action has SQLite's code, two names, and the name of the schema, for
/// example `main` or `temp`.
final class Watch {
  let allows: (_ action: Int32, _ first: String?, _ second: String?, _ schema: String?) -> Bool

  init(_ allows: @escaping (Int32, String?, String?, String?) -> Bool) { self.allows = allows }
}
