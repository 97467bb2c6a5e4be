import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// What `init` says of references that the database itself does not declare.
struct ReferenceWarnings {
  private let definition: DatasetDefinition
  private let tables: [TrackedTable]

  init(_ definition: DatasetDefinition, _ tables: [TrackedTable]) {
    self.definition = definition
    self.tables = tables
  }

  func findings(in database: borrowing Database) throws -> [Finding] {
    try definition.relatedTables(in: database).map { Self.wasRead($0.reference, of: $0.child) }
      + tables.compactMap { try dangling($0, in: database) } + tables.compactMap(unnamed)
  }

  private static func wasRead(_ reference: DeclaredReference, of child: Name) -> Finding {
    Finding(
      "reference-read",
      """
      The GeoPackage says that \(reference.column) of \(child) refers to \(reference.table) (gpkgext_relations). \
      The dataset's definition has it now, under "references".
      """)
  }

  private func dangling(_ table: TrackedTable, in database: borrowing Database) throws -> Finding? {
    let count = try table.danglingReferences(in: database)
    if count == 0 { return nil }
    return Finding(
      "foreign-keys", "\(count) of the references of \(table.name) lead to a row that is not there.",
      hint: "If users see only rows below a parent, nobody sees these. Bring the parents, or empty the column.")
  }

  /// A table whose keys may change, and to which no reference is known.
  private func unnamed(_ table: TrackedTable) -> Finding? {
    guard table.renamesRows, !tables.contains(where: { refers($0, to: table) }) else { return nil }
    let columns = likelyColumns(for: table)
    guard let first = columns.first else { return nil }
    let names = columns.map { "\($0.column) of \($0.child)" }.joined(separator: ", ")
    return Finding(
      "no-reference",
      """
      Rows of \(table.name) may get other keys, and no reference to them is known, so nothing follows. \
      Does one of these refer to them: \(names)?
      """,
      hint: "Say so in the dataset, at \(first.child): \"references\": { \"\(first.column)\": \"\(table.name)\" }")
  }

  private func refers(_ child: TrackedTable, to table: TrackedTable) -> Bool {
    child.schema.foreignKeys.contains { $0.parent == table.name && child.name != table.name }
  }

  /// Returns columns whose names say that they hold a key. If some of them name the table, only these.
  private func likelyColumns(for table: TrackedTable) -> [(child: Name, column: Name)] {
    let all = tables.filter { $0.name != table.name }.flatMap { child in
      child.schema.columns.enumerated().filter { place, column in
        child.schema.key != [place] && Self.stem(of: column) != nil
          && !child.schema.foreignKeys.contains { $0.columns.contains(place) }
      }.map { (child: child.name, column: $0.element) }
    }
    let named = all.filter { Self.stem(of: $0.column).map { table.name.text.lowercased().hasPrefix($0) } ?? false }
    return named.isEmpty ? all : named
  }

  /// Returns "tree" for "tree_fid" and "Tree_ID"; nil for a column that is not called after a key.
  private static func stem(of column: Name) -> String? {
    let name = column.text.lowercased()
    for suffix in ["_fid", "_id"] where name.hasSuffix(suffix) && name.count > suffix.count {
      return String(name.dropLast(suffix.count))
    }
    return nil
  }
}
