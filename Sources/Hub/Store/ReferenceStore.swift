import SatchelCapture
import SatchelSQLite
import SatchelValues

extension HubStore {
  /// The first foreign key of `row` whose parent is not there; nil where all are. What `before` referred to already is passed over:
  /// if that was wrong, it was so before.
  func missingParent(of row: Row, changedFrom before: Row? = nil, in place: Int) throws -> ForeignKey? {
    for key in tables[place].schema.foreignKeys {
      if let before, key.columns.allSatisfy({ before[$0] == row[$0] }) { continue }
      let values = key.columns.map { row[$0] }
      if values.contains(where: \.isNull) { continue }
      // A row may be its own parent.
      if key.parent == tables[place].name, try isOwnParent(row, key, in: place) { continue }
      let condition = key.parentColumns.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")
      if try !exists("SELECT 1 FROM \(quoted(key.parent)) WHERE \(condition)", values) { return key }
    }
    return nil
  }

  private func isOwnParent(_ row: Row, _ key: ForeignKey, in place: Int) throws -> Bool {
    let schema = tables[place].schema
    return zip(key.columns, key.parentColumns).allSatisfy { column, parent in
      schema.position(of: parent).map { row[$0] == row[column] } ?? false
    }
  }

  /// A table that still has rows that refer to `row`; nil where none has.
  func tableWithChildren(of row: Row, in place: Int) throws -> Name? {
    let schema = tables[place].schema
    for child in tables {
      for key in child.schema.foreignKeys where key.parent == schema.name {
        let values = key.parentColumns.compactMap { schema.position(of: $0).map { row[$0] } }
        guard values.count == key.parentColumns.count, !values.contains(where: \.isNull) else { continue }
        let condition = key.columns.map { "\(quoted(child.schema.columns[$0])) = ?" }.joined(separator: " AND ")
        let isItself =
          child.name == schema.name
          ? " AND NOT (\(schema.key.map { "\(quoted(schema.columns[$0])) IS ?" }.joined(separator: " AND ")))" : ""
        let own = isItself.isEmpty ? [] : schema.key(of: row).values
        if try exists("SELECT 1 FROM \(quoted(child.name)) WHERE \(condition)\(isItself)", values + own) { return child.name }
      }
    }
    return nil
  }

  private func exists(_ sql: String, _ values: [Value]) throws -> Bool {
    try database.using(sql) {
      try $0.bind(values)
      return try $0.step()
    }
  }
}
