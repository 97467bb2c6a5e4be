import SatchelDataset
import SatchelSQLite
import SatchelValues

extension TableInfo {
  /// Returns the table with references that the dataset declares, as if the database declared them.
  /// - Returns: the table, and the references that were added. A reference that the database declares too is not added.
  /// - Throws: a `DatasetError` for a column that is not there, or a parent that has no such single column to refer to.
  func referring(
    by references: [DeclaredReference], of dataset: DatasetDefinition, at place: String, in database: borrowing Database
  ) throws -> (table: TableInfo, added: [ForeignKey]) {
    var added: [ForeignKey] = []
    for reference in references {
      let key = try foreignKey(reference, of: dataset, at: "\(place).\(reference.column)", in: database)
      guard let key else { continue }
      let isKnown = schema.foreignKeys.contains {
        $0.columns == key.columns && $0.parent == key.parent && $0.parentColumns == key.parentColumns
      }
      if !isKnown { added.append(key) }
    }
    return added.isEmpty ? (self, []) : (with(foreignKeys: schema.foreignKeys + added), added)
  }

  /// nil: the parent is not there, or cannot name its rows, which is said of that table itself.
  private func foreignKey(
    _ reference: DeclaredReference, of dataset: DatasetDefinition, at place: String, in database: borrowing Database
  ) throws -> ForeignKey? {
    try NamedKey.refuseLocal(reference.column, of: self, at: place)
    guard let column = schema.position(of: reference.column) else {
      throw DatasetError(
        place, "the table has no such column that is stored",
        hint: "It has: \(schema.columns.map(\.text).joined(separator: ", ")).")
    }
    let parent: TableInfo?
    do { parent = try NamedKey.info(of: reference.table, by: dataset, in: database) } catch is DatasetError {
      return nil
    }
    guard let parent else { return nil }
    let target = try parent.column(referredToBy: reference, at: place)
    return ForeignKey(columns: [column], parent: parent.schema.name, parentColumns: [target])
  }

  /// Returns the column whose values name one row each.
  private func column(referredToBy reference: DeclaredReference, at place: String) throws -> Name {
    guard let name = reference.parentColumn else {
      guard schema.key.count == 1 else {
        throw DatasetError(
          place, "the key of \(schema.name) has \(schema.key.count) columns, and a reference has one",
          hint: "Name a column of \(schema.name) that is UNIQUE: { \"table\": \"\(schema.name)\", \"column\": \"...\" }"
        )
      }
      return schema.columns[schema.key[0]]
    }
    try NamedKey.refuseLocal(name, of: self, at: place)
    guard let column = schema.position(of: name) else {
      throw DatasetError(
        place, "\(schema.name) has no column \(name) that is stored",
        hint: "It has: \(schema.columns.map(\.text).joined(separator: ", ")).")
    }
    let isUnique =
      schema.key == [column]
      || uniqueIndexes.contains { $0.condition == nil && $0.parts.count == 1 && $0.parts[0].column == column }
    guard isUnique else {
      throw DatasetError(
        place, "the column \(name) of \(schema.name) is not UNIQUE, so its values name no single row",
        hint: "Refer to the key of \(schema.name), or make a UNIQUE index over \(name).")
    }
    return name
  }
}

extension TrackedTable {
  /// Returns the number of rows that refer, by a reference which only the dataset declares, to a row that is not there.
  public func danglingReferences(in database: borrowing Database) throws -> Int {
    try declared.reduce(0) { count, key in
      let own = "c.\(quoted(schema.columns[key.columns[0]]))"
      // The parent's column stands first: SQLite compares by its collation.
      let found = try database.first(
        """
        SELECT count(*)
        FROM \(quoted(name)) AS c
        WHERE \(own) IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM \(quoted(key.parent)) AS p WHERE p.\(quoted(key.parentColumns[0])) = \(own))
        """
      ) { Int($0.integer(0)) }
      return count + (found ?? 0)
    }
  }
}
