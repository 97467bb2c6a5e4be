import SatchelValues

/// SQLite's own checks of a file, as far as they can be made without the app.
extension Database {
  /// What SQLite's own check of the whole file finds, in its words; empty where all is sound.
  ///
  /// Tables that name a function or a collation which only the app has are looked at by their pages alone: the order of
  /// their indexes, nobody else can tell. Values of another type than their column's are no damage.
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

  /// The first five faults that one of SQLite's checks finds, lines about single values left out unless `wanted` says
  /// otherwise. No more lines than these are held in memory.
  private func faults(ofCheck check: String, wanted: (String) -> Bool = { !isOfOneValue($0) }) throws -> [String] {
    var found: [String] = []
    try each("PRAGMA \(check)") { row in
      let line = row.text(0)
      if found.count < 5, line != "ok", wanted(line) { found.append(line) }
    }
    return found
  }

  /// Lines about values may be many, and what is damage stands among them.
  private static let mostLines = 1_000_000

  /// What SQLite finds of pages that contradict each other, in its words; nil where it can read all. Whether rows obey
  /// their table's constraints is not asked: they are taken as they are.
  public func brokenPage() throws -> String? { try brokenPages().first }

  private func brokenPages() throws -> [String] {
    let ignores = try first("PRAGMA ignore_check_constraints") { $0.integer(0) } ?? 0
    try execute("PRAGMA ignore_check_constraints = ON")
    defer { try? execute("PRAGMA ignore_check_constraints = \(ignores)") }
    return try withStandIns { try faults(ofCheck: "quick_check(\(Self.mostLines))") }
  }

  /// Whether SQLite can read every row of a file that somebody else made, and none lacks a value that it must have.
  func isSound() throws -> Bool {
    let found = try withStandIns {
      try faults(ofCheck: "quick_check(\(Self.mostLines))") { !isOfOneValue($0) || $0.hasPrefix("NULL value in ") }
    }
    return found.isEmpty
  }

  /// How many rows of each of these tables refer to a row that is not there, of another one of them. A reference that
  /// cannot be followed at all is not counted: with foreign keys on no app can write such a table.
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

/// Whether a line of SQLite's check is about a value that its column's declaration would not have let in, or would have
/// changed: such rows are read and written as any others.
private func isOfOneValue(_ line: String) -> Bool {
  if line.hasPrefix("CHECK constraint failed in ") { return true }
  let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
  if words.count > 2, words[1] == "value", words[2] == "in" { return true }
  return line.hasPrefix("non-") && line.contains(" value in ")
}
