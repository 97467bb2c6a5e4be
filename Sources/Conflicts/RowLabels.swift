import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues

/// Finds what people call the rows of conflicts: the values of the columns that the dataset names with `label`.
public struct RowLabels {
  /// The tables with labels.
  private let rows: [Name: RowTable]
  private let lastImage: (ConflictRecord) throws -> Row?

  /// - Parameter lastImage: returns a row as it was before it was deleted; nil: that is not known.
  public init(
    _ tables: [TrackedTable], in database: borrowing Database,
    lastImage: @escaping (ConflictRecord) throws -> Row? = { _ in nil }
  ) throws {
    var rows: [Name: RowTable] = [:]
    for table in tables where table.rules.label != nil { rows[table.name] = try RowTable(table, in: database) }
    self.rows = rows
    self.lastImage = lastImage
  }

  /// The same conflicts with the labels of their rows.
  public func label(_ conflicts: [StoredConflict]) throws -> [StoredConflict] {
    if rows.isEmpty { return conflicts }
    return try conflicts.map { conflict in
      var labelled = conflict
      let label = try label(of: conflict.record)
      labelled.label = label.isNull ? nil : label
      return labelled
    }
  }

  /// The label as it is now. If the row is not there, the label in the values of one of the sides, or as it was before
  /// the row was deleted. NULL: none is known.
  private func label(of record: ConflictRecord) throws -> Value {
    guard let rows = rows[record.table], let label = rows.table.rules.label,
      let column = rows.schema.position(of: label)
    else { return .null }
    if record.key.values.count == rows.schema.key.count, let row = try rows.row(record.key) {
      return row[column]
    }
    let sides = [record.deviceValues, record.hubValues, record.baseValues]
    let told = sides.lazy.compactMap { fields in fields?.first { $0.name == label }?.value }.first
    return try told ?? lastImage(record)?[column] ?? .null
  }
}
