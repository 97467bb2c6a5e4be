import SatchelValues

extension Database {
  /// SQL for the default value of each of these columns; nil for a column whose default is NULL.
  public func defaults(of columns: [Name], in table: Name) throws -> [String?] {
    let declared = try all("SELECT name, dflt_value FROM pragma_table_xinfo(:name)", ["name": .string(table.text)]) {
      (name: Name($0.text(0)), value: $0.optionalText(1))
    }
    return columns.map { column in declared.first { $0.name == column }.flatMap { $0.value.flatMap(defaultExpression) }
    }
  }

  /// Whether the table was declared STRICT.
  public func isStrict(_ table: Name) throws -> Bool {
    try first(
      "SELECT strict FROM pragma_table_list(:name) WHERE schema = 'main' AND name = :name COLLATE BINARY",
      ["name": .string(table.text)]
    ) { $0.integer(0) != 0 } ?? false
  }
}

extension Database {
  /// The default value of each of these columns.
  public func defaultValues(of columns: [Name], in table: Name) throws -> [Value] {
    try defaults(of: columns, in: table).map { sql in
      try sql.flatMap { try first("SELECT \($0)") { $0.value(0) } } ?? .null
    }
  }
}
