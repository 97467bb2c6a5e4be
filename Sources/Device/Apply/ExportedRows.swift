import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues

/// Finds rows that were written unseen after their captured changes had been exported.
///
/// A row's pre-images show what the row was before each change. The row itself is what it was after the last change,
/// and a write that no trigger saw replaces it. So an export notes a digest of each row that it carries, and an import
/// compares the row with it. An import that changes such a row notes its digest again.
final class ExportedRows {
  private let session: DeviceSession
  /// The digesters of one table. Rows come table by table.
  private var digester: (table: Name, rows: RowDigester)?
  /// Whether the bundle acknowledges changes of any row.
  private var isAnyAcknowledged = false

  private var database: Database { _read { yield session.database } }

  init(_ session: DeviceSession) { self.session = session }

  /// Notes the rows whose changes an export carries for the first time. Called in the export's transaction.
  /// - Parameter first: the first generation whose changes no earlier export carries.
  func note(since first: Generation) throws {
    for table in session.tables where try !PreImageStore.isEmpty(table, in: database) {
      try PreImageStore.each(table, since: first, in: database) { key, images, current in
        let number = number(of: key, in: table.schema)
        var row = ExportedRow(digest: digest(current, in: table.schema))
        if let last = try ExportedRowTable.row(number, in: database) {
          row.isUnseen = last.isUnseen || last.digest != digest(images[0].row, in: table.schema)
        }
        try ExportedRowTable.put(row, number, in: database)
      }
    }
  }

  /// Compares all rows whose changes exports carry. Called before a bundle is applied, while their pre-images are
  /// there.
  /// - Parameter generation: the bundle acknowledges changes of earlier generations.
  func compare(acknowledgedBefore generation: Generation) throws {
    for table in session.tables where try !PreImageStore.isEmpty(table, in: database) {
      try PreImageStore.each(table, since: .zero, in: database) { key, images, current in
        guard let exported = exported(images, current) else { return }
        let number = number(of: key, in: table.schema)
        let known = try ExportedRowTable.row(number, in: database)
        let isAcknowledged = images[0].generation < generation
        // A row that an earlier release exported has no digest.
        if known == nil, !isAcknowledged { return }
        let digest = digest(exported, in: table.schema)
        var row = known ?? ExportedRow(digest: digest)
        row.isUnseen = row.isUnseen || row.digest != digest
        row.acknowledged = isAcknowledged ? .init(digest: self.digest(images[0].hubRow, in: table.schema)) : nil
        if isAcknowledged || row.isUnseen != known?.isUnseen { try ExportedRowTable.put(row, number, in: database) }
        isAnyAcknowledged = isAnyAcknowledged || isAcknowledged
      }
    }
  }

  /// Returns what is known of a row, if the bundle acknowledges changes of it.
  func acknowledged(_ key: RowKey, in schema: TableSchema) throws -> ExportedRow? {
    guard isAnyAcknowledged else { return nil }
    return try ExportedRowTable.row(number(of: key, in: schema), in: database)
  }

  /// Remembers that a row which was written unseen is kept as a conflict.
  func settle(_ key: RowKey, in schema: TableSchema) throws {
    let number = number(of: key, in: schema)
    guard var row = try ExportedRowTable.row(number, in: database), row.isUnseen else { return }
    row.isUnseen = false
    try ExportedRowTable.put(row, number, in: database)
  }

  /// Notes all rows whose changes exports carry as they are now, except rows that were written unseen. Called after
  /// Satchel wrote rows.
  func noteAll() throws {
    // The bundle may have brought other tables.
    digester = nil
    let unseen = try ExportedRowTable.unseen(in: database)
    if try !ExportedRowTable.isEmpty(in: database) { try ExportedRowTable.forgetAll(in: database) }
    for table in session.tables where try !PreImageStore.isEmpty(table, in: database) {
      try PreImageStore.each(table, since: .zero, in: database) { key, images, current in
        guard let exported = exported(images, current) else { return }
        let number = number(of: key, in: table.schema)
        let row = ExportedRow(digest: digest(exported, in: table.schema), isUnseen: unseen.contains(number))
        try ExportedRowTable.put(row, number, in: database)
      }
    }
  }

  /// The row after its last exported change, which may be no row; nil: no export carries a change of it.
  private func exported(_ images: [PreImage], _ current: Row?) -> Row?? {
    let next = Generation(session.state.sequence.rawValue)
    guard images[0].generation < next else { return nil }
    return .some(images.first { $0.generation >= next }.map(\.row) ?? current)
  }

  // MARK: digests

  private func number(of key: RowKey, in schema: TableSchema) -> Int64 {
    Int64(bitPattern: using(schema) { $0.digest(of: key).first64 })
  }

  /// The first eight bytes of a row's digest; nil: there is no row.
  func digest(_ row: Row?, in schema: TableSchema) -> UInt64? {
    row.map { row in using(schema) { $0.digest(of: row).first64 } }
  }

  private func using<T>(_ schema: TableSchema, _ body: (inout RowDigester) -> T) -> T {
    var current = digester.flatMap { $0.table == schema.name ? $0.rows : nil } ?? RowDigester(schema)
    digester = nil
    defer { digester = (schema.name, current) }
    return body(&current)
  }
}
