import SatchelDataset
import SatchelSQLite
import SatchelValues

extension DatasetDefinition {
  /// The references that a GeoPackage declares in `gpkgext_relations` and that the definition lacks.
  ///
  /// The related tables extension (OGC 18-000) has mapping tables. Their columns `base_id` and `related_id` hold keys
  /// of a base table and of a related table. A reference counts if the dataset has both tables.
  public func relatedTables(
    in database: borrowing Database
  ) throws -> [(child: Name, reference: DeclaredReference)] {
    let columns = [
      "mapping_table_name", "base_table_name", "base_primary_column", "related_table_name", "related_primary_column",
    ]
    guard let shape = try database.tableShape("gpkgext_relations"),
      columns.allSatisfy({ column in shape.columns.contains { $0.isSameInSQL(as: Name(column)) } })
    else { return [] }
    let list = columns.joined(separator: ", ")
    let relations = try database.all("SELECT \(list) FROM gpkgext_relations ORDER BY \(list)") { row in
      let mapping = Name(row.text(0))
      return [
        Relation(mapping: mapping, column: "base_id", table: Name(row.text(1)), key: Name(row.text(2))),
        Relation(mapping: mapping, column: "related_id", table: Name(row.text(3)), key: Name(row.text(4))),
      ]
    }
    var found: [(child: Name, reference: DeclaredReference)] = []
    for relation in relations.joined() {
      guard let addition = try reference(for: relation, in: database),
        !found.contains(where: { $0.child == addition.child && $0.reference.column == addition.reference.column })
      else { continue }
      found.append(addition)
    }
    return found
  }

  private struct Relation {
    let mapping: Name
    let column: String
    let table: Name
    let key: Name
  }

  /// The reference that a relation declares. nil if the dataset lacks one of the tables, if another reference of the
  /// column is declared, or if the column cannot hold the parent's key.
  private func reference(
    for relation: Relation, in database: borrowing Database
  ) throws -> (child: Name, reference: DeclaredReference)? {
    guard let child = tables.first(where: { $0.name.isSameInSQL(as: relation.mapping) }),
      let parent = tables.first(where: { $0.name.isSameInSQL(as: relation.table) }),
      let info = try database.tableInfo(child.name),
      let target = try target(of: relation, parent, child, in: database), target.key.count == 1,
      target.columns[target.key[0]].isSameInSQL(as: relation.key),
      let column = info.schema.columns.first(where: { $0.isSameInSQL(as: Name(relation.column)) }),
      !child.references.contains(where: { $0.column == column }),
      !info.schema.foreignKeys.contains(where: { $0.columns == [info.schema.position(of: column)] })
    else { return nil }
    let reference = DeclaredReference(column: column, table: parent.name)
    do { _ = try info.referring(by: [reference], of: self, at: "", in: database) } catch is DatasetError { return nil }
    return (child.name, reference)
  }

  /// The table to which a relation refers. Throws a `DatasetError` if the relation uses the local key of that table,
  /// because bundles cannot carry such a mapping table.
  private func target(
    of relation: Relation, _ parent: TableRules, _ child: TableRules, in database: borrowing Database
  ) throws -> TableSchema? {
    guard let info = try NamedKey.info(of: parent.name, by: self, in: database) else { return nil }
    guard let local = info.localKey, local.isSameInSQL(as: relation.key) else { return info.schema }
    throw DatasetError(
      "tables.\(child.name)",
      """
      its column \(relation.column) refers to \(local) of \(parent.name), as gpkgext_relations says, and each replica \
      assigns \(local) by itself
      """,
      hint: "Leave \(child.name) out, or relate by a column that identifies the rows everywhere.")
  }

  /// The definition with the references that a GeoPackage declares added to its document. Devices need these
  /// references too.
  public func completed(by database: borrowing Database) throws -> DatasetDefinition {
    try adding(relatedTables(in: database))
  }
}
