import SatchelSQLite
import SatchelValues

/// The table `satchel_columns`: the declarations of columns at the time when capture was installed.
///
/// Capture's own tables have no types, so that values keep their storage class. If an app creates its table again
/// with other types, its values change, but the names of the columns and the triggers do not. Only this record shows
/// that change.
enum DeclaredColumns {
  static let schema = """
    CREATE TABLE satchel_columns (
      table_name TEXT NOT NULL,
      name TEXT NOT NULL,
      type TEXT NOT NULL,        -- as it was declared
      collation TEXT NOT NULL,
      strict INTEGER NOT NULL,   -- whether the table was STRICT
      former TEXT,               -- its name at the hub, if an app gave it another one here; NULL: the same
      PRIMARY KEY (table_name, name)
    ) WITHOUT ROWID
    """

  /// Records the present columns of a table. The caller has begun the transaction.
  /// - Parameter renamed: the columns that an app renamed: their name at the hub by their name in this database.
  static func note(_ table: Name, renamed: [Name: Name] = [:], in database: borrowing Database) throws {
    if try !database.hasTable("satchel_columns") { try database.execute(schema) }
    try forget(table, in: database)
    for column in try database.columnDeclarations(of: table) {
      try database.run(
        "INSERT INTO satchel_columns VALUES (:table, :name, :type, :collation, :strict, :former)",
        [
          "table": .string(table.text), "name": .string(column.name.text), "type": .string(column.type),
          "collation": .string(column.collation), "strict": .integer(column.isStrict ? 1 : 0),
          "former": renamed[column.name].map { .string($0.text) } ?? .null,
        ])
    }
  }

  /// The columns that have another name in this database than at the hub: the hub's name by this database's name. A
  /// column that has the hub's name again is not included.
  static func renamed(in table: Name, _ mapping: ColumnMapping?, _ database: borrowing Database) throws -> [Name: Name]
  {
    guard try database.hasTable("satchel_columns") else { return [:] }
    let known = try database.all(
      "SELECT name, coalesce(former, name) FROM satchel_columns WHERE table_name = :table",
      ["table": .string(table.text)]
    ) { (name: Name($0.text(0)), former: Name($0.text(1))) }
    var renamed: [Name: Name] = [:]
    for column in known {
      guard let name = mapping.map({ $0.current(column.name) }) ?? column.name, name != column.former else { continue }
      renamed[name] = column.former
    }
    return renamed
  }

  static func forget(_ table: Name, in database: borrowing Database) throws {
    guard try database.hasTable("satchel_columns") else { return }
    try database.run("DELETE FROM satchel_columns WHERE table_name = :table", ["table": .string(table.text)])
  }

  /// The recorded columns of a table; empty if there is no record.
  static func noted(_ table: Name, in database: borrowing Database) throws -> [ColumnDeclaration] {
    guard try database.hasTable("satchel_columns") else { return [] }
    return try database.all(
      "SELECT name, type, collation, strict FROM satchel_columns WHERE table_name = :table",
      ["table": .string(table.text)]
    ) {
      ColumnDeclaration(name: Name($0.text(0)), type: $0.text(1), collation: $0.text(2), isStrict: $0.integer(3) != 0)
    }
  }

  /// All records as bytes, for comparison; empty if there are none.
  static func bytes(in database: borrowing Database) throws -> [UInt8] {
    guard try database.hasTable("satchel_columns") else { return [] }
    return try database.bytes(
      ofRows: "SELECT table_name, name, type, collation, strict FROM satchel_columns ORDER BY table_name, name")
  }
}

extension Capture {
  /// The columns of these tables that an app renamed in this database: the hub's name and the present name.
  public static func renamedColumns(
    of tables: [TrackedTable], in database: borrowing Database
  ) throws -> [(table: Name, from: Name, to: Name)] {
    try tables.flatMap { table in
      try DeclaredColumns.renamed(in: table.name, nil, database).sorted { $0.key < $1.key }
        .filter { table.schema.position(of: $0.key) != nil }
        .map { (table: table.name, from: $0.value, to: $0.key) }
    }
  }

  /// Records the columns of each captured table in a database from a release without these records. The caller has
  /// begun the transaction.
  public static func noteColumns(in database: borrowing Database) throws {
    let tables = try database.all(
      """
      SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'satchel\\_before\\_%' ESCAPE '\\' ORDER BY \
      name
      """
    ) { Name(String($0.text(0).dropFirst("satchel_before_".count))) }
    for table in tables { try DeclaredColumns.note(table, in: database) }
  }
}

/// A column whose declaration changed in such a way that its values change, or that SQLite compares them differently.
struct ChangedColumn {
  let name: Name
  let words: String

  /// The columns of a table with such a change.
  /// - Parameter noted: the recorded columns of the table.
  static func find(
    in table: TrackedTable, _ mapping: ColumnMapping, noted: [ColumnDeclaration], _ database: borrowing Database
  ) throws -> [ChangedColumn] {
    let now = try database.columnDeclarations(of: table.name)
    return noted.compactMap { old in
      guard let name = mapping.current(old.name), let new = now.first(where: { $0.name == name }) else { return nil }
      return new.difference(from: old).map { ChangedColumn(name: name, words: "\(name) \($0)") }
    }
  }
}

extension ChangedColumn {
  /// A description if SQLite now numbers new rows and did not before, or the other way round; nil otherwise. SQLite
  /// numbers new rows only if the type of the key is INTEGER. A type such as INT stores and compares values in the
  /// same way, so no other check finds this change.
  /// - Parameter noted: the recorded columns of the table.
  static func changedNumbering(
    of table: TrackedTable, _ mapping: ColumnMapping, noted: [ColumnDeclaration]
  ) -> String? {
    // In a table WITHOUT ROWID, SQLite never numbers rows, and refuses NULL in the key.
    guard table.schema.key.count == 1, !table.info.isNamedByColumns, table.info.rowid != nil else { return nil }
    let name = table.schema.columns[table.schema.key[0]]
    let type = table.info.types[table.schema.key[0]]
    let isNumbered = table.info.rowidAlias != nil
    guard
      let old = noted.first(where: { mapping.current($0.name) == name }),
      type.isWordInteger != old.type.isWordInteger, isNumbered == type.isWordInteger
    else { return nil }
    return isNumbered
      ? "\(name) is INTEGER now, was \(old.typeWords), so SQLite numbers new rows"
      : "\(name) is \(type.isEmpty ? "without a type" : type) now, was INTEGER, so new rows may have no key"
  }
}

extension String {
  fileprivate var isWordInteger: Bool { uppercased() == "INTEGER" }
}

extension ColumnDeclaration {
  /// The difference as text that follows the column's name; nil if values are stored and compared in the same way.
  fileprivate func difference(from old: ColumnDeclaration) -> String? {
    // Most columns are unchanged and return here. Every command runs this code. Types are compared as bytes, as SQLite
    // does.
    if Name(type) == Name(old.type), isStrict == old.isStrict, collation == old.collation { return nil }
    var words: [String] = []
    if affinity != old.affinity { words.append("is \(typeWords) now, was \(old.typeWords)") }
    if collation.uppercased() != old.collation.uppercased() {
      words.append("is compared by \(collation) now, was by \(old.collation)")
    }
    return words.isEmpty ? nil : words.joined(separator: " and ")
  }

  fileprivate var typeWords: String { type.isEmpty ? "without a type" : type }
}
