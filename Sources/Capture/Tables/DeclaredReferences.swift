import SatchelDataset
import SatchelSQLite
import SatchelValues

extension TableInfo {
  /// Returns the table with the references that the dataset declares, as if the database declared them.
  /// - Returns: the table, and the added references. A reference that the database declares too is not added.
  /// - Throws: `DatasetError` if a column is missing, or if the parent has no single column to which the reference
  ///   can refer.
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

  /// The reference as a foreign key; nil if the parent is missing or has no usable key. Another check reports that.
  private func foreignKey(
    _ reference: DeclaredReference, of dataset: DatasetDefinition, at place: String, in database: borrowing Database
  ) throws -> ForeignKey? {
    try NamedKey.refuseLocal(reference.column, of: self, at: place)
    guard let column = schema.position(of: reference.column) else {
      throw missing(reference.column, at: place, "the table has no column of this name; generated columns do not count")
    }
    let parent: TableInfo?
    do { parent = try NamedKey.info(of: reference.table, by: dataset, in: database) } catch is DatasetError {
      return nil
    }
    guard let parent else { return nil }
    let target = try parent.column(referredToBy: reference, at: place, in: database)
    try checkType(of: column, referringTo: target, of: parent, at: place, in: database)
    return ForeignKey(
      columns: [column], parent: parent.schema.name, parentColumns: [parent.schema.columns[target]],
      deletesChildren: true)
  }

  /// The position of the column to which a reference refers. The values of this column must be UNIQUE.
  private func column(
    referredToBy reference: DeclaredReference, at place: String, in database: borrowing Database
  ) throws -> Int {
    guard let name = reference.parentColumn else {
      guard schema.key.count == 1 else {
        throw DatasetError(
          place, "the key of \(schema.name) has \(schema.key.count) columns, and a reference has one",
          hint: "Name a column of \(schema.name) that is UNIQUE: { \"table\": \"\(schema.name)\", \"column\": \"...\" }"
        )
      }
      return schema.key[0]
    }
    try NamedKey.refuseLocal(name, of: self, at: place)
    guard let column = schema.position(of: name) else {
      throw missing(name, at: place, "\(schema.name) has no column \(name) that is stored")
    }
    guard try isUnique(column, in: database) else {
      throw DatasetError(
        place, "the column \(name) of \(schema.name) is not UNIQUE, so its values do not identify a single row",
        hint: "Refer to the key of \(schema.name), or make a UNIQUE index over \(name).")
    }
    return column
  }

  /// Whether the column is UNIQUE, so that each value identifies one row.
  ///
  /// The index must compare by the column's own collation, as for a foreign key: https://sqlite.org/foreignkeys.html,
  /// section 3.
  private func isUnique(_ column: Int, in database: borrowing Database) throws -> Bool {
    if schema.key == [column] { return true }
    let collation = try declaration(of: column, in: database).collation.uppercased()
    return uniqueIndexes.contains { index in
      index.condition == nil && index.parts.count == 1 && index.parts[0].column == column
        && index.parts[0].collation.uppercased() == collation
    }
  }

  /// Throws a `DatasetError` if the column's type would change referring values, for example '007' in a column of
  /// whole numbers.
  private func checkType(
    of column: Int, referringTo target: Int, of parent: TableInfo, at place: String, in database: borrowing Database
  ) throws {
    let own = try declaration(of: column, in: database)
    let other = try parent.declaration(of: target, in: database)
    let holdsAll =
      switch (own.affinity, other.affinity) {
      case (.none, _): true
      case (.text, .text): true
      // A whole number has only one spelling as a text. Satchel writes new keys in this spelling.
      case (.text, _): parent.rowidAlias == target
      case (_, .text), (_, .none): false
      default: true
      }
    if holdsAll { return }
    func words(_ declaration: ColumnDeclaration) -> String { declaration.type.isEmpty ? "no type" : declaration.type }
    throw DatasetError(
      place,
      """
      its type is \(words(own)), and \(other.name) of \(parent.schema.name) has \(words(other)), so SQLite would \
      store some values in two ways
      """,
      hint: "Declare both columns with the same type.")
  }

  private func declaration(of column: Int, in database: borrowing Database) throws -> ColumnDeclaration {
    let name = schema.columns[column]
    // `!` is safe: the column was read from the same database.
    return try database.columnDeclarations(of: schema.name).first { $0.name == name }!
  }
}

extension TrackedTable {
  /// The number of rows that refer to a missing row by a reference that only the dataset declares.
  public func danglingReferences(in database: borrowing Database) throws -> Int {
    try declared.reduce(0) { count, key in
      let own = "c.\(quoted(schema.columns[key.columns[0]]))"
      // SQLite compares by the collation of the first column, which must be the parent's.
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

extension [TrackedTable] {
  /// Throws a `DatasetError` if a fold would break a reference. A fold keeps the key of one of two rows, and a policy
  /// decides all other columns. So a reference to another column than the key could lead to no row.
  func checkFoldedParents() throws {
    for table in self {
      for key in table.declared {
        guard let parent = first(where: { $0.name == key.parent }), parent.folds,
          key.parentColumns != parent.schema.key.map({ parent.schema.columns[$0] })
        else { continue }
        throw DatasetError(
          "tables.\(table.name).references.\(table.schema.columns[key.columns[0]])",
          """
          two rows of \(parent.name) may become one by "unique": "fold", and what refers to \(key.parentColumns[0]) \
          cannot follow
          """,
          hint: "Refer to the key of \(parent.name), or leave \"fold\" out there.")
      }
    }
  }
}
