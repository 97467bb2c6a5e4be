import SatchelCapture
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Tells which rows on this device are none that the hub may believe them to be, before a bundle writes over them.
///
/// A write that no trigger saw leaves a row that the hub does not expect. The hub says with each line what the row may be; the row as the
/// hub had sent it is the oldest pre-image where there are any, those included that the bundle itself acknowledges. Digests are made on
/// another core, so the answers come later than the questions.
final class RowWitness {
  /// A row that a bundle is about to write over.
  struct Asked {
    let rows: RowTable
    let key: RowKey
    let local: Row?
    let incoming: Row?
  }

  private struct Batch: Sendable {
    var rows: [(row: Row?, schema: TableSchema, expected: [UInt64?])] = []
    var size = BatchSize()
  }

  private var digester = TableDigester()
  private var conveyor = Conveyor<TableDigester, Batch, [Int]>(state: TableDigester()) { digester, batch in
    batch.rows.indices.filter {
      let (row, schema, expected) = batch.rows[$0]
      return !expected.contains(digester.digest(of: row, in: schema))
    }
  }
  private var batch = Batch()
  /// What was asked and not answered: that of each batch, and that of the batch that is being made.
  private var asked: [[Asked]] = [[]]
  private var unseen: [Asked] = []
  /// For rows with pre-images that the bundle acknowledges: what the hub had sent, by a hash of the row's table and key.
  private var acknowledged: [Int: UInt64?] = [:]
  /// Whether there were more of them than can be remembered: then no line is compared.
  private var isBlind = false

  /// So many rows take some 20 MiB.
  private static let mostAcknowledged = 400_000

  /// Remembers what is about to be forgotten. Called before a bundle's acknowledgement is taken.
  func remember(before generation: Generation, _ tables: [TrackedTable], in database: borrowing Database) throws {
    for table in tables where try !PreImageStore.isEmpty(table, in: database) {
      try PreImageStore.each(table, since: .zero, in: database) { key, images, _ in
        guard let first = images.first, first.generation < generation, !isBlind else { return }
        isBlind = acknowledged.count >= Self.mostAcknowledged
        acknowledged[name(of: key, in: table.schema)] = .some(digester.digest(of: first.hubRow, in: table.schema))
      }
    }
    if isBlind { acknowledged = [:] }
  }

  /// Compares nothing from now on.
  func close() { isBlind = true }

  private func name(of key: RowKey, in schema: TableSchema) -> Int {
    var hasher = Hasher()
    hasher.combine(schema.name)
    hasher.combine(canonicalKey(key))
    return hasher.finalize()
  }

  /// Asks whether the row is one that the hub may believe it to be.
  /// - Parameters:
  ///   - images: its pending pre-images, oldest first.
  ///   - expected: what the hub believes; empty: it does not say.
  func ask(_ row: Asked, _ images: [PreImage], expected: [UInt64?]) {
    if expected.isEmpty || isBlind { return }
    if !acknowledged.isEmpty, let known = acknowledged[name(of: row.key, in: row.rows.schema)] {
      if !expected.contains(known) { unseen.append(row) }
      return
    }
    let hubs = images.isEmpty ? row.local : images[0].hubRow
    batch.rows.append((hubs, row.rows.schema, expected))
    batch.size.add((row.local?.byteCount ?? 0) + (row.incoming?.byteCount ?? 0))
    asked[asked.count - 1].append(row)
    if !batch.size.isFull { return }
    let mostAtOnce = batch.size.mostAtOnce
    put()
    while conveyor.count > mostAtOnce { take() }
  }

  private func put() {
    conveyor.put(batch)
    batch = Batch()
    asked.append([])
  }

  private func take() {
    guard let places = conveyor.take() else { return }
    let rows = asked.removeFirst()
    unseen += places.map { rows[$0] }
  }

  /// The rows that were asked about and are none that the hub may believe them to be, each once.
  /// - Parameter isLast: whether to wait for the answers about all rows.
  func takeUnseen(isLast: Bool = false) -> [Asked] {
    if isLast {
      put()
      while conveyor.count > 0 { take() }
    }
    defer { unseen = [] }
    return unseen
  }
}

/// Makes digests of rows of one table after the other.
private struct TableDigester: Sendable {
  private var present: (table: Name, digester: RowDigester)?

  /// The first eight bytes of the row's digest; nil for no row.
  mutating func digest(of row: Row?, in schema: TableSchema) -> UInt64? {
    guard let row else { return nil }
    if present?.table != schema.name { present = (schema.name, RowDigester(schema)) }
    return present?.digester.digest(of: row).first64
  }
}
