import SatchelCapture
import SatchelConflicts
import SatchelRows
import SatchelSQLite
import SatchelValues

/// Finds rows that were written unseen (capture missed the write) after an export carried their captured changes.
/// Records these rows as conflicts.
///
/// A row's pre-images show the row before each change. Only the row itself shows the result of the last change. If
/// capture misses a write, that write replaces the row, and this result is lost. So an export records a digest of each
/// row that it carries. Each export that carries the row again compares the row with this digest. An import that
/// acknowledges or writes the row does so too.
final class ExportedRows {
  private let session: DeviceSession
  /// The digester of the table that was used last. Rows come table by table.
  private var digester: (table: Name, rows: RowDigester)?
  /// The rows whose changes the bundle acknowledges.
  private var acknowledgedRows = FewRows()
  /// The rows with exported changes that the import may write; nil: the import may write any row.
  private var touched: Set<RowInTable>? = []
  /// The new conflicts about rows that were written unseen.
  private(set) var found: [ConflictRecord] = []
  /// The rows that are recorded as conflicts, because they were written unseen.
  private var kept: Set<RowInTable> = []
  /// The rows of the last export, as the archive shows them; nil: the archive has not been read.
  private var sent: [Name: [RowKey: SentRow]]?

  private var database: Database { _read { yield session.database } }
  /// The first generation whose changes no export carries.
  private var next: Generation { Generation(session.state.sequence.rawValue) }

  init(_ session: DeviceSession) { self.session = session }

  /// Compares the rows whose changes the next export carries, and records the digests of the rows that it carries for
  /// the first time. The caller holds the transaction of the export.
  func noteUnexported() throws {
    let isFirst = try ExportedRowTable.isEmpty(in: database)
    if !isFirst { try takeUpUnseen() }
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

  /// Makes unseen writes pending if they are the last writes of exported rows. So the next export carries them as new
  /// changes. Otherwise it would repeat the exported changes with the unseen values, and the hub may already have
  /// these changes.
  ///
  /// If the archive does not show the exported rows, the present rows are kept as conflicts.
  private func takeUpUnseen() throws {
    var rows: Set<RowInTable> = []
    try eachUnseen { name, _, _, _, _ in rows.insert(name) }
    if rows.isEmpty { return }
    guard let changes = try session.findUnseen(of: rows) else {
      try eachUnseen { name, row, known, images, schema in
        try compare(row, with: known, name, images, in: schema)
      }
      return try recordDigests(of: kept)
    }
    try session.savePreImages(of: changes)
    try recordDigests(of: Set(changes.map { RowInTable(table: $0.table, key: $0.key) }))
  }

  /// Calls `body` for each row that was written unseen after its export, if no later change of the row was captured.
  private func eachUnseen(
    _ body: (RowInTable, Row?, ExportedRow, [PreImage], TableSchema) throws -> Void
  ) throws {
    for table in session.tables where try !PreImageStore.isEmpty(table, in: database) {
      let schema = table.schema
      try PreImageStore.each(table, since: .zero, begunBefore: next, in: database) { key, images, current in
        let name = RowInTable(table: schema.name, key: key)
        guard !images.contains(where: { $0.generation >= next }),
          let known = try ExportedRowTable.row(name, in: database), known.digest != digest(current, in: schema)
        else { return }
        try body(name, current, known, images, schema)
      }
    }
  }

  // MARK: imports

  /// Compares the rows whose changes the bundle acknowledges, and records the versions that the hub had sent. The rows'
  /// pre-images must still be there.
  /// - Parameters:
  ///   - generation: the first generation that the bundle does not acknowledge.
  ///   - isWriting: whether the bundle writes rows. If it writes none, no row is compared.
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
          try compare(exported, with: known, name, images, in: table.schema, acknowledging: generation)
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

  /// Records that a row still has exported changes, although the bundle acknowledges these changes.
  func keep(_ row: RowInTable) { touched?.insert(row) }

  /// Compares a row with the digest of its export, before the import may write the row.
  /// - Parameter images: the row's pre-images, oldest first.
  func willWrite(_ key: RowKey, _ images: [PreImage], over current: Row?, in schema: TableSchema) throws {
    guard !images.isEmpty, let exported = exported(images, current) else { return }
    let name = RowInTable(table: schema.name, key: key)
    guard touched?.insert(name).inserted == true else { return }
    if let known = try ExportedRowTable.row(name, in: database) {
      try compare(exported, with: known, name, images, in: schema)
    }
  }

  /// Compares all rows. This is needed if the import changes primary keys or tables, because it may then write any row.
  func willWriteAny() throws {
    if touched == nil { return }
    for table in session.tables where try !PreImageStore.isEmpty(table, in: database) {
      try PreImageStore.each(table, since: .zero, in: database) { key, images, current in
        try willWrite(key, images, over: current, in: table.schema)
      }
    }
    touched = nil
  }

  /// Keeps a row as a conflict if the row differs from the digest of its export.
  /// - Parameter generation: the first generation that the bundle does not acknowledge; nil: there is no bundle, or it
  ///   acknowledges no change of the row.
  private func compare(
    _ row: Row?, with known: ExportedRow, _ name: RowInTable, _ images: [PreImage], in schema: TableSchema,
    acknowledging generation: Generation? = nil
  ) throws {
    // A hub of an earlier release cannot read conflicts of the kind `unseen`.
    guard known.digest != digest(row, in: schema), !kept.contains(name),
      session.state.hubUnderstands.contains(.unseen)
    else { return }
    var hub = images[0].hubRow
    if let generation, let sent = try sentRow(name, before: generation), sent != row { hub = sent }
    guard let record = try session.record(ofUnseen: row, key: name.key, met: hub, in: schema) else { return }
    kept.insert(name)
    let now = session.platform.clock.milliseconds()
    if case .new = try ConflictTable.addMeeting(record, bundle: nil, noted: now, in: database) { found.append(record) }
  }

  /// Returns the row as the hub has it after the exported changes of earlier generations. Returns nil if the archive
  /// does not show the row, and `.some(nil)` if these changes deleted it.
  private func sentRow(_ name: RowInTable, before generation: Generation) throws -> Row?? {
    guard let own = try sentRows()[name.table]?[name.key] else { return nil }
    return .some(own.images.first { $0.generation >= generation }.map(\.row) ?? own.row)
  }

  /// The rows of the last export; empty if the archive is not complete. Reads all bundles since the last full bundle,
  /// which takes time, so this is done only for a row that was written unseen.
  private func sentRows() throws -> [Name: [RowKey: SentRow]] {
    if let sent { return sent }
    let history =
      try session.isRebuilt
      ? nil : ArchivedBundles.ifComplete { try DeviceHistory(session, at: session.stand()) }
    let rows = history?.sent ?? [:]
    sent = rows
    return rows
  }

  /// Whether this import has already kept a row as a conflict.
  /// - Parameter former: the row before the bundle. The row may have another key by now.
  func isKept(_ former: RowInTable) -> Bool { !kept.isEmpty && kept.contains(former) }

  /// Returns the version of a row that the hub had sent; nil: the bundle acknowledges no change of the row.
  func acknowledged(_ key: RowKey, in schema: TableSchema) throws -> ExportedRow.Acknowledged? {
    let name = RowInTable(table: schema.name, key: key)
    // This check avoids a query for most rows: the function is called for each line of a delta.
    guard acknowledgedRows.mayContain(name) else { return nil }
    return try ExportedRowTable.row(name, in: database)?.acknowledged
  }

  /// Records the digests of the rows that the import wrote, and forgets rows without exported changes.
  func finish() throws {
    guard let touched else { return try noteAll() }
    if !acknowledgedRows.isEmpty { try ExportedRowTable.forgetAcknowledged(in: database) }
    try recordDigests(of: touched)
  }

  /// Records the digests of those of these rows that have exported changes, and forgets the others.
  private func recordDigests(of names: Set<RowInTable>) throws {
    let tables = Set(names.map(\.table)).compactMap(session.table)
    let lookups = try Dictionary(
      uniqueKeysWithValues: tables.map {
        ($0.name, (rows: try RowTable($0, in: database), images: try PreImageLookup($0, in: database)))
      })
    for name in names {
      guard let (rows, lookup) = lookups[name.table] else { continue }
      let (images, current) = (try lookup.images(of: name.key), try rows.row(name.key))
      if !images.isEmpty, let exported = exported(images, current) {
        try ExportedRowTable.put(ExportedRow(digest: digest(exported, in: rows.schema)), name, in: database)
      } else {
        try ExportedRowTable.forget(name, in: database)
      }
    }
  }

  /// Records the digests of all rows with exported changes. Called after Satchel wrote rows, or after Satchel found
  /// unseen writes.
  func noteAll() throws {
    // The tables may have changed since the digester was made.
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

  /// Returns the row as it was after its last exported change; `.some(nil)`: that change deleted the row. Returns nil
  /// if no export carries a change of the row.
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

  /// The first eight bytes of the digest of a query's current row.
  private func digest(of query: borrowing Statement, in schema: TableSchema) -> UInt64? {
    prepare(schema)
    return digester?.rows.digest(of: query).first64
  }

  private func prepare(_ schema: TableSchema) {
    if digester?.table != schema.name { digester = (schema.name, RowDigester(schema)) }
  }
}

/// A set of rows with bounded memory. If it gets too many members, it forgets them, and any row counts as a possible
/// member.
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
