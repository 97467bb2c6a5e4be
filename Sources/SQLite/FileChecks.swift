import SatchelValues

/// SQLite's own checks of a file, as far as they can run without the app's functions and collations.
extension Database {
  /// The faults that SQLite's integrity check of the whole file finds, in SQLite's words; empty if there is no fault.
  ///
  /// If a table names a function or a collation which only the app has, only the table's pages are checked. The order
  /// of the table's indexes cannot be checked without the app. A value whose type does not fit its column is not
  /// counted as damage.
  public func integrityFaults() throws -> [String] {
    do { return try faults(ofCheck: "integrity_check(\(Self.mostLines))") } catch let error as SQLiteError
      where error.lackingName != nil
    { return try integrityFaultsWithoutApp() }
  }

  private func integrityFaultsWithoutApp() throws -> [String] {
    let tables = try all(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') ORDER BY name"
    ) {
      Name($0.text(0))
    }
    var found = try brokenPages()
    for table in tables where found.isEmpty {
      do { found = try faults(ofCheck: "integrity_check(\(quoted(table)))") } catch let error as SQLiteError
        where error.lackingName != nil
      { continue }
    }
    return found
  }

  /// The first five faults that one of SQLite's checks reports. Only lines that `wanted` accepts count. By default,
  /// lines about single values do not count. At most these five lines are held in memory.
  private func faults(ofCheck check: String, wanted: (String) -> Bool = { !isOfOneValue($0) }) throws -> [String] {
    var found: [String] = []
    try each("PRAGMA \(check)") { row in
      let line = row.text(0)
      if found.count < 5, line != "ok", wanted(line) { found.append(line) }
    }
    return found
  }

  /// The limit on the lines that a check returns. Very many lines about single values may come before a line about
  /// damage.
  private static let mostLines = 1_000_000

  /// The first fault that SQLite finds in the pages, in SQLite's words; nil if SQLite can read everything. Rows that
  /// break a constraint of their table are not faults.
  public func brokenPage() throws -> String? { try brokenPages().first }

  private func brokenPages() throws -> [String] {
    let ignores = try first("PRAGMA ignore_check_constraints") { $0.integer(0) } ?? 0
    try execute("PRAGMA ignore_check_constraints = ON")
    defer { try? execute("PRAGMA ignore_check_constraints = \(ignores)") }
    return try withStandIns(for: .reading) { try faults(ofCheck: "quick_check(\(Self.mostLines))") }
  }

  /// Whether SQLite can read every row of a file from outside, and no row has NULL in a NOT NULL column.
  func isSound() throws -> Bool {
    let found = try withStandIns(for: .reading) {
      try faults(ofCheck: "quick_check(\(Self.mostLines))") { !isOfOneValue($0) || $0.hasPrefix("NULL value in ") }
    }
    return found.isEmpty
  }

  /// The number of each table's rows that refer to a missing row of one of these tables. Tables without such rows are
  /// not returned, and neither is a table whose references cannot be checked. With foreign keys on, no app can write to
  /// a table whose references cannot be checked.
  public func foreignKeyFaults(among tables: [Name]) throws -> [(Name, Int)] {
    try tables.compactMap { table in
      var count = 0
      do {
        try each("SELECT parent FROM pragma_foreign_key_check(:table)", ["table": .string(table.text)]) { row in
          let parent = Name(row.text(0))
          if tables.contains(where: { $0.isSameInSQL(as: parent) }) { count += 1 }
        }
      } catch let error as SQLiteError where error.kind == .other { return nil }
      return count == 0 ? nil : (table, count)
    }
  }
}

/// Whether a line of SQLite's check is about a single value that does not fit the declaration of its column. SQLite can
/// still read and write such a row.
private func isOfOneValue(_ line: String) -> Bool {
  if line.hasPrefix("CHECK constraint failed in ") { return true }
  let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
  return words.count > 2 && words[1] == "value" && words[2] == "in"
}
