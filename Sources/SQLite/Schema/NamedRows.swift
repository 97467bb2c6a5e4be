import SatchelValues

extension TableInfo {
  /// Returns the table with `key` as the key of its rows, in place of its PRIMARY KEY. The result has no INTEGER
  /// PRIMARY KEY among its columns, because each database assigns that key by itself.
  ///
  /// The result also has no references from that key, and no UNIQUE index with that key as a column. Two rows that
  /// collide in such an index have the same INTEGER PRIMARY KEY. So this index never makes SQLite delete a further row.
  /// - Parameter key: positions of columns in the schema. The INTEGER PRIMARY KEY is not among them.
  public func named(by key: [Int]) -> TableInfo {
    guard let local = rowidAlias else { return with(key: key, without: nil) }
    return with(key: key, without: local)
  }

  private func with(key: [Int], without local: Int?) -> TableInfo {
    func moved(_ place: Int) -> Int { local.map { place > $0 ? place - 1 : place } ?? place }
    func kept<T>(_ values: [T]) -> [T] { values.enumerated().filter { $0.offset != local }.map(\.element) }
    let references = schema.foreignKeys.filter { key in !key.columns.contains { $0 == local } }.map {
      ForeignKey(
        columns: $0.columns.map(moved), parent: $0.parent, parentColumns: $0.parentColumns,
        deletesChildren: $0.deletesChildren)
    }
    let indexes = uniqueIndexes.filter { index in !index.parts.contains { $0.column != nil && $0.column == local } }
    return TableInfo(
      schema: TableSchema(
        name: schema.name, columns: kept(schema.columns), key: key.map(moved), foreignKeys: references),
      types: kept(types), uniqueIndexes: indexes.map { $0.moved(by: moved) }, unsupportedIndexes: unsupportedIndexes,
      rowidAlias: nil, isAutoincrement: isAutoincrement,
      rowid: rowid ?? local.map { quoted(schema.columns[$0]) }, hasDefault: kept(hasDefault),
      isNotNull: kept(isNotNull),
      replacements: Dictionary(
        uniqueKeysWithValues: replacements.filter { $0.key != local }.map { (moved($0.key), $0.value) }),
      isVirtual: isVirtual, isView: isView, isNamedByColumns: true,
      localKey: local.map { schema.columns[$0] })
  }
}

extension UniqueIndex {
  fileprivate func moved(by place: (Int) -> Int) -> UniqueIndex {
    UniqueIndex(
      name: name,
      parts: parts.map { part in
        Part(part.column.map { .column(place($0)) } ?? part.source, collation: part.collation)
      }, condition: condition)
  }

  /// Whether an expression of the index, or its condition, contains the column's name.
  public func mentions(_ column: Name) -> Bool {
    let expressions = parts.compactMap { part -> String? in
      switch part.source {
      case .column: nil
      case .generated(_, let sql), .expression(let sql): sql
      }
    }
    return (expressions + [condition].compactMap(\.self)).contains { SatchelSQLite.mentions(column, in: $0) }
  }
}

extension Database {
  /// The generated columns of a table that depend on `column`, directly or through other generated columns.
  public func columns(of table: Name, generatedFrom column: Name) throws -> [Name] {
    let generated = try all(
      "SELECT name FROM pragma_table_xinfo(:name) WHERE hidden > 1", ["name": .string(table.text)]
    ) { Name($0.text(0)) }
    let sources = try generated.map { (name: $0, sql: try generatingExpression(of: $0, in: table)) }
    var found: [Name] = []
    var count = -1
    while count < found.count {
      count = found.count
      for source in sources where !found.contains(source.name) {
        // If the expression cannot be read, the generated column may depend on any column.
        let depends = source.sql.map { sql in ([column] + found).contains { mentions($0, in: sql) } } ?? true
        if depends { found.append(source.name) }
      }
    }
    return found
  }
}
