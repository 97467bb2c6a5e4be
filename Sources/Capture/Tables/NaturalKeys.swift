import SatchelDataset
import SatchelSQLite
import SatchelValues

extension TableInfo {
  /// The UNIQUE indexes that are natural keys: all except the index of the key itself.
  var naturalIndexes: [UniqueIndex] {
    uniqueIndexes.filter { $0.parts.map(\.column) != schema.key.map(Optional.some) }
  }
}

extension TrackedTable {
  /// Whether a device's new row is folded into an existing row with the same natural key. It then gets that row's
  /// key.
  public var folds: Bool { rules.unique == .fold }

  /// The columns that decide the natural keys.
  public var naturalColumns: Set<Int> {
    var columns: Set<Int> = []
    for index in info.naturalIndexes {
      // An expression or a condition may read any column.
      if index.condition != nil || index.parts.contains(where: { $0.column == nil }) {
        return Set(schema.columns.indices)
      }
      columns.formUnion(index.parts.compactMap(\.column))
    }
    return columns
  }

  /// Throws a `DatasetError` if rows of the table cannot be folded. A fold changes a row's key, and references must
  /// follow. So the key must be a single column that is compared as bytes.
  static func checkFold(_ info: TableInfo, at place: String) throws {
    func refuse(_ problem: String, _ hint: String) -> DatasetError { DatasetError(place, problem, hint: hint) }
    let policyDecides = "Leave it out: the table's policy then decides."
    guard info.schema.key.count == 1, let key = info.schema.key.first else {
      throw refuse("\"fold\" is for tables whose key is a single column", policyDecides)
    }
    if info.schema.foreignKeys.contains(where: { $0.columns.contains(key) }) {
      throw refuse(
        "the table's key is a reference to another table's row", "Set it for that table: references to it follow.")
    }
    let own = info.uniqueIndexes.filter { $0.parts.map(\.column) == [key] }.flatMap(\.parts)
    if own.contains(where: { $0.collation.uppercased() != "BINARY" }) {
      throw refuse("the table's key is compared by another collation than BINARY", policyDecides)
    }
    if info.naturalIndexes.isEmpty {
      throw refuse(
        "the table has no UNIQUE index beside its key, so nothing defines which rows are the same",
        "Make one over the columns of the natural key.")
    }
  }
}
