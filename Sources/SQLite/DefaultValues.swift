import SatchelValues

extension Database {
  /// What a row holds in these columns of a table where a statement names none, as SQL; nil for NULL.
  public func defaults(of columns: [Name], in table: Name) throws -> [String?] {
    let declared = try all("SELECT name, dflt_value FROM pragma_table_xinfo(:name)", ["name": .string(table.text)]) {
      (name: Name($0.text(0)), value: $0.optionalText(1))
    }
    return columns.map { column in declared.first { $0.name == column }.flatMap { $0.value.flatMap(defaultExpression) } }
  }

  /// Whether the table was declared STRICT, where a column of type ANY takes every value as it is.
  public func isStrict(_ table: Name) throws -> Bool {
    try first(
      "SELECT strict FROM pragma_table_list(:name) WHERE schema = 'main' AND name = :name COLLATE BINARY",
      ["name": .string(table.text)]
    ) { $0.integer(0) != 0 } ?? false
  }

  /// What SQLite's own check of the whole file finds, in its words; empty where all is sound.
  public func integrityFaults() throws -> [String] {
    try all("PRAGMA integrity_check(5)") { $0.text(0) }.filter { $0 != "ok" }
  }

  /// What SQLite finds of pages that contradict each other, in its words; nil where it can read all. Whether rows obey their table's
  /// constraints is not asked: they are taken as they are.
  public func brokenPage() throws -> String? {
    try execute("PRAGMA ignore_check_constraints = ON")
    return try all("PRAGMA quick_check(20)") { $0.text(0) }.first { $0 != "ok" && !$0.hasPrefix("NULL value in ") }
  }

  /// How many rows of each table refer to a row that is not there.
  public func foreignKeyFaults() throws -> [(table: Name, count: Int)] {
    let faults = try all("PRAGMA foreign_key_check") { Name($0.text(0)) }
    return Set(faults).sorted().map { table in (table, faults.count { $0 == table }) }
  }
}

extension Database {
  /// What a row holds in these columns of a table where a statement names none.
  public func defaultValues(of columns: [Name], in table: Name) throws -> [Value] {
    try defaults(of: columns, in: table).map { sql in
      try sql.flatMap { try first("SELECT \($0)") { $0.value(0) } } ?? .null
    }
  }
}
