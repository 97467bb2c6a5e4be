import SatchelValues

/// The data about one table that Satchel needs to write its triggers and rows.
public struct TableInfo: Sendable {
  public let schema: TableSchema
  /// The columns' declared types, in the order of the schema's columns.
  public let types: [String]
  public let uniqueIndexes: [UniqueIndex]
  /// Names of UNIQUE indexes for which Satchel cannot find conflicting rows. Such an index contains an expression that
  /// compares values, or an expression that depends on a generated column.
  public let unsupportedIndexes: [String]
  /// The position of the INTEGER PRIMARY KEY. If a new row has no value for it, SQLite makes one.
  public let rowidAlias: Int?
  /// Whether SQLite makes each new key greater than all former keys, including the keys of deleted rows.
  public let isAutoincrement: Bool
  /// The name by which SQL reaches the rowid; nil if the table has no rowid, or if columns have all its names.
  public let rowid: String?
  /// Whether each column has a default value, in the order of the schema's columns.
  public let hasDefault: [Bool]
  /// Whether each column is NOT NULL, in the order of the schema's columns.
  public let isNotNull: [Bool]
  /// For a NOT NULL column, by its position: the SQL of the value with which OR REPLACE replaces a NULL.
  public let replacements: [Int: String]
  public let isVirtual: Bool
  public let isView: Bool
  /// Whether columns other than the PRIMARY KEY identify the rows.
  public let isNamedByColumns: Bool
  /// The INTEGER PRIMARY KEY that is not among the schema's columns, because other columns identify the rows; nil if
  /// there is no such key.
  public let localKey: Name?
}

extension TableInfo {
  /// Returns the same table with other foreign keys.
  public func with(foreignKeys: [ForeignKey]) -> TableInfo {
    TableInfo(
      schema: TableSchema(name: schema.name, columns: schema.columns, key: schema.key, foreignKeys: foreignKeys),
      types: types, uniqueIndexes: uniqueIndexes, unsupportedIndexes: unsupportedIndexes, rowidAlias: rowidAlias,
      isAutoincrement: isAutoincrement, rowid: rowid, hasDefault: hasDefault, isNotNull: isNotNull,
      replacements: replacements, isVirtual: isVirtual, isView: isView, isNamedByColumns: isNamedByColumns,
      localKey: localKey)
  }
}

/// A table's stored columns, in order.
public struct TableShape: Sendable {
  public let columns: [Name]
  /// The positions of the primary key's columns, in the primary key's order.
  public let key: [Int]
}

extension Database {
  /// The columns and the primary key of a table; nil if there is no such table. This function is faster than
  /// `tableInfo`.
  public func tableShape(_ name: Name) throws -> TableShape? {
    var columns: [Name] = []
    var keyPlaces: [(place: Int64, column: Int)] = []
    try each("SELECT name, pk FROM pragma_table_xinfo(:name) WHERE hidden = 0", ["name": .string(name.text)]) {
      if $0.integer(1) > 0 { keyPlaces.append(($0.integer(1), columns.count)) }
      columns.append(Name($0.text(0)))
    }
    return columns.isEmpty
      ? nil : TableShape(columns: columns, key: keyPlaces.sorted { $0.place < $1.place }.map(\.column))
  }

  /// The names of the ordinary tables. Tables that belong to SQLite or Satchel are left out.
  public func tableNames() throws -> [Name] {
    try all(
      """
      SELECT name
      FROM pragma_table_list
      WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        AND name NOT LIKE 'satchel\\_%' ESCAPE '\\'
      ORDER BY name
      """
    ) { Name($0.text(0)) }
  }

  /// The table named exactly `name`; nil if there is none.
  public func tableInfo(_ name: Name) throws -> TableInfo? {
    let kind = try first(
      "SELECT type, wr FROM pragma_table_list(:name) WHERE schema = 'main' AND name = :name COLLATE BINARY",
      ["name": .string(name.text)]
    ) { (type: $0.text(0), withoutRowid: $0.integer(1) != 0) }
    guard let kind else { return nil }

    var columns: [Name] = []
    var types: [String] = []
    var generated: [Name] = []
    var keyPlaces: [(place: Int64, column: Int)] = []
    var hasDefault: [Bool] = []
    var isNotNull: [Bool] = []
    var replacements: [Int: String] = [:]
    var names: Set<[UInt8]> = []
    try each(
      "SELECT name, type, pk, hidden, \"notnull\", dflt_value FROM pragma_table_xinfo(:name)",
      ["name": .string(name.text)]
    ) {
      names.insert(Array($0.text(0).utf8).asciiLowercased)
      // `hidden` is 2 or 3 for a generated column, and 1 for a hidden column of a virtual table.
      if $0.integer(3) > 1 { generated.append(Name($0.text(0))) }
      guard $0.integer(3) == 0 else { return }
      if $0.integer(2) > 0 { keyPlaces.append(($0.integer(2), columns.count)) }
      hasDefault.append(!$0.isNull(5))
      isNotNull.append($0.integer(4) != 0)
      if $0.integer(4) != 0 { replacements[columns.count] = $0.optionalText(5).flatMap(defaultExpression) }
      columns.append(Name($0.text(0)))
      types.append($0.text(1))
    }
    let key = keyPlaces.sorted { $0.place < $1.place }.map(\.column)
    let indexes = try uniqueIndexes(of: name, columns: columns, generated: generated)
    // An INTEGER PRIMARY KEY that is declared descending is no alias of the rowid. It is an ordinary column with its
    // own index.
    let isAlias =
      key.count == 1 && !kind.withoutRowid && types[key[0]].utf8.elementsEqual("INTEGER".utf8, by: { $0 & 0xdf == $1 })
      && !indexes.hasPrimaryKey
    return TableInfo(
      schema: TableSchema(
        name: name, columns: columns, key: key, foreignKeys: try foreignKeys(of: name, columns: columns)),
      types: types, uniqueIndexes: indexes.known, unsupportedIndexes: indexes.obscure,
      rowidAlias: isAlias ? key[0] : nil, isAutoincrement: try isAlias && mayBeAutoincrement(name),
      rowid: kind.withoutRowid ? nil : ["rowid", "_rowid_", "oid"].first { !names.contains(Array($0.utf8)) },
      hasDefault: hasDefault, isNotNull: isNotNull, replacements: replacements,
      isVirtual: kind.type == "virtual" || kind.type == "shadow",
      isView: kind.type == "view", isNamedByColumns: false, localKey: nil)
  }

  /// Whether the table's SQL contains the word AUTOINCREMENT. The word may have another meaning there. In that case,
  /// the table has no count in `sqlite_sequence`.
  private func mayBeAutoincrement(_ table: Name) throws -> Bool {
    try first(
      """
      SELECT 1
      FROM sqlite_schema
      WHERE type = 'table' AND name = :name AND sql LIKE '%autoincrement%'
        AND EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence')
      """, ["name": .string(table.text)]
    ) { _ in true } ?? false
  }

  private func foreignKeys(of table: Name, columns: [Name]) throws -> [ForeignKey] {
    struct Part {
      let id: Int64
      let parent: Name
      let from: Name
      let to: Name?
      let deletesChildren: Bool
    }
    let parts = try all(
      "SELECT id, \"table\", \"from\", \"to\", on_delete FROM pragma_foreign_key_list(:name) ORDER BY id, seq",
      ["name": .string(table.text)]
    ) {
      Part(
        id: $0.integer(0), parent: Name($0.text(1)), from: Name($0.text(2)), to: $0.optionalText(3).map { Name($0) },
        deletesChildren: Name($0.text(4)).isSameInSQL(as: "CASCADE"))
    }
    var result: [ForeignKey] = []
    for id in Set(parts.map(\.id)).sorted() {
      let group = parts.filter { $0.id == id }
      let parent = try canonicalTableName(group[0].parent) ?? group[0].parent
      let declared = try all("SELECT name FROM pragma_table_xinfo(:name)", ["name": .string(parent.text)]) {
        Name($0.text(0))
      }
      let named = group.compactMap { part in part.to.map { to in declared.first { $0.isSameInSQL(as: to) } ?? to } }
      let parentColumns = try named.count == group.count ? named : primaryKey(of: parent)
      let from = group.compactMap { part in columns.firstIndex { $0.isSameInSQL(as: part.from) } }
      guard from.count == group.count, parentColumns.count == group.count else { continue }
      result.append(
        ForeignKey(
          columns: from, parent: parent, parentColumns: parentColumns, deletesChildren: group[0].deletesChildren))
    }
    return result
  }

  /// The table's name as it was declared. A foreign key may spell this name in another case.
  private func canonicalTableName(_ name: Name) throws -> Name? {
    try first(
      "SELECT name FROM pragma_table_list(:name) WHERE schema = 'main' AND name = :name COLLATE NOCASE",
      ["name": .string(name.text)]
    ) { Name($0.text(0)) }
  }

  private func primaryKey(of table: Name) throws -> [Name] {
    try all("SELECT name FROM pragma_table_info(:name) WHERE pk > 0 ORDER BY pk", ["name": .string(table.text)]) {
      Name($0.text(0))
    }
  }
}

/// A column's default as an expression that is valid in any SQL; nil if the default is NULL.
///
/// A default may be a word without quotes or in double quotes. In a declaration this word is a text. In other SQL it
/// would be the name of a column.
func defaultExpression(_ declared: String) -> String? {
  var bytes = Array(declared.utf8)
  if bytes.first == UInt8(ascii: "\""), bytes.count > 1 {
    var inside = bytes[1..<bytes.count - 1]
    var plain: [UInt8] = []
    while let byte = inside.popFirst() {
      plain.append(byte)
      // Inside the text, each quote is written twice.
      if byte == UInt8(ascii: "\""), inside.first == byte { inside.removeFirst() }
    }
    return quotedText(String(decoding: plain, as: UTF8.self))
  }
  bytes = bytes.asciiLowercased
  if bytes == Array("null".utf8) { return nil }
  let isName = bytes.allSatisfy(isWord) && !(bytes.first.map { (48...57).contains($0) } ?? true)
  let isConstant = ["true", "false", "current_date", "current_time", "current_timestamp"].contains {
    Array($0.utf8) == bytes
  }
  return isName && !isConstant ? quotedText(declared) : "(\(declared))"
}

extension Database {
  /// Whether the table's declaration contains a conflict clause, such as ON CONFLICT REPLACE.
  public func declaresOnConflict(_ table: Name) throws -> Bool {
    let sql = try first(
      "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = :name", ["name": .string(table.text)]
    ) { $0.text(0) }
    let tokens = Array(SQLTokens(sql ?? ""))
    return zip(tokens, tokens.dropFirst()).contains { $0.isWord("on") && $1.isWord("conflict") }
  }

  /// Whether the table has a trigger that is not Satchel's.
  public func hasTriggers(on table: Name) throws -> Bool {
    try first(
      """
      SELECT 1
      FROM sqlite_schema
      WHERE type = 'trigger' AND tbl_name = :table COLLATE NOCASE AND name NOT LIKE 'satchel\\_%' ESCAPE '\\'
      """, ["table": .string(table.text)]
    ) { _ in true } ?? false
  }

  /// Whether the table has an index whose first column is this column.
  public func hasIndex(beginningWith column: Name, of table: Name) throws -> Bool {
    try first(
      """
      SELECT 1
      FROM pragma_index_list(:table) AS list JOIN pragma_index_info(list.name) AS part
      WHERE NOT list.partial AND part.seqno = 0 AND part.name = :column
      """, ["table": .string(table.text), "column": .string(column.text)]
    ) { _ in true } ?? false
  }

  /// Whether there is a table of exactly this name.
  public func hasTable(_ name: String) throws -> Bool {
    try first("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = :name", ["name": .string(name)]) { _ in true
    } ?? false
  }
}
