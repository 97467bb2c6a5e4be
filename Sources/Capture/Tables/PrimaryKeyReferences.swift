import SatchelDataset
import SatchelSQLite
import SatchelValues

/// The columns with keys that may change: the keys of tables with `rekey`, `blocks` or `fold`, and all references to
/// them.
public struct PrimaryKeyReferences: Sendable {
  /// For each table: the position of each such column, with the index of the table whose keys the column holds.
  public let columns: [[Int: Int]]

  /// Throws a `DatasetError` if a column refers to two tables whose keys may change. Its value could not follow both.
  public init(_ tables: [TrackedTable]) throws {
    var columns = tables.map { _ in [Int: Int]() }
    for (place, table) in tables.enumerated() where table.renamesRows { columns[place][table.schema.key[0]] = place }
    var isGrowing = columns.contains { !$0.isEmpty }
    while isGrowing {
      isGrowing = false
      for (place, table) in tables.enumerated() {
        for (column, owner) in Self.references(of: table, to: tables, columns) {
          if let known = columns[place][column], known != owner {
            throw DatasetError(
              "tables.\(tables[owner].name)",
              """
              the column \(table.schema.columns[column]) of \(table.name) refers to keys of \(tables[owner].name) and \
              of \(tables[known].name) at once, and both may change
              """,
              hint: "Leave the keys of one of them as they are: without \"keys\" and \"unique\".")
          }
          if columns[place].updateValue(owner, forKey: column) == nil { isGrowing = true }
        }
      }
    }
    self.columns = columns
  }

  private static func references(
    of table: TrackedTable, to tables: [TrackedTable], _ known: [[Int: Int]]
  ) -> [(column: Int, owner: Int)] {
    table.schema.foreignKeys.flatMap { key -> [(column: Int, owner: Int)] in
      guard let parent = tables.firstIndex(where: { $0.name == key.parent }) else { return [] }
      return zip(key.columns, key.parentColumns).compactMap { column, name in
        tables[parent].schema.position(of: name).flatMap { known[parent][$0] }.map { (column, $0) }
      }
    }
  }

  /// Whether no key of this dataset can change.
  public var isEmpty: Bool { columns.allSatisfy(\.isEmpty) }
}

extension TrackedTable {
  /// Whether a new row gets another key if another row has its key.
  public var givesNewKeys: Bool { rules.keys != .asIs }

  /// Whether the key of a row may change, by the rule for keys or by a fold. Such a key is a single column.
  public var renamesRows: Bool { givesNewKeys || folds }

  /// The value of a row's key if the key may change; nil otherwise.
  public func singleKey(_ key: RowKey) -> Value? { renamesRows && key.values.count == 1 ? key.values[0] : nil }

  /// The key of this table that a value in a referring column means. SQLite lets a REAL or TEXT value refer to an
  /// equal whole number. So such a value is converted to a whole number.
  public func key(namedBy value: Value) -> Value {
    if info.rowidAlias == nil { return value }
    switch value {
    case .real(let number): return Int64(exactly: number).map { .integer($0) } ?? value
    case .text(let bytes): return Int64(String(decoding: bytes, as: UTF8.self)).map { .integer($0) } ?? value
    case .null, .integer, .blob: return value
    }
  }

  /// The number in a row's key; nil if the table has no INTEGER PRIMARY KEY as its key.
  public func number(of key: RowKey) -> Int64? {
    guard info.rowidAlias != nil, case .integer(let number)? = key.values.first else { return nil }
    return number
  }

  /// The greatest key of a present row; 0 if no key is positive.
  public func greatestRow(in database: borrowing Database) throws -> Int64 {
    guard let alias = info.rowidAlias else { return 0 }
    return try database.first("SELECT max(\(quoted(schema.columns[alias]))) FROM \(quoted(name))") { $0.integer(0) }
      ?? 0
  }

  /// The greatest key of a present row that is below `key`; nil if there is none.
  public func greatestRow(below key: Int64, in database: borrowing Database) throws -> Int64? {
    guard let alias = info.rowidAlias else { return nil }
    let column = quoted(schema.columns[alias])
    return try database.first(
      "SELECT max(\(column)) FROM \(quoted(name)) WHERE \(column) < :key", ["key": .integer(key)]
    ) { $0.optionalInteger(0) } ?? nil
  }

  /// The name of the table with the pre-images of this table.
  public var savedName: Name { names.before }

  /// The greatest number that is known to have been a key in this database; 0 if there was none.
  public func greatestKey(in database: borrowing Database) throws -> Int64 {
    guard let alias = info.rowidAlias else { return 0 }
    let column = quoted(schema.columns[alias])
    var greatest = try greatestRow(in: database)
    greatest = max(
      greatest, try database.first("SELECT max(\(column)) FROM \(quoted(names.before))") { $0.integer(0) } ?? 0)
    if info.isAutoincrement {
      let counted = try database.first(
        "SELECT seq FROM sqlite_sequence WHERE name = :name", ["name": .string(name.text)]
      ) {
        $0.integer(0)
      }
      greatest = max(greatest, counted ?? 0)
    }
    return greatest
  }
}
