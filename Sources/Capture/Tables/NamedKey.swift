import SatchelDataset
import SatchelSQLite
import SatchelValues

/// Tables whose rows are identified by the UNIQUE columns that the dataset names with `key`, and not by the PRIMARY
/// KEY.
///
/// If such a table has an INTEGER PRIMARY KEY, it is a local key: each database assigns it by itself, and no bundle
/// carries it.
enum NamedKey {
  /// Returns the table with the key that the rules name.
  ///
  /// Throws a `DatasetError` if the named columns cannot identify rows, or if another part of the table depends on
  /// its local key.
  static func apply(_ rules: TableRules, to info: TableInfo, in database: borrowing Database) throws -> TableInfo {
    guard let columns = rules.key else { return info }
    let place = "tables.\(rules.name).key"
    let key = try positions(of: columns, in: info, at: place)
    // The named columns are the PRIMARY KEY, so nothing changes.
    if key == info.schema.key { return info }
    if let column = key.first(where: { $0 == info.rowidAlias }) {
      throw DatasetError(
        place, "\(info.schema.columns[column]) is the table's INTEGER PRIMARY KEY, which is unique by itself",
        hint: "Name it alone, or name other columns alone.")
    }
    try checkNotNull(key, info, at: place)
    try checkIndex(of: key, info, at: place, in: database)
    try checkLocalKey(of: info, at: place)
    if info.rowidAlias != nil, rules.keys != .asIs {
      throw DatasetError(
        "tables.\(rules.name).keys",
        "\"\(rules.keys.rawValue)\" is for whole numbers that name rows, and \(named(key, info)) names the rows here",
        hint: "Leave \"keys\" out. Each replica assigns its own PRIMARY KEY, and Satchel never compares these keys.")
    }
    return info.named(by: key)
  }

  /// The table with exactly this name, with the key that the dataset names; nil if there is no such table. Throws a
  /// `DatasetError` as `apply` does.
  static func info(
    of name: Name, by dataset: DatasetDefinition, in database: borrowing Database
  ) throws -> TableInfo? {
    guard let info = try database.tableInfo(name) else { return nil }
    return try dataset.rules(for: name).map { try apply($0, to: info, in: database) } ?? info
  }

  private static func named(_ key: [Int], _ info: TableInfo) -> String {
    key.map { info.schema.columns[$0].text }.joined(separator: ", ")
  }

  private static func positions(of columns: [Name], in info: TableInfo, at place: String) throws -> [Int] {
    try columns.map { column in
      if let position = info.schema.position(of: column) { return position }
      throw info.missing(column, at: place, "the table has no column \(column); generated columns do not count")
    }
  }

  private static func checkNotNull(_ key: [Int], _ info: TableInfo, at place: String) throws {
    guard let column = key.first(where: { !info.isNotNull[$0] }) else { return }
    throw DatasetError(
      place, "the column \(info.schema.columns[column]) may be NULL, and such a row could not be identified",
      hint: "Declare it NOT NULL. " + makeAnew)
  }

  private static let makeAnew = """
    ALTER TABLE cannot do it: create the table again (CREATE TABLE, INSERT INTO ... SELECT, DROP TABLE, ALTER TABLE \
    RENAME). docs/GEOPACKAGE.md shows it for a layer.
    """

  /// Throws a `DatasetError` if the key has no suitable UNIQUE index. An index with another collation than its
  /// columns is not suitable, because SQLite does not use it to find rows.
  private static func checkIndex(
    of key: [Int], _ info: TableInfo, at place: String, in database: borrowing Database
  ) throws {
    let declared = try database.columnDeclarations(of: info.schema.name)
    func collation(_ column: Int) -> String? {
      declared.first { $0.name == info.schema.columns[column] }?.collation.uppercased()
    }
    let isThere = info.uniqueIndexes.contains { index in
      index.condition == nil && index.parts.allSatisfy { $0.column != nil }
        && index.parts.compactMap(\.column).sorted() == key.sorted()
        && index.parts.allSatisfy { part in part.column.flatMap(collation) == part.collation.uppercased() }
    }
    if isThere { return }
    let (table, columns) = (info.schema.name, key.map { info.schema.columns[$0] })
    throw DatasetError(
      place, "no UNIQUE index says that there is one row for each \(named(key, info))",
      hint: """
        It must be over just these columns, by their own collations, and without a condition: \
        CREATE UNIQUE INDEX \(quoted(Name("\(table)_key"))) ON \(quoted(table)) (\(quotedList(columns)))
        """)
  }

  /// Throws a `DatasetError` if an index or a reference uses the local key. Its values differ between replicas.
  private static func checkLocalKey(of info: TableInfo, at place: String) throws {
    guard let local = info.rowidAlias else { return }
    let name = info.schema.columns[local]
    if let reference = info.schema.foreignKeys.first(where: { $0.columns.contains(local) }) {
      throw DatasetError(
        place, "the table's PRIMARY KEY \(name) refers to \(reference.parent), and it would be local to each replica",
        hint: "Put the reference into a column of its own.")
    }
    if let index = info.uniqueIndexes.first(where: { $0.mentions(name) }) {
      throw DatasetError(
        place, "the UNIQUE index \(index.name) depends on \(name), which each replica assigns by itself",
        hint: "Drop the index, or make one over columns that are carried.")
    }
  }

  /// Throws a `DatasetError` if a rule of the dataset names the local key, because no bundle carries that key.
  static func refuseLocal(_ column: Name, of info: TableInfo, at place: String) throws {
    guard column == info.localKey else { return }
    throw DatasetError(
      place, "each replica assigns the table's PRIMARY KEY \(column) by itself, and bundles do not carry it",
      hint: "Name a column that is carried.")
  }

  /// Throws a `DatasetError` if a table refers to a local key. Such a reference would lead to another row on each
  /// replica.
  static func checkReferences(among tables: [TrackedTable], in database: borrowing Database) throws {
    let local = tables.filter { $0.info.localKey != nil }
    if local.isEmpty { return }
    for table in tables {
      for reference in table.schema.foreignKeys {
        guard let parent = local.first(where: { $0.name == reference.parent }), let key = parent.info.localKey,
          reference.parentColumns.contains(where: { $0.isSameInSQL(as: key) })
        else { continue }
        let own = reference.columns.map { table.schema.columns[$0].text }.joined(separator: ", ")
        let names = parent.keyColumns.map(\.text).joined(separator: ", ")
        throw DatasetError(
          "tables.\(table.name)",
          "its column \(own) refers to \(key) of \(parent.name), which each replica assigns by itself",
          hint: "Refer to \(names) of \(parent.name) instead: it identifies the same row everywhere.")
      }
    }
  }
}

extension TrackedTable {
  /// The columns that identify a row, in the order of the key.
  public var keyColumns: [Name] { schema.key.map { schema.columns[$0] } }

  /// The columns of the table with this name in another database, without a local key; nil if there is no such table.
  ///
  /// The other database may have another version of the dataset, with other columns.
  public func carriedColumns(in database: borrowing Database) throws -> [Name]? {
    guard let info = try database.tableInfo(name) else { return nil }
    guard self.info.isNamedByColumns, let local = info.rowidAlias else { return info.schema.columns }
    return info.schema.columns.enumerated().filter { $0.offset != local }.map(\.element)
  }

  /// Whether the table with this name in another database has the columns of this table's key. For example, a
  /// snapshot has the table as its sender declared it.
  public func hasSameKey(in database: borrowing Database) throws -> Bool {
    guard let theirs = try database.tableInfo(name) else { return false }
    if info.isNamedByColumns {
      guard let columns = try carriedColumns(in: database) else { return false }
      return keyColumns.allSatisfy(columns.contains)
    }
    return theirs.schema.key.map { theirs.schema.columns[$0] } == keyColumns
  }
}
