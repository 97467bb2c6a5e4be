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
  /// The rows with exported changes that the import may write. nil: it may write all of them.
  private var touched: [ExportedRow.Name: RowKey]? = [:]

  private var database: Database { _read { yield session.database } }
  /// The first generation whose changes no export carries.
  private var next: Generation { Generation(session.state.sequence.rawValue) }

  init(_ session: DeviceSession) { self.session = session }

  /// Notes the rows whose changes an export carries for the first time. Called in the export's transaction.
  /// - Parameter first: the first generation whose changes no earlier export carries.
  func note(since first: Generation) throws {
    let isFirst = try ExportedRowTable.isEmpty(in: database)
    for table in session.tables where try !PreImageStore.isEmpty(table, in: database) {
      let schema = table.schema
      let images = try PreImageLookup(table, in: database)
      try PreImageStore.eachPresent(table, since: first, in: database) { key, exists, query in
        let name = ExportedRow.Name(key, of: schema.name)
        var row = ExportedRow(digest: exists ? digest(of: query, in: schema) : nil)
        if !isFirst, let last = try ExportedRowTable.row(name, in: database),
          let image = try images.images(of: key).first(where: { $0.generation >= first })
        {
          row.isUnseen = last.isUnseen || last.digest != digest(image.row, in: schema)
        }
        try ExportedRowTable.put(row, name, in: database)
      }
    }
  }

  // MARK: imports

  /// Compares the rows whose changes the bundle acknowledges, and remembers what the hub had sent. Called while their
  /// pre-images are there.
  /// - Parameter generation: the bundle acknowledges changes of earlier generations.
  func acknowledge(before generation: Generation) throws {
    for table in session.tables where try !PreImageStore.isEmpty(table, in: database) {
      try PreImageStore.each(table, since: .zero, begunBefore: generation, in: database) { key, images, current in
        guard let exported = exported(images, current) else { return }
        let name = ExportedRow.Name(key, of: table.name)
        var row = try compared(exported, name, in: table.schema)
        row.acknowledged = .init(
          digest: digest(images[0].hubRow, in: table.schema),
          isAll: !images.contains { $0.generation >= generation && $0.generation < next })
        try ExportedRowTable.put(row, name, in: database)
        isAnyAcknowledged = true
      }
    }
  }

  /// Remembers that a row keeps its exported changes, although the bundle acknowledges them.
  func keep(_ key: RowKey, in schema: TableSchema) throws {
    let name = ExportedRow.Name(key, of: schema.name)
    guard var row = try ExportedRowTable.row(name, in: database) else { return }
    row.acknowledged?.isAll = false
    try ExportedRowTable.put(row, name, in: database)
  }

  /// Compares a row that the import may write, before it does.
  /// - Parameter images: the row's pre-images, oldest first.
  func willWrite(_ key: RowKey, _ images: [PreImage], over current: Row?, in schema: TableSchema) throws {
    guard touched != nil, !images.isEmpty, let exported = exported(images, current) else { return }
    let name = ExportedRow.Name(key, of: schema.name)
    if touched?[name] != nil { return }
    touched?[name] = key
    let row = try compared(exported, name, in: schema)
    if row.isUnseen { try ExportedRowTable.put(row, name, in: database) }
  }

  /// Compares all rows, because the import may write any of them: it changes keys or tables.
  func willWriteAny() throws {
    if touched == nil { return }
    for table in session.tables where try !PreImageStore.isEmpty(table, in: database) {
      try PreImageStore.each(table, since: .zero, in: database) { key, images, current in
        try willWrite(key, images, over: current, in: table.schema)
      }
    }
    touched = nil
  }

  /// Returns what is known of a row, compared with the row now. A row that an earlier release exported counts as seen.
  private func compared(_ exported: Row?, _ name: ExportedRow.Name, in schema: TableSchema) throws -> ExportedRow {
    let digest = digest(exported, in: schema)
    guard var row = try ExportedRowTable.row(name, in: database) else { return ExportedRow(digest: digest) }
    row.isUnseen = row.isUnseen || row.digest != digest
    return row
  }

  /// Returns what is known of a row, if the bundle acknowledges changes of it.
  func acknowledged(_ key: RowKey, in schema: TableSchema) throws -> ExportedRow? {
    guard isAnyAcknowledged else { return nil }
    return try ExportedRowTable.row(ExportedRow.Name(key, of: schema.name), in: database)
  }

  /// Remembers that a row which was written unseen is kept as a conflict.
  func settle(_ key: RowKey, in schema: TableSchema) throws {
    let name = ExportedRow.Name(key, of: schema.name)
    guard var row = try ExportedRowTable.row(name, in: database), row.isUnseen else { return }
    row.isUnseen = false
    try ExportedRowTable.put(row, name, in: database)
  }

  /// Notes the rows that the import wrote as they are now. Rows that were written unseen stay noted as such.
  /// - Parameter former: returns the key that a row had before the import.
  func finish(former: (RowKey, TableSchema) -> RowKey) throws {
    guard let touched else {
      let unseen = try ExportedRowTable.unseen(in: database)
      return try noteAll { unseen.contains(ExportedRow.Name(former($0, $1), of: $1.name)) }
    }
    if isAnyAcknowledged { try ExportedRowTable.forgetAcknowledged(in: database) }
    let lookups = try Dictionary(
      uniqueKeysWithValues: Set(touched.keys.map(\.table)).compactMap(session.table).map {
        ($0.name, (rows: try RowTable($0, in: database), images: try PreImageLookup($0, in: database)))
      })
    for (name, key) in touched {
      guard let (rows, lookup) = lookups[name.table] else { continue }
      let (images, current) = (try lookup.images(of: key), try rows.row(key))
      guard !images.isEmpty, let exported = exported(images, current) else {
        try ExportedRowTable.forget(name, in: database)
        continue
      }
      let isUnseen = try ExportedRowTable.row(name, in: database)?.isUnseen ?? false
      let noted = ExportedRow(digest: digest(exported, in: rows.schema), isUnseen: isUnseen)
      try ExportedRowTable.put(noted, name, in: database)
    }
  }

  /// Notes all rows whose changes exports carry as they are now, because Satchel wrote rows or found what was unseen.
  /// - Parameter isUnseen: whether a row stays noted as written unseen.
  func noteAll(isUnseen: (RowKey, TableSchema) -> Bool = { _, _ in false }) throws {
    // The tables may be others by now.
    digester = nil
    if try !ExportedRowTable.isEmpty(in: database) { try ExportedRowTable.forgetAll(in: database) }
    for table in session.tables where try !PreImageStore.isEmpty(table, in: database) {
      try PreImageStore.each(table, since: .zero, begunBefore: next, in: database) { key, images, current in
        guard let exported = exported(images, current) else { return }
        let row = ExportedRow(digest: digest(exported, in: table.schema), isUnseen: isUnseen(key, table.schema))
        try ExportedRowTable.put(row, ExportedRow.Name(key, of: table.name), in: database)
      }
    }
  }

  /// The row after its last exported change, which may be no row; nil: no export carries a change of it.
  private func exported(_ images: [PreImage], _ current: Row?) -> Row?? {
    guard images[0].generation < next else { return nil }
    return .some(images.first { $0.generation >= next }.map(\.row) ?? current)
  }

  // MARK: digests

  /// The first eight bytes of a row's digest; nil: there is no row.
  func digest(_ row: Row?, in schema: TableSchema) -> UInt64? {
    guard let row else { return nil }
    prepare(schema)
    return digester?.rows.digest(of: row).first64
  }

  /// The same for the current row of a query.
  private func digest(of query: borrowing Statement, in schema: TableSchema) -> UInt64? {
    prepare(schema)
    return digester?.rows.digest(of: query).first64
  }

  private func prepare(_ schema: TableSchema) {
    if digester?.table != schema.name { digester = (schema.name, RowDigester(schema)) }
  }
}
