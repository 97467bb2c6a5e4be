import CSQLite
import SatchelValues

/// A collation or a function that a schema names, and that this connection lacks because only the app registers it.
enum LackingName: Hashable {
  case function(String)
  case collation(String)
}

extension SQLiteError {
  /// The function or collation that this connection lacks, if SQLite reported that; nil for every other error.
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

  /// The name of the function or collation that only the app has, if SQLite reported that; nil for every other error.
  public var nameOfApp: String? {
    switch lackingName {
    case .function(let name)?, .collation(let name)?: name
    case nil: nil
    }
  }

  /// Whether SQLite reported a collation that only the app has.
  public var namesAppsCollation: Bool { if case .collation? = lackingName { true } else { false } }
}

/// The work that a connection does without the app's functions and collations.
enum WorkWithoutApp {
  /// SQLite reads the schema and the pages. A substitute function returns NULL. No result depends on the substitute
  /// collation.
  case reading
  /// SQLite copies all rows and all entries of indexes in their order. A substitute function fails, because a copy
  /// needs no function. A substitute collation puts each new entry of an index after all entries that are already in
  /// the index.
  case copying
}

extension Database {
  /// Runs `body`. If a function or a collation is missing, adds a substitute and runs `body` again, until nothing is
  /// missing. The results of `body` must not depend on substitutes.
  func withStandIns<T>(for use: WorkWithoutApp, _ body: () throws -> T) throws -> T {
    var standIns: Set<LackingName> = []
    defer { for name in standIns { removeStandIn(for: name) } }
    while true {
      do { return try body() } catch let error as SQLiteError {
        guard let name = error.lackingName, standIns.insert(name).inserted else { throw error }
        try addStandIn(for: name, use)
      }
    }
  }

  func addStandIn(for name: LackingName, _ use: WorkWithoutApp) throws {
    switch (name, use) {
    case (.function(let name), .reading): addFunction(name) { context, _, _ in sqlite3_result_null(context) }
    case (.function(let name), .copying):
      addFunction(name) { context, _, _ in
        sqlite3_result_error(context, "a copy of the file needs a function that only the app has", -1)
      }
    case (.collation(let name), .reading): addCollation(name) { _, _, _, _, _ in -1 }
    case (.collation(let name), .copying):
      // SQLite passes the existing entry first, and then the new entry. If the index descends, SQLite inverts the
      // result.
      switch try isDescending(name) {
      case false: addCollation(name) { _, _, _, _, _ in -1 }
      case true: addCollation(name) { _, _, _, _, _ in 1 }
      }
    }
  }

  private func addFunction(
    _ name: String,
    _ body: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
  ) {
    sqlite3_create_function_v2(
      handle, name, -1, SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC, nil, body, nil, nil, nil)
  }

  private func addCollation(
    _ name: String,
    _ body: @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?) -> Int32
  ) {
    sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, nil, body, nil)
  }

  /// Whether the indexes that use the collation are descending. Throws a `CopyError` if only some of them are.
  private func isDescending(_ collation: String) throws -> Bool {
    let found = try all(
      """
      SELECT DISTINCT tables.name, part.desc
      FROM pragma_table_list AS tables JOIN pragma_index_list(tables.name) AS list JOIN pragma_index_xinfo(list.name) \
      AS part
      WHERE tables.schema = 'main' AND part.coll = :name COLLATE NOCASE
      ORDER BY tables.name
      """, ["name": .string(collation)]
    ) { (table: Name($0.text(0)), descends: $0.integer(1) != 0) }
    guard let up = found.first(where: { !$0.descends }) else { return !found.isEmpty }
    guard let down = found.first(where: \.descends) else { return false }
    let isOne = up.table.isSameInSQL(as: down.table)
    let names = isOne ? "table \(up.table)" : "tables \(up.table) and \(down.table)"
    let sort = isOne ? "sorts" : "sort"
    throw CopyError(
      message:
        """
        The database cannot be copied: the \(names) \(sort) both up and down by the collation \(collation), which \
        only the app has.
        """,
      hint:
        """
        Let the app change its PRIMARY KEY and UNIQUE rules of the \(names): all ascend, or all descend. Then run the \
        same command again.
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
