import SatchelValues

/// A UNIQUE or PRIMARY KEY index: what SQLite may delete a row for when a statement says OR REPLACE.
public struct UniqueIndex: Hashable, Sendable {
  /// One part of the index: a stored column's position, and the collation by which the index compares it.
  public struct Part: Hashable, Sendable {
    public let column: Int
    public let collation: String

    public init(column: Int, collation: String) {
      self.column = column
      self.collation = collation
    }
  }

  public let name: String
  public let parts: [Part]
}

/// Everything about one table that writing triggers and rows for it needs.
public struct TableInfo: Sendable {
  public let schema: TableSchema
  /// Declared types, in the order of the schema's columns.
  public let types: [String]
  public let uniqueIndexes: [UniqueIndex]
  /// Names of UNIQUE indexes over expressions, whose victims cannot be found by columns.
  public let expressionIndexes: [String]
  /// The position of the INTEGER PRIMARY KEY, for which SQLite makes a value when none is given.
  public let rowidAlias: Int?
  public let isVirtual: Bool
  public let isView: Bool
}

extension Database {
  /// The names of the ordinary tables, without SQLite's and Satchel's own.
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

  /// What the table called exactly `name` looks like; nil where there is none.
  public func tableInfo(_ name: Name) throws -> TableInfo? {
    let kind = try first(
      "SELECT type, wr FROM pragma_table_list WHERE schema = 'main' AND name = :name COLLATE BINARY", ["name": .string(name.text)]
    ) { (type: $0.text(0), withoutRowid: $0.integer(1) != 0) }
    guard let kind else { return nil }

    var columns: [Name] = []
    var types: [String] = []
    var keyPlaces: [(place: Int64, column: Int)] = []
    try each("SELECT name, type, pk, hidden FROM pragma_table_xinfo(:name)", ["name": .string(name.text)]) {
      // 2 and 3 are generated columns: they follow from the others; 1 belongs to virtual tables.
      guard $0.integer(3) == 0 else { return }
      if $0.integer(2) > 0 { keyPlaces.append(($0.integer(2), columns.count)) }
      columns.append(Name($0.text(0)))
      types.append($0.text(1))
    }
    let key = keyPlaces.sorted { $0.place < $1.place }.map(\.column)
    let indexes = try uniqueIndexes(of: name, columns: columns)
    // With a descending key the column is an ordinary one and has an index of its own.
    let isAlias =
      key.count == 1 && !kind.withoutRowid && types[key[0]].utf8.elementsEqual("INTEGER".utf8, by: { $0 & 0xdf == $1 })
      && !indexes.hasPrimaryKey
    return TableInfo(
      schema: TableSchema(name: name, columns: columns, key: key, foreignKeys: try foreignKeys(of: name, columns: columns)),
      types: types, uniqueIndexes: indexes.byColumn, expressionIndexes: indexes.byExpression,
      rowidAlias: isAlias ? key[0] : nil, isVirtual: kind.type == "virtual" || kind.type == "shadow", isView: kind.type == "view")
  }

  private func foreignKeys(of table: Name, columns: [Name]) throws -> [ForeignKey] {
    struct Part {
      let id: Int64
      let parent: Name
      let from: Name
      let to: Name?
    }
    let parts = try all(
      "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(:name) ORDER BY id, seq", ["name": .string(table.text)]
    ) { Part(id: $0.integer(0), parent: Name($0.text(1)), from: Name($0.text(2)), to: $0.optionalText(3).map { Name($0) }) }
    var result: [ForeignKey] = []
    for id in Set(parts.map(\.id)).sorted() {
      let group = parts.filter { $0.id == id }
      let parent = try canonicalTableName(group[0].parent) ?? group[0].parent
      let parentColumns = try group.allSatisfy { $0.to != nil } ? group.compactMap(\.to) : primaryKey(of: parent)
      let from = group.compactMap { part in columns.firstIndex { $0.text.lowercased() == part.from.text.lowercased() } }
      guard from.count == group.count, parentColumns.count == group.count else { continue }
      result.append(ForeignKey(columns: from, parent: parent, parentColumns: parentColumns))
    }
    return result
  }

  /// The table's name as it was declared; foreign keys may spell it in another case.
  private func canonicalTableName(_ name: Name) throws -> Name? {
    try first(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name = :name COLLATE NOCASE", ["name": .string(name.text)]
    ) { Name($0.text(0)) }
  }

  private func primaryKey(of table: Name) throws -> [Name] {
    try all("SELECT name FROM pragma_table_info(:name) WHERE pk > 0 ORDER BY pk", ["name": .string(table.text)]) {
      Name($0.text(0))
    }
  }

  private struct Indexes {
    var byColumn: [UniqueIndex] = []
    var byExpression: [String] = []
    var hasPrimaryKey = false
  }

  private func uniqueIndexes(of table: Name, columns: [Name]) throws -> Indexes {
    var result = Indexes()
    let list = try all(
      "SELECT name, origin FROM pragma_index_list(:name) WHERE \"unique\" ORDER BY name", ["name": .string(table.text)]
    ) { (name: $0.text(0), origin: $0.text(1)) }
    for index in list {
      let parts = try all(
        "SELECT name, coll FROM pragma_index_xinfo(:name) WHERE key ORDER BY seqno", ["name": .string(index.name)]
      ) { (column: $0.optionalText(0).map { Name($0) }, collation: $0.text(1)) }
      if index.origin == "pk" { result.hasPrimaryKey = true }
      let known = parts.compactMap { part in
        part.column.flatMap { columns.firstIndex(of: $0) }.map { UniqueIndex.Part(column: $0, collation: part.collation) }
      }
      if known.count == parts.count {
        result.byColumn.append(UniqueIndex(name: index.name, parts: known))
      } else {
        result.byExpression.append(index.name)
      }
    }
    return result
  }
}

extension Database {
  /// Whether there is a table of exactly this name.
  public func hasTable(_ name: String) throws -> Bool {
    try first("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = :name", ["name": .string(name)]) { _ in true } ?? false
  }
}
