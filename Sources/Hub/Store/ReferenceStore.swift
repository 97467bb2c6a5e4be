import SatchelCapture
import SatchelConflicts
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Remembers parents that exist, because most rows of a bundle refer to only a few parents.
///
/// The owner must clear the cache when a row is deleted, or when a column changes to which other rows may refer.
struct ParentCache {
  struct Reference: Hashable {
    /// The index of the referring table. `number` is the index of the foreign key in this table.
    let place: Int
    let number: Int
    let values: [Value]
  }

  private var references: Set<Reference> = []
  private static let limit = 10_000

  func contains(_ reference: Reference) -> Bool { references.contains(reference) }

  mutating func insert(_ reference: Reference) {
    if references.count >= Self.limit { references = [] }
    references.insert(reference)
  }

  mutating func forget() { references = [] }
}

extension HubStore {
  /// The first foreign key of `row` whose parent is missing. nil if no parent is missing. A reference that `before`
  /// also has is not checked: it cannot be broken by this change.
  /// - Parameter found: parents that are known to exist. The parents that this call finds are added.
  func missingParent(
    of row: Row, changedFrom before: Row?, in place: Int, using found: inout ParentCache
  ) throws -> ForeignKey? {
    for (number, parent) in references[place].parents.enumerated() {
      let key = parent.key
      if let before, key.columns.allSatisfy({ before[$0] == row[$0] }) { continue }
      let values = key.columns.map { row[$0] }
      if values.contains(where: \.isNull) { continue }
      // A row may be its own parent, and need not be in the table yet.
      if key.parent == rows[place].schema.name, isOwnParent(row, key, in: place) { continue }
      let reference = ParentCache.Reference(place: place, number: number, values: values)
      if found.contains(reference) { continue }
      if try !parent.exists(values, in: database) { return key }
      found.insert(reference)
    }
    return nil
  }

  /// The row to which `row` refers along a foreign key: its table and its primary key. nil if that row does not exist,
  /// or its table is not in the dataset.
  func parent(of row: Row, along key: ForeignKey) throws -> (place: Int, key: RowKey)? {
    try parent(key.columns.map { row[$0] }, along: key)
  }

  /// The row to which `values` refer along a foreign key: its table and its primary key. nil if that row does not
  /// exist, or its table is not in the dataset.
  func parent(_ values: [Value], along key: ForeignKey) throws -> (place: Int, key: RowKey)? {
    guard let place = place(of: key.parent) else { return nil }
    let schema = rows[place].schema
    if values.contains(where: \.isNull) { return nil }
    let names = schema.key.map { quoted(schema.columns[$0]) }.joined(separator: ", ")
    let condition = key.parentColumns.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")
    let find = try database.prepare("SELECT \(names) FROM \(quoted(key.parent)) WHERE \(condition)")
    try find.bind(values)
    guard try find.step() else { return nil }
    return (place, RowKey(find.values(from: 0, count: schema.key.count)))
  }

  private func isOwnParent(_ row: Row, _ key: ForeignKey, in place: Int) -> Bool {
    let schema = rows[place].schema
    return zip(key.columns, key.parentColumns).allSatisfy { column, parent in
      schema.position(of: parent).map { row[$0] == row[column] } ?? false
    }
  }

  /// A table with rows that refer to values which `row` loses. nil if there is none.
  /// - Parameter after: the new state of `row`. nil if it is deleted.
  func tableWithChildren(of row: Row, becoming after: Row?, in place: Int) throws -> Name? {
    try references[place].tableWithChildren(of: row, becoming: after, rows[place].schema, in: database)
  }

  /// Returns the reference that breaks if `row` replaces `before`. nil if none breaks.
  func brokenReference(
    of row: Row?, from before: Row?, in place: Int, using found: inout ParentCache
  ) throws -> BrokenReference? {
    if let row, let key = try missingParent(of: row, changedFrom: before, in: place, using: &found) {
      return .missingParent(key.parent)
    }
    let children = try before.flatMap { try tableWithChildren(of: $0, becoming: row, in: place) }
    return children.map { .children($0) }
  }
}

/// A reference to a row that does not exist.
enum BrokenReference {
  /// The row refers to a missing row of this table.
  case missingParent(Name)
  /// Rows of this table refer to values that the row would lose.
  case children(Name)

  var words: String {
    switch self {
    case .missingParent(let table): MissingParent.words(goneFrom: table)
    case .children(let table): "There are rows of \(table) that refer to it."
    }
  }

  /// Whether the change may wait. A missing parent may still come. But if other rows refer to the row, a person must
  /// decide.
  var mayGoAway: Bool { if case .missingParent = self { true } else { false } }
}
