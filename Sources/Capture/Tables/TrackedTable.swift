import SatchelDataset
import SatchelSQLite
import SatchelValues

/// A table of the dataset in one database, ready for capture, reading and writing.
public struct TrackedTable: Sendable {
  public let info: TableInfo
  public let rules: TableRules
  let names: CaptureNames
  /// The foreign keys in `schema` that the dataset declares and the database does not.
  public let declared: [ForeignKey]

  public var schema: TableSchema { info.schema }
  public var name: Name { info.schema.name }
  /// Whether the writes of one transaction to this table are one unit.
  public var keepsUnits: Bool { names.keepsUnits }
  var captureSQL: CaptureSQL { CaptureSQL(info: info, names: names) }

  /// The most columns of a table. SQLite allows 2,000 columns in a result, and capture needs five more columns than
  /// the app's table has.
  static let maximumColumns = 1_995

  /// Finds the dataset's tables in a database, parents before children.
  ///
  /// Throws a `DatasetError` that names the first table that cannot be kept in step, and the reason.
  public static func find(_ dataset: DatasetDefinition, in database: borrowing Database) throws -> [TrackedTable] {
    if let encoding = try database.otherTextEncoding() {
      throw DatasetError(
        "tables", "the database holds its texts in \(encoding), which changes some of them when they are read",
        hint: "Make a database in UTF-8 of it: sqlite3 OLD .dump | sqlite3 NEW")
    }
    try checkKeys(dataset, in: database)
    let tables = try parentsFirst(dataset.tables.map { try find($0, of: dataset, in: database) })
    try NamedKey.checkReferences(among: tables, in: database)
    _ = try PrimaryKeyReferences(tables)
    try tables.checkFoldedParents()
    return tables
  }

  /// Finds those tables of the dataset that can be kept in step at present, parents before children.
  public static func findIntact(_ dataset: DatasetDefinition, in database: borrowing Database) throws -> [TrackedTable]
  {
    var tables: [TrackedTable] = []
    for rules in dataset.tables {
      do { tables.append(try find(rules, of: dataset, in: database)) } catch is DatasetError { continue }
    }
    return try parentsFirst(tables)
  }

  /// Throws a `DatasetError` that names all tables without a key, so that a person can correct them together.
  private static func checkKeys(_ dataset: DatasetDefinition, in database: borrowing Database) throws {
    let keyless = try dataset.tables.filter { $0.key == nil }.map(\.name).filter { name in
      guard let info = try database.tableInfo(name) else { return false }
      return !info.isView && !info.isVirtual && info.schema.key.isEmpty
    }
    if keyless.count < 2 { return }
    throw DatasetError(
      "tables", "these tables have no PRIMARY KEY: \(keyless.map(\.text).joined(separator: ", "))", hint: giveKey)
  }

  private static let giveKey = """
    Its rows have no name that two databases share. Give it one, for example a TEXT column with a UUID, or leave the \
    table out of the dataset. If columns that are NOT NULL have a UNIQUE index, they can name the rows: "key": \
    ["COLUMN"] at the table. ALTER TABLE cannot do it: create the table again (CREATE TABLE with the key, INSERT INTO \
    ... SELECT, DROP TABLE, ALTER TABLE RENAME).
    """

  private static func checkCollations(of table: TableSchema, at place: String, in database: borrowing Database) throws {
    for column in table.columns {
      guard let own = database.collation(of: column, in: table.name), !isSQLites(collation: own) else { continue }
      throw DatasetError(
        place, "its column \(column) is compared by the collation \(own), which only the app knows", hint: ownCollation)
    }
  }

  private static func isSQLites(collation: String) -> Bool {
    ["BINARY", "NOCASE", "RTRIM"].contains(collation.uppercased())
  }

  private static let ownCollation =
    "Give that column one of SQLite's own collations, or leave the table out of the dataset."

  private static func find(
    _ rules: TableRules, of dataset: DatasetDefinition, in database: borrowing Database
  ) throws -> TrackedTable {
    let place = "tables.\(rules.name)"
    guard let found = try database.tableInfo(rules.name) else {
      let hint = DatasetError.hint(for: rules.name, among: try database.tableNames(), of: "It")
      throw DatasetError(place, "the database has no such table", hint: hint)
    }
    if found.isView || found.isVirtual { throw notATable(at: place) }
    let named = try NamedKey.apply(rules, to: found, in: database)
    let (info, declared) = try named.referring(
      by: rules.references, of: dataset, at: "\(place).references", in: database)
    try check(info, at: place)
    try checkCollations(of: found.schema, at: place, in: database)
    try check(rules.keys, of: info, at: "\(place).keys")
    try checkUnit(info, rules, of: dataset)
    if rules.unique == .fold { try checkFold(info, at: "\(place).unique") }
    if case .soft(let column) = rules.delete {
      try NamedKey.refuseLocal(column, of: info, at: "\(place).deleted")
      guard let position = info.schema.position(of: column), !info.schema.key.contains(position) else {
        throw info.missing(column, at: "\(place).deleted", "the table has no column \(column) beside its key")
      }
    }
    for column in rules.columns.keys.sorted() where info.schema.position(of: column) == nil {
      try NamedKey.refuseLocal(column, of: info, at: "\(place).columns.\(column)")
      throw info.missing(
        column, at: "\(place).columns.\(column)", "the table has no column of this name; generated columns do not count"
      )
    }
    if let column = rules.label {
      try NamedKey.refuseLocal(column, of: info, at: "\(place).label")
      if info.schema.position(of: column) == nil {
        throw info.missing(
          column, at: "\(place).label", "the table has no column of this name; generated columns do not count")
      }
    }
    for column in rules.attachments {
      try NamedKey.refuseLocal(column, of: info, at: "\(place).attachments")
      guard let position = info.schema.position(of: column), !info.schema.key.contains(position) else {
        throw info.missing(
          column, at: "\(place).attachments",
          "the table has no column \(column) beside its key; generated columns do not count")
      }
    }
    return TrackedTable(
      info: info, rules: rules, names: CaptureNames(info.schema, unit: rules.unit),
      declared: declared)
  }

  private static func notATable(at place: String) -> DatasetError {
    DatasetError(
      place, "it is a view or a virtual table",
      hint:
        """
        Name the tables from which it gets its rows. Their triggers keep an R-tree or an index for full-text search \
        true.
        """
    )
  }

  private static func check(_ info: TableInfo, at place: String) throws {
    if info.schema.name.isSameInSQL(as: "gpkg_ogr_contents") {
      throw DatasetError(
        place, "GIS tools store feature counts in this table, and each replica has its own counts",
        hint: "Leave it out: triggers keep it true when a bundle is imported.")
    }
    if info.schema.key.isEmpty {
      throw DatasetError(
        place, "the table has no PRIMARY KEY", hint: giveKey)
    }
    if info.schema.columns.count > maximumColumns {
      throw DatasetError(
        place, "the table has \(info.schema.columns.count) columns; at most \(maximumColumns) can be captured")
    }
    for index in info.uniqueIndexes {
      guard let own = index.parts.map(\.collation).first(where: { !isSQLites(collation: $0) }) else { continue }
      throw DatasetError(
        place, "its key or one of its UNIQUE indexes compares by the collation \(own), which only the app knows",
        hint: ownCollation)
    }
    if let index = info.unsupportedIndexes.first {
      throw DatasetError(
        place,
        """
        the UNIQUE index \(index) is over an expression that compares something or uses a generated column, and what \
        INSERT OR REPLACE deletes through it cannot be captured
        """,
        hint: "Put the comparison behind WHERE, or leave the table out of the dataset.")
    }
    let isSpecial = ["old", "new"].contains { info.schema.name.isSameInSQL(as: $0) }
    if isSpecial, let index = info.uniqueIndexes.first(where: \.namesTable) {
      throw DatasetError(
        place,
        """
        the condition of the UNIQUE index \(index.name) names the table, and \(info.schema.name) means something else \
        in a trigger
        """,
        hint: "Say the columns' names alone behind WHERE.")
    }
  }

  /// Throws a `DatasetError` if the rule for keys does not fit the table. Only a key that SQLite chooses can change
  /// without harm to the app.
  private static func check(_ rule: KeyRule, of info: TableInfo, at place: String) throws {
    if rule == .asIs { return }
    guard let key = info.rowidAlias else {
      throw DatasetError(
        place, "\"\(rule.rawValue)\" is for tables whose key is a single INTEGER PRIMARY KEY, which SQLite assigns",
        hint: "Leave it out: keys are then taken as they are.")
    }
    if info.schema.foreignKeys.contains(where: { $0.columns.contains(key) }) {
      throw DatasetError(
        place, "the table's key is a reference to another table's row",
        hint: "Set it for that table: if its keys change, these follow.")
    }
    if rule == .blocks, !info.isAutoincrement {
      throw DatasetError(
        place,
        """
        SQLite counts the keys of this table from its greatest one on, so no range can be kept for a replica: it \
        lacks AUTOINCREMENT
        """,
        hint: "Say \"rekey\", or declare the key INTEGER PRIMARY KEY AUTOINCREMENT.")
    }
  }

  /// The foreign keys by which a row inherits the visibility of its parents.
  public func parentKeys(in dataset: DatasetDefinition) -> [ForeignKey] {
    schema.foreignKeys.filter { key in
      guard key.parent != name, dataset.rules(for: key.parent) != nil else { return false }
      return rules.parents?.contains(key.parent) ?? true
    }
  }

  /// The foreign keys from the table to itself by which visibility is inherited. They make the rows a tree.
  public var treeKeys: [ForeignKey] {
    schema.foreignKeys.filter { $0.parent == name && (rules.parents?.contains(name) ?? true) }
  }

  /// Sorts tables so that each comes after the tables to which it refers. Tables in a circle of references keep the
  /// order of the definition.
  static func parentsFirst(_ tables: [TrackedTable]) throws -> [TrackedTable] {
    var rest = tables
    var ordered: [TrackedTable] = []
    while !rest.isEmpty {
      let waiting = Set(rest.map(\.name))
      let next = rest.firstIndex { table in
        table.schema.foreignKeys.allSatisfy { $0.parent == table.name || !waiting.contains($0.parent) }
      }
      ordered.append(rest.remove(at: next ?? 0))
    }
    return ordered
  }
}

extension TrackedTable {
  /// The condition that finds a row by the values of its key: `?1`, `?2` and so on. The first comparison uses the
  /// column's collation, for which there is an index. The second compares bytes.
  public var isKeySQL: String {
    schema.key.enumerated().map { place, column in
      let name = quoted(schema.columns[column])
      return "\(name) = ?\(place + 1) AND \(name) = ?\(place + 1) COLLATE BINARY"
    }.joined(separator: " AND ")
  }

  /// Whether a key of the table may have several spellings. A column without a type stores 1 and 1.0 as different
  /// values, but they are the same key.
  public var keepsSpellings: Bool {
    schema.key.contains { column in
      let type = info.types[column]
      // The type ANY counts in each table, for simplicity. Only in a STRICT table it keeps 1 and 1.0 apart.
      return Comparison.Affinity(ofDeclared: type) == .none || type.uppercased() == "ANY"
    }
  }

  /// SQL for the keys of all rows.
  public var allKeysSQL: String {
    "SELECT \(quotedList(schema.key.map { schema.columns[$0] })) FROM \(quoted(name))"
  }

  /// SQL for all columns of all rows, in the order of the keys.
  public var allRowsSQL: String {
    """
    SELECT \(quotedList(schema.columns)) FROM \(quoted(name)) ORDER BY \
    \(quotedList(schema.key.map { schema.columns[$0] }))
    """
  }
}

extension TrackedTable {
  /// SQL for all columns of all rows without NULL in their key, in any order.
  public var namedRowsSQL: String {
    "SELECT \(quotedList(schema.columns)) FROM \(quoted(name)) WHERE NOT (\(isNamelessSQL))"
  }

  /// SQL for all columns of all rows without NULL in their key, in the order of the keys.
  public var namedRowsInOrderSQL: String {
    "\(namedRowsSQL) ORDER BY \(quotedList(schema.key.map { schema.columns[$0] }))"
  }
}

extension TrackedTable {
  /// The number of rows.
  public func count(in database: borrowing Database) throws -> Int64 {
    try database.first("SELECT count(*) FROM \(quoted(name))") { $0.integer(0) } ?? 0
  }

  /// The number of rows with NULL in their key. No bundle can carry such a row. SQLite allows these keys in tables
  /// that are neither STRICT nor WITHOUT ROWID.
  public func namelessRows(in database: borrowing Database) throws -> Int64 {
    try database.first("SELECT count(*) FROM \(quoted(name)) WHERE \(isNamelessSQL)") { $0.integer(0) } ?? 0
  }

  var isNamelessSQL: String { schema.key.map { "\(quoted(schema.columns[$0])) IS NULL" }.joined(separator: " OR ") }
}

extension TableInfo {
  /// The error for a definition that names a column that the table does not have.
  func missing(_ column: Name, at place: String, _ problem: String) -> DatasetError {
    DatasetError(place, problem, hint: DatasetError.hint(for: column, among: schema.columns, of: "It"))
  }
}
