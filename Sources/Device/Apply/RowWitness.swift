import SatchelCapture
import SatchelCrypto
import SatchelJSON
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Checks whether a row on this device is a version that the hub may expect, before a bundle overwrites it.
///
/// A write that no trigger saw leaves a row that the hub does not expect. Each line from the hub lists the row's
/// possible versions. If the row has pre-images, the oldest pre-image is the version that the hub sent. Pre-images that
/// the bundle itself acknowledges count too.
final class RowWitness {
  /// The digester of the last call's table. One digester is enough, because a bundle's lines are sorted by table.
  private var digester: (table: Name, digester: RowDigester)?
  /// For rows whose pre-images the bundle acknowledges: the version that the hub had sent, by a hash of table and key.
  private var acknowledged: [Int: UInt64?] = [:]
  /// Whether no line is compared, for example because there are too many rows to remember.
  private var isBlind = false

  /// Columns, by table, that hold keys which change with the bundle.
  private var renamed: [Name: [RenamedColumn]] = [:]

  private struct RenamedColumn {
    let column: Int
    /// The table whose keys are in the column.
    let owner: TrackedTable
    /// The old and the new keys.
    let keys: Set<Value>
  }

  /// This many rows take about 20 MiB.
  private static let mostAcknowledged = 400_000

  /// Remembers the pre-images that are about to be forgotten. Called before a bundle's acknowledgement is applied.
  func remember(before generation: Generation, _ tables: [TrackedTable], in database: borrowing Database) throws {
    for table in tables where try !PreImageStore.isEmpty(table, in: database) {
      try PreImageStore.each(table, since: .zero, in: database) { key, images, _ in
        guard let first = images.first, first.generation < generation, !isBlind else { return }
        isBlind = acknowledged.count >= Self.mostAcknowledged
        acknowledged[name(of: key, in: table.schema)] = .some(digest(first.hubRow, in: table.schema))
      }
    }
    if isBlind { acknowledged = [:] }
  }

  /// Compares nothing from now on.
  func close() { isBlind = true }

  /// Excludes rows whose keys change with the bundle, and rows that refer to them. The hub may know these rows by their
  /// old or new keys.
  func exclude(_ rekeyed: [RenumberedRow], among tables: [TrackedTable]) throws {
    if rekeyed.isEmpty { return }
    let keys = Dictionary(grouping: rekeyed, by: \.table).mapValues { Set($0.flatMap { [$0.old, $0.new] }) }
    for (table, columns) in try zip(tables, PrimaryKeyReferences(tables).columns) {
      renamed[table.name] = columns.compactMap { column, owner in
        keys[tables[owner].name].map { RenamedColumn(column: column, owner: tables[owner], keys: $0) }
      }
    }
  }

  /// Whether any of these states of a row holds a key that changes with the bundle.
  private func isRenamed(_ rows: [Row?], key: RowKey, in schema: TableSchema) -> Bool {
    renamed[schema.name]?.contains { renamed in
      let ofKey = schema.key.firstIndex(of: renamed.column).map { key.values[$0] }
      let values = rows.map { $0?[renamed.column] } + [ofKey]
      return values.contains { $0.map { renamed.keys.contains(renamed.owner.key(namedBy: $0)) } ?? false }
    } ?? false
  }

  private func name(of key: RowKey, in schema: TableSchema) -> Int {
    var hasher = Hasher()
    hasher.combine(schema.name)
    hasher.combine(key)
    return hasher.finalize()
  }

  private func digest(_ row: Row?, in schema: TableSchema) -> UInt64? {
    guard let row else { return nil }
    if digester?.table != schema.name { digester = (schema.name, RowDigester(schema)) }
    return digester?.digester.digest(of: row).first64
  }

  /// Whether the row differs from every version that the hub may expect.
  /// - Parameters:
  ///   - expected: the versions that the hub expects; empty: the hub does not say.
  ///   - current: the row as it is.
  ///   - images: the row's pending pre-images, oldest first.
  ///   - incoming: the row as the hub has it; nil: the row is gone.
  func isUnseen(
    _ current: Row?, _ images: [PreImage], key: RowKey, met incoming: Row?, in schema: TableSchema, expected: [UInt64?]
  ) -> Bool {
    if expected.isEmpty || isBlind { return false }
    if isRenamed([current, images.first?.row, incoming], key: key, in: schema) { return false }
    if !acknowledged.isEmpty, let known = acknowledged[name(of: key, in: schema)] { return !expected.contains(known) }
    return !expected.contains(digest(images.isEmpty ? current : images[0].hubRow, in: schema))
  }
}
