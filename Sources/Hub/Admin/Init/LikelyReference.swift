import SatchelCapture
import SatchelSQLite
import SatchelValues

/// A column that looks like a reference by its name, but that neither the database nor the dataset declares as one.
struct LikelyReference {
  let child: Name
  let column: Name
  /// Whether the table is in the dataset.
  let isKept: Bool
  /// The part of the column's name that may name a table, for example "tree" for "tree_fid" and "Tree_ID".
  private let stem: String

  /// Finds columns of this kind in the tables of the dataset, and in the app's other tables.
  static func find(among tables: [TrackedTable], in database: borrowing Database) throws -> [LikelyReference] {
    var found = tables.flatMap { columns(of: $0.schema, isKept: true) }
    let others = try database.tableNames().filter { name in
      !tables.contains { $0.name == name } && !["gpkg", "rtree_"].contains { name.text.hasPrefix($0) }
    }
    for name in others {
      if let schema = try database.tableInfo(name)?.schema { found += columns(of: schema, isKept: false) }
    }
    return found
  }

  private static func columns(of schema: TableSchema, isKept: Bool) -> [LikelyReference] {
    schema.columns.enumerated().compactMap { place, column in
      guard schema.key != [place], !schema.foreignKeys.contains(where: { $0.columns.contains(place) }),
        let stem = stem(of: column)
      else { return nil }
      return LikelyReference(child: schema.name, column: column, isKept: isKept, stem: stem)
    }
  }

  /// The part of the column's name that may name a table. nil if the column is not named after a key.
  private static func stem(of column: Name) -> String? {
    let name = column.text
    for suffix in ["_fid", "_id"] where name.lowercased().hasSuffix(suffix) && name.count > suffix.count {
      return name.dropLast(suffix.count).lowercased()
    }
    for suffix in ["Fid", "Id", "ID"] where name.hasSuffix(suffix) {
      // A small letter must come before the suffix: "treeId" is named after a key, and "GUID" is not.
      let stem = name.dropLast(suffix.count)
      if stem.last?.isLowercase == true { return stem.lowercased() }
    }
    return nil
  }

  /// Whether the column's name names this table. For example, "category_id" may name the table "categories".
  /// "parent_id" may name the column's own table.
  func isNamed(after table: Name) -> Bool {
    if child == table, stem == "parent" { return true }
    let name = table.text.lowercased()
    return name.hasPrefix(stem) || (stem.hasSuffix("y") && name.hasPrefix(stem.dropLast() + "ies"))
  }

  var words: String { "\(column) of \(child)" + (isKept ? "" : ", which is not in the dataset") }
}
