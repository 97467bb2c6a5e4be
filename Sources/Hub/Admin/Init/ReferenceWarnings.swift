import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Warnings of `init` and `dataset apply` about references that the database itself does not declare.
struct ReferenceWarnings {
  private let definition: DatasetDefinition
  private let tables: [TrackedTable]

  /// - Parameters:
  ///   - definition: the definition as its author wrote it.
  ///   - tables: the dataset's tables, with the references from the definition and from the database.
  init(_ definition: DatasetDefinition, _ tables: [TrackedTable]) {
    self.definition = definition
    self.tables = tables
  }

  func findings(in database: borrowing Database) throws -> [Finding] {
    var findings = try definition.relatedTables(in: database).map { Self.wasRead($0.reference, of: $0.child) }
    for table in tables {
      findings += try [dangling(table, in: database)].compactMap(\.self)
      for key in table.declared {
        findings += try [asText(key, of: table, in: database), unindexed(key, of: table, in: database)]
          .compactMap(\.self)
      }
    }
    guard tables.contains(where: \.renamesRows) else { return findings }
    let columns = try LikelyReference.find(among: tables, in: database)
    return findings + tables.compactMap { unnamed($0, columns) }
  }

  private static func wasRead(_ reference: DeclaredReference, of child: Name) -> Finding {
    Finding(
      .referenceRead,
      """
      The GeoPackage says that \(reference.column) of \(child) refers to \(reference.table) (gpkgext_relations). \
      The dataset's definition has it now, under "references".
      """)
  }

  private func dangling(_ table: TrackedTable, in database: borrowing Database) throws -> Finding? {
    let count = try table.danglingReferences(in: database)
    if count == 0 { return nil }
    return Finding(
      .foreignKeys, "\(count) of the references of \(table.name) lead to a row that is not there.",
      hint: "If users see only rows below a parent, no user sees these rows. Add the parents, or empty the column.")
  }

  /// A warning if a column of texts refers to numbers.
  private func asText(_ key: ForeignKey, of table: TrackedTable, in database: borrowing Database) throws -> Finding? {
    let column = try database.columnDeclarations(of: table.name).first {
      $0.name == table.schema.columns[key.columns[0]]
    }
    guard let column, column.affinity == .text,
      let parent = try database.columnDeclarations(of: key.parent).first(where: { $0.name == key.parentColumns[0] }),
      parent.affinity != .text
    else { return nil }
    return Finding(
      .referenceType,
      """
      \(column.name) of \(table.name) is \(column.type), and refers to whole numbers of \(key.parent). \
      Only the plain spelling, such as '6', is sure to follow its row.
      """, hint: "Declare the column INTEGER, if the app allows that.")
  }

  /// A warning if a referring column has no index. SQLite itself does not need this index, because the database does
  /// not declare the reference.
  private func unindexed(_ key: ForeignKey, of table: TrackedTable, in database: borrowing Database) throws -> Finding?
  {
    let column = table.schema.columns[key.columns[0]]
    if try table.info.rowidAlias == key.columns[0] || database.hasIndex(beginningWith: column, of: table.name) {
      return nil
    }
    return Finding(
      .referenceIndex,
      """
      \(column) of \(table.name) has no index, so each look for the rows below one of \(key.parent) reads all of \
      \(table.name).
      """, hint: "CREATE INDEX \(quoted("\(table.name)_\(column)")) ON \(quoted(table.name)) (\(quoted(column)));")
  }

  /// A warning if the primary keys of a table may change, and columns look like undeclared references to this table.
  private func unnamed(_ table: TrackedTable, _ all: [LikelyReference]) -> Finding? {
    guard table.renamesRows else { return nil }
    let named = all.filter { $0.isNamed(after: table.name) }
    let isKnown = tables.contains { $0.name != table.name && refers($0, to: table) }
    let columns = named.isEmpty && !isKnown ? all.filter { $0.isKept && $0.child != table.name } : named
    guard let first = columns.first(where: \.isKept) ?? columns.first else { return nil }
    return Finding(
      .noReference,
      """
      Rows of \(table.name) may get other keys, and what refers to them must follow. Nothing says that these columns \
      do: \(columns.map(\.words).joined(separator: ", ")).
      """,
      hint: """
        If \(first.column) refers to \(table.name), say so in the dataset, at \(first.child): \
        "references": { "\(first.column)": "\(table.name)" }
        """)
  }

  private func refers(_ child: TrackedTable, to table: TrackedTable) -> Bool {
    child.schema.foreignKeys.contains { $0.parent == table.name }
  }
}
