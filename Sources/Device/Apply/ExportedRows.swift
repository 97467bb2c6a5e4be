import SatchelCapture
import SatchelConflicts
import SatchelRows
import SatchelSQLite
import SatchelValues

/// Finds rows that were written unseen after their captured changes had been exported, and keeps them as conflicts.
///
/// A row's pre-images show the row before each change, and the row itself shows the last change. A write that no
/// trigger saw replaces the row, so the result of the last change is lost. So an export records a digest of each row
/// that it carries. The next export of the row, and an import that acknowledges or writes the row, compare it with that
/// digest.
final class ExportedRows {
  private let session: DeviceSession
  /// The digesters of one table. Rows come table by table.
  private var digester: (table: Name, rows: RowDigester)?
  /// The rows of which the bundle acknowledges changes.
  private var acknowledgedRows = FewRows()
  /// The rows with exported changes that the import may write. nil: it may write all of them.
  private var touched: Set<RowInTable>? = []
  /// The new conflicts.
  private(set) var found: [ConflictRecord] = []
  /// The rows that these conflicts keep.
  private var kept: Set<RowInTable> = []

  private var database: Database { _read { yield session.database } }
  /// The first generation whose changes no export carries.
  private var next: Generation { Generation(session.state.sequence.rawValue) }

  init(_ session: DeviceSession) { self.session = session }

  /// Notes the rows whose changes the next export carries for the first time. Called in the export's transaction.
  func noteUnexported() throws {
    let isFirst = try ExportedRowTable.isEmpty(in: database)
    for table in session.tables where try !PreImageStore.isEmpty(table, in: database) {
      let schema = table.schema
      let lookup = try PreImageLookup(table, in: database)
      try PreImageStore.eachPresent(table, since: next, in: database) { key, exists, query in
        let name = RowInTable(table: schema.name, key: key)
        if !isFirst, let known = try ExportedRowTable.row(name, in: database) {
          let images = try lookup.images(of: key)
          if let image = images.first(where: { $0.generation >= next }) {
            try compare(image.row, with: known, name, images, in: schema)
          }
        }
        try ExportedRowTable.put(ExportedRow(digest: exists ? digest(of: query, in: schema) : nil), name, in: database)
      }
    }
  }

  // MARK: imports

  /// Compares the rows whose changes the bundle acknowledges, and remembers what the hub had sent. Called while their
  /// pre-images are there.
  /// - Parameters:
  ///   - generation: the bundle acknowledges changes of earlier generations.
  ///   - isWriting: false: the bundle writes no rows, so nothing is compared.
  func acknowledge(before generation: Generation, isWriting: Bool) throws {
    let references = try PrimaryKeyReferences(session.tables).columns
    for (table, columns) in zip(session.tables, references) where try !PreImageStore.isEmpty(table, in: database) {
      try PreImageStore.each(table, since: .zero, begunBefore: generation, in: database) { key, images, current in
        guard let exported = exported(images, current) else { return }
        let name = RowInTable(table: table.name, key: key)
        let isAll = !images.contains { $0.generation >= generation && $0.generation < next }
        if !isWriting {
          if isAll { try ExportedRowTable.forget(name, in: database) }
          return
        }
        if let known = try ExportedRowTable.row(name, in: database) {
          try compare(exported, with: known, name, images, in: table.schema)
        }
        let sent = images[0].hubRow
        let refers = sent.map { sent in columns.keys.contains { !sent[$0].isNull } } ?? false
        let acknowledged = ExportedRow.Acknowledged(
          digest: digest(sent, in: table.schema), row: refers ? sent.map { table.schema.fields($0) } : nil, isAll: isAll
        )
        let row = ExportedRow(digest: digest(exported, in: table.schema), acknowledged: acknowledged)
        try ExportedRowTable.put(row, name, in: database)
        acknowledgedRows.insert(name)
      }
    }
  }

  /// Remembers that a row keeps its exported changes, although the bundle acknowledges them.
  func keep(_ row: RowInTable) { touched?.insert(row) }

  /// Compares a row that the import may write, before it does.
  /// - Parameter images: the row's pre-images, oldest first.
  func willWrite(_ key: RowKey, _ images: [PreImage], over current: Row?, in schema: TableSchema) throws {
    guard !images.isEmpty, let exported = exported(images, current) else { return }
    let name = RowInTable(table: schema.name, key: key)
    guard touched?.insert(name).inserted == true else { return }
    if let known = try ExportedRowTable.row(name, in: database) {
      try compare(exported, with: known, name, images, in: schema)
    }
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

  /// Keeps a row as a conflict if it is not as it was exported.
  private func compare(
    _ row: Row?, with known: ExportedRow, _ name: RowInTable, _ images: [PreImage], in schema: TableSchema
  ) throws {
    // An old hub cannot read conflicts of this kind.
    guard known.digest != digest(row, in: schema), !kept.contains(name),
      session.state.hubUnderstands.contains(.unseen),
      let record = try session.record(ofUnseen: row, key: name.key, met: images[0].hubRow, in: schema)
    else { return }
    kept.insert(name)
    let now = session.platform.clock.milliseconds()
    if case .new = try ConflictTable.addMeeting(record, bundle: nil, noted: now, in: database) { found.append(record) }
  }

  /// Whether this import has kept a row already, which may have another key by now.
  func isKept(_ former: RowInTable) -> Bool { !kept.isEmpty && kept.contains(former) }

  /// Returns the version of a row that the hub had sent, if the bundle acknowledges changes of the row.
  func acknowledged(_ key: RowKey, in schema: TableSchema) throws -> ExportedRow.Acknowledged? {
    let name = RowInTable(table: schema.name, key: key)
    // Each line of a delta comes here.
    guard acknowledgedRows.mayContain(name) else { return nil }
    return try ExportedRowTable.row(name, in: database)?.acknowledged
  }

  /// Notes the rows that the import wrote as they are now.
  func finish() throws {
    guard let touched else { return try noteAll() }
    if !acknowledgedRows.isEmpty { try ExportedRowTable.forgetAcknowledged(in: database) }
    let tables = Set(touched.map(\.table)).compactMap(session.table)
    let lookups = try Dictionary(
      uniqueKeysWithValues: tables.map {
        ($0.name, (rows: try RowTable($0, in: database), images: try PreImageLookup($0, in: database)))
      })
    for name in touched {
      guard let (rows, lookup) = lookups[name.table] else { continue }
      let (images, current) = (try lookup.images(of: name.key), try rows.row(name.key))
      if !images.isEmpty, let exported = exported(images, current) {
        try ExportedRowTable.put(ExportedRow(digest: digest(exported, in: rows.schema)), name, in: database)
      } else {
        try ExportedRowTable.forget(name, in: database)
      }
    }
  }

  /// Records the present state of all rows with exported changes. Called after Satchel wrote rows, or after it found
  /// unseen writes.
  func noteAll() throws {
    // The tables may be others by now.
    digester = nil
    if try !ExportedRowTable.isEmpty(in: database) { try ExportedRowTable.forgetAll(in: database) }
    for table in session.tables where try !PreImageStore.isEmpty(table, in: database) {
      try PreImageStore.each(table, since: .zero, begunBefore: next, in: database) { key, images, current in
        guard let exported = exported(images, current) else { return }
        let row = ExportedRow(digest: digest(exported, in: table.schema))
        try ExportedRowTable.put(row, RowInTable(table: table.name, key: key), in: database)
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

/// A set of rows that knows its members while they are few, and then only that it has some. So its memory is bounded.
private struct FewRows {
  private var rows: Set<RowInTable>? = []
  private static let most = 1_000

  var isEmpty: Bool { rows?.isEmpty ?? false }

  mutating func insert(_ row: RowInTable) {
    rows?.insert(row)
    if let count = rows?.count, count > Self.most { rows = nil }
  }

  /// Whether the row may be in the set.
  func mayContain(_ row: RowInTable) -> Bool { rows?.contains(row) ?? true }
}
