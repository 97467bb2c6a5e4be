import SatchelDataset
import SatchelSQLite
import SatchelValues

/// The columns that hold keys which may change: keys of tables with such a rule, and references to them at any depth.
public struct PrimaryKeyReferences: Sendable {
  /// For each table, by the column's position: the index of the table whose keys are in the column.
  public let columns: [[Int: Int]]

  /// Throws a `DatasetError` if one column refers to two tables whose keys may change: one value cannot follow both.
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

  /// Whether no key of this dataset ever changes.
  public var isEmpty: Bool { columns.allSatisfy(\.isEmpty) }
}

extension TrackedTable {
  /// Whether a row of this table may get another key, because another row has its key.
  public var givesNewKeys: Bool { rules.keys != .asIs }

  /// Whether a row's key may change later, by the rule for keys or by folding. The key is then a single column.
  public var renamesRows: Bool { givesNewKeys || folds }

  /// The value that is a row's key, if the key may change later; nil in other tables.
  public func singleKey(_ key: RowKey) -> Value? { renamesRows && key.values.count == 1 ? key.values[0] : nil }

  /// Returns the key of this table to which a value in a referring column refers, in the storage class that the key has
  /// here. If keys are whole numbers, SQLite also accepts an equal REAL or TEXT value in the referring column.
  public func key(namedBy value: Value) -> Value {
    if info.rowidAlias == nil { return value }
    switch value {
    case .real(let number): return Int64(exactly: number).map { .integer($0) } ?? value
    case .text(let bytes): return Int64(String(decoding: bytes, as: UTF8.self)).map { .integer($0) } ?? value
    case .null, .integer, .blob: return value
    }
  }

  /// The number that is a row's key; nil in tables with other keys.
  public func number(of key: RowKey) -> Int64? {
    guard info.rowidAlias != nil, case .integer(let number)? = key.values.first else { return nil }
    return number
  }

  /// The greatest key of a present row; 0 if there is no positive key.
  public func greatestRow(in database: borrowing Database) throws -> Int64 {
    guard let alias = info.rowidAlias else { return 0 }
    return try database.first("SELECT max(\(quoted(schema.columns[alias]))) FROM \(quoted(name))") { $0.integer(0) }
      ?? 0
  }

  /// The greatest key of a present row below `key`; nil: there is no such row.
  public func greatestRow(below key: Int64, in database: borrowing Database) throws -> Int64? {
    guard let alias = info.rowidAlias else { return nil }
    let column = quoted(schema.columns[alias])
    return try database.first(
      "SELECT max(\(column)) FROM \(quoted(name)) WHERE \(column) < :key", ["key": .integer(key)]
    ) { $0.optionalInteger(0) } ?? nil
  }

  /// The name of the table that holds the pre-images of this table.
  public var savedName: Name { names.before }

  /// The greatest number that was ever a key here, as far as this database knows; 0 if there was none.
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
