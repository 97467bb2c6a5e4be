import SatchelDataset
import SatchelSQLite
import SatchelValues

extension TrackedTable {
  /// The foreign keys along which a row and its children are one unit. Empty if the dataset has no such rule for the
  /// table.
  public var unitKeys: [ForeignKey] {
    guard case .parent(let parent)? = rules.unit else { return [] }
    return schema.foreignKeys.filter { key in
      parent.map { $0.isSameInSQL(as: key.parent) } ?? (key.parent != name)
    }
  }

  /// Throws a `DatasetError` if the dataset's rule for units does not fit the table.
  static func checkUnit(_ info: TableInfo, _ rules: TableRules, of dataset: DatasetDefinition) throws {
    let place = "tables.\(rules.name).unit"
    switch rules.unit {
    case nil: return
    case .transaction:
      guard info.schema.columns.count < maximumColumns else {
        throw DatasetError(place, "a table with units has at most \(maximumColumns - 1) columns")
      }
    case .parent(let parent?):
      guard info.schema.foreignKeys.contains(where: { $0.parent.isSameInSQL(as: parent) }) else {
        throw DatasetError(
          place, "the table does not refer to \(parent)",
          hint: "It needs a foreign key to \(parent), or a reference that the dataset declares.")
      }
    case .parent(nil):
      let parents = Set(info.schema.foreignKeys.map(\.parent)).filter {
        $0 != info.schema.name && dataset.rules(for: $0) != nil
      }
      if parents.count == 1 { return }
      let names = parents.sorted().map(\.text).joined(separator: ", ")
      throw DatasetError(
        place, parents.isEmpty ? "the table refers to no other table of the dataset" : "which parent: \(names)?",
        hint: "Name it: \"unit\": { \"parent\": \"TABLE\" }")
    }
  }
}
