import SatchelCapture
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Parents that are known to be there: most rows of a bundle refer to a few.
///
/// Whoever keeps it forgets it when any row is deleted or changed to which another may refer.
struct FoundParents {
  struct Reference: Hashable {
    /// The table that refers, and which of its foreign keys it is.
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
  /// The first foreign key of `row` whose parent is not there; nil where all are. What `before` referred to already is
  /// passed over: if that was wrong, it was so before.
  func missingParent(of row: Row, changedFrom before: Row? = nil, in place: Int) throws -> ForeignKey? {
    var found = FoundParents()
    return try missingParent(of: row, changedFrom: before, in: place, besides: &found)
  }

  /// - Parameter found: the parents that were there a moment ago, and to which those are added that are there now.
  func missingParent(
    of row: Row, changedFrom before: Row?, in place: Int, besides found: inout FoundParents
  ) throws -> ForeignKey? {
    for (number, parent) in references[place].parents.enumerated() {
      let key = parent.key
      if let before, key.columns.allSatisfy({ before[$0] == row[$0] }) { continue }
      let values = key.columns.map { row[$0] }
      if values.contains(where: \.isNull) { continue }
      // A row may be its own parent.
      if key.parent == rows[place].schema.name, isOwnParent(row, key, in: place) { continue }
      let reference = FoundParents.Reference(place: place, number: number, values: values)
      if found.contains(reference) { continue }
      if try !parent.exists(values, in: database) { return key }
      found.insert(reference)
    }
    return nil
  }

  /// The row to which `row` refers along a foreign key: its table and its primary key. nil: it is not there, or the
  /// table is not in the dataset.
  func parent(of row: Row, along key: ForeignKey) throws -> (place: Int, key: RowKey)? {
    try parent(key.columns.map { row[$0] }, along: key)
  }

  /// The same for the values of the foreign key's columns.
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

  /// A table that still has rows that refer to `row`; nil where none has.
  func tableWithChildren(of row: Row, in place: Int) throws -> Name? {
    try references[place].tableWithChildren(of: row, rows[place].schema, in: database)
  }

  /// What is broken where `row` takes the place of `before`: a parent is missing, or, where the row goes, there are
  /// children. nil where nothing is.
  func brokenReference(
    of row: Row?, from before: Row?, in place: Int, besides found: inout FoundParents
  ) throws -> String? {
    if let row {
      let missing = try missingParent(of: row, changedFrom: before, in: place, besides: &found)
      return missing.map { MissingParent.words(goneFrom: $0.parent) }
    }
    let children = try before.flatMap { try tableWithChildren(of: $0, in: place) }
    return children.map { "There are rows of \($0) that refer to it." }
  }
}
