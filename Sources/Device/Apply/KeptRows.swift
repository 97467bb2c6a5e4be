import SatchelCapture
import SatchelConflicts
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A row of this device that the hub did not accept. A person decides about the row.
public struct KeptRow: Sendable {
  public let record: ConflictRecord
  /// Whether the row is still in its table. If not, only the conflict has its values.
  public let isInTable: Bool
  /// A text by which a person recognises the row: its first two texts outside its key and references; nil: the row has
  /// no such text.
  public let label: String?

  init(_ record: ConflictRecord, isInTable: Bool, in schema: TableSchema) {
    (self.record, self.isInTable) = (record, isInTable)
    let others = Set((schema.key + schema.foreignKeys.flatMap(\.columns)).map { schema.columns[$0] })
    let texts = (record.deviceValues ?? []).filter { !others.contains($0.name) }.compactMap { field -> String? in
      guard case .text(let bytes) = field.value, !bytes.isEmpty else { return nil }
      return String(decoding: bytes, as: UTF8.self)
    }
    label = texts.isEmpty ? nil : texts.prefix(2).joined(separator: ", ")
  }
}

extension DeviceSession {
  /// The rows of this device that the hub did not accept, and about which a person decides.
  func keptRows() throws -> [KeptRow] {
    // Each table is prepared once, because preparing a table costs more than finding a row in it.
    var prepared: [Name: RowTable] = [:]
    return try ConflictTable.list([.open, .held], in: database).compactMap { conflict in
      let record = conflict.record
      guard record.operation != .delete, let table = table(record.table) else { return nil }
      let rows = try prepared[record.table] ?? RowTable(table, in: database)
      prepared[record.table] = rows
      let isInTable = try rows.contains(record.key)
      if try isInTable && !isWaiting(record) { return nil }
      return KeptRow(record, isInTable: isInTable, in: table.schema)
    }
  }
}
