import CSQLite
import SatchelValues

/// A collation or a function that a schema names and that this connection lacks: only the app registers it.
enum LackingName: Hashable {
  case function(String)
  case collation(String)
}

extension SQLiteError {
  /// The missing name that SQLite needs to read the schema; nil for every other failure.
  var lackingName: LackingName? {
    func rest(_ beginning: String) -> String? {
      message.hasPrefix(beginning) ? String(message.dropFirst(beginning.count)) : nil
    }
    if let name = rest("no such function: ") { return .function(name) }
    if let name = rest("unknown function: ") {
      return .function(name.hasSuffix("()") ? String(name.dropLast(2)) : name)
    }
    return rest("no such collation sequence: ").map { .collation($0) }
  }

  /// Whether the schema names a collation that only the app has.
  public var namesAppsCollation: Bool { if case .collation? = lackingName { true } else { false } }
}

extension Database {
  /// Runs `body`. If a function or a collation is missing, adds a stand-in and runs `body` again, until none is
  /// missing.
  ///
  /// `body` must not depend on the results of stand-ins. A function returns NULL, and a collation puts each new entry
  /// of an index after all entries that are in the index. VACUUM may run here: it calls no functions, and reads the
  /// entries of an index in their order.
  func withStandIns<T>(_ body: () throws -> T) throws -> T {
    var standIns: Set<LackingName> = []
    defer { for name in standIns { removeStandIn(for: name) } }
    while true {
      do { return try body() } catch let error as SQLiteError {
        guard let name = error.lackingName, standIns.insert(name).inserted else { throw error }
        try addStandIn(for: name)
      }
    }
  }

  func addStandIn(for name: LackingName) throws {
    switch name {
    case .function(let name):
      sqlite3_create_function_v2(
        handle, name, -1, SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC, nil,
        { context, _, _ in sqlite3_result_null(context) }, nil, nil, nil)
    case .collation(let name):
      // SQLite passes the existing entry first, and then the new entry. If the index descends, SQLite inverts the
      // result.
      switch try isDescending(name) {
      case false: sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, nil, { _, _, _, _, _ in -1 }, nil)
      case true: sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, nil, { _, _, _, _, _ in 1 }, nil)
      }
    }
  }

  /// Whether the indexes that use a collation descend. Throws if some descend and others do not.
  private func isDescending(_ collation: String) throws -> Bool {
    let found = try all(
      """
      SELECT DISTINCT part.desc
      FROM pragma_table_list AS tables JOIN pragma_index_list(tables.name) AS list JOIN pragma_index_xinfo(list.name) \
      AS part
      WHERE tables.schema = 'main' AND part.coll = :name COLLATE NOCASE
      """, ["name": .string(collation)]
    ) { $0.integer(0) != 0 }
    if found.count < 2 { return found == [true] }
    throw SQLiteError(
      code: SQLITE_ERROR,
      message:
        """
        indexes go both up and down by the collation \(collation), which only the app has: without it the file \
        cannot be copied
        """
    )
  }

  func removeStandIn(for name: LackingName) {
    switch name {
    case .function(let name): sqlite3_create_function_v2(handle, name, -1, SQLITE_UTF8, nil, nil, nil, nil, nil)
    case .collation(let name): sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, nil, nil, nil)
    }
  }
}
