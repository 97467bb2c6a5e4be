import CSQLite
import SatchelValues

/// The rights of a statement from a dataset's rules. It may read these tables and call ordinary functions, nothing
/// else.
public final class ReadAuthorizer {
  private let tables: Set<[UInt8]>
  /// Functions of the program that these statements may call. Ordinary rules may call no such function.
  private let ownFunctions: Set<[UInt8]>

  /// Why a statement was refused, in words; nil if none was.
  public private(set) var refusal: String?

  /// The columns that statements read, by the names of their tables. All names are in small ASCII letters.
  private var columns: [[UInt8]: Set<[UInt8]>] = [:]

  /// Names of tables and functions are compared as in SQLite: the case of ASCII letters does not count.
  /// - Parameter ownFunctions: functions of the program that the statements may call.
  public init(tables: some Sequence<String>, ownFunctions: some Sequence<Name> = EmptyCollection()) {
    self.tables = Set(tables.map { Array($0.utf8).asciiLowercased })
    self.ownFunctions = Set(ownFunctions.map { Array($0.text.utf8).asciiLowercased })
  }

  /// The positions of a table's columns that statements prepared under this authorizer read. All columns, if such a
  /// statement also reads something else of the table: a generated column, for example, may depend on any column.
  public func dependencies(on table: TableSchema) -> Set<Int> {
    var read = columns[Array(table.name.text.utf8).asciiLowercased] ?? []
    // SQLite reports a row of which no value is read except its row number under an empty name.
    if !table.columns.contains(where: \.text.isEmpty) { read.remove([]) }
    let places = table.columns.indices.filter { read.remove(Array(table.columns[$0].text.utf8).asciiLowercased) != nil }
    return Set(read.isEmpty ? places : Array(table.columns.indices))
  }

  /// Whether statements that were prepared under this authorizer read this column of a table.
  public func reads(_ column: Name, of table: Name) -> Bool {
    let read = columns[Array(table.text.utf8).asciiLowercased] ?? []
    return read.contains(Array(column.text.utf8).asciiLowercased)
  }

  /// Whether statements that were prepared under this authorizer read anything of a table.
  public func reads(_ table: Name) -> Bool { columns[Array(table.text.utf8).asciiLowercased] != nil }

  /// Whether statements call functions of date and time, which return the present time for some arguments.
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
      // SQLite reports a subquery in FROM under an empty name.
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
    // Double quotes may enclose only names. Otherwise a misspelt column would be read as a text, which is greater than
    // any number.
    satchel_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0)
    defer { satchel_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 1) }
    return try watched(by: Watch { action, first, second, _ in authorizer.allows(action, first, second) }, body)
  }

  /// Runs `body`, and passes each action of the statements that `body` prepares to `watch`.
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

/// Allows or denies one action of a statement: SQLite's code, two names that go with it, and the name of the schema,
/// such as `main` or `temp`.
final class Watch {
  let allows: (_ action: Int32, _ first: String?, _ second: String?, _ schema: String?) -> Bool

  init(_ allows: @escaping (Int32, String?, String?, String?) -> Bool) { self.allows = allows }
}
