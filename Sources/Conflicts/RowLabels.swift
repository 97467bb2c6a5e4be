import SatchelCapture
import SatchelJSON
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues

/// Adds to conflicts what only the dataset shows: the labels of their rows, and the counters and sets whose start
/// values are unknown. A label is the value of the column that the dataset names with `label`.
public struct RowLabels {
  /// The tables for which the dataset names a label column.
  private let rows: [Name: RowTable]
  /// The tables that have counters or sets.
  private let counting: [Name: (schema: TableSchema, rules: MergeRules)]
  private let lastImage: (ConflictRecord) throws -> Row?

  /// - Parameter lastImage: returns a conflict's row as it was before it was deleted; nil if that is not known.
  public init(
    _ tables: [TrackedTable], in database: borrowing Database,
    lastImage: @escaping (ConflictRecord) throws -> Row? = { _ in nil }
  ) throws {
    var rows: [Name: RowTable] = [:]
    for table in tables where table.rules.label != nil { rows[table.name] = try RowTable(table, in: database) }
    self.rows = rows
    var counting: [Name: (schema: TableSchema, rules: MergeRules)] = [:]
    for table in tables {
      let rules = MergeRules(table.rules, schema: table.schema)
      guard table.schema.columns.indices.contains(where: { rules.countsDifferences(of: $0) }) else { continue }
      counting[table.name] = (schema: table.schema, rules: rules)
    }
    self.counting = counting
    self.lastImage = lastImage
  }

  /// The same conflicts with the labels of their rows, and with the columns whose start values are unknown.
  public func label(_ conflicts: [StoredConflict]) throws -> [StoredConflict] {
    if rows.isEmpty, counting.isEmpty { return conflicts }
    return try conflicts.map { conflict in
      var labelled = conflict
      let label = try label(of: conflict.record)
      labelled.label = label.isNull ? nil : label
      if let (schema, rules) = counting[conflict.record.table] {
        labelled.columnsWithoutStart = conflict.record.columnsWithoutStart(in: schema, by: rules)
      }
      return labelled
    }
  }

  /// The label of the present row. If there is no row, the label in the values of a side, or in the row before it was
  /// deleted. NULL if no label is known.
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

  /// The rows that contain a text in their label, as a JSON array of tables and keys.
  static func rows(labelled text: String, _ tables: [TrackedTable], in database: borrowing Database) throws -> Value {
    var found: [JSONValue] = []
    for table in tables {
      guard let label = table.rules.label else { continue }
      let schema = table.schema
      let keys = try database.all(
        """
        SELECT \(quotedList(schema.key.map { schema.columns[$0] }))
        FROM \(quoted(schema.name))
        WHERE \(quoted(label)) LIKE :text ESCAPE '!'
        LIMIT :limit
        """,
        ["text": ConflictConditions.pattern(text), "limit": .integer(Int64(ConflictFilter.mostLabels))]
      ) { row in canonicalKey(RowKey(schema.key.indices.map { row.value($0) })) }
      found += keys.map { key -> JSONValue in [.string(table.name.text), .string(String(decoding: key, as: UTF8.self))]
      }
    }
    return .text(JSONValue.array(found).compactBytes)
  }
}
