import SatchelCapture
import SatchelCrypto
import SatchelJSON
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Tells whether a row on this device is one that the hub may believe it to be, before a bundle writes over it.
///
/// A write that no trigger saw leaves a row that the hub does not expect. The hub says with each line what the row may
/// be; the row as the hub had sent it is the oldest pre-image where there are any, those included that the bundle
/// itself acknowledges.
final class RowWitness {
  /// Of the table that was asked for last: the lines of a bundle come table by table.
  private var digester: (table: Name, digester: RowDigester)?
  /// For rows with pre-images that the bundle acknowledges: what the hub had sent, by a hash of the row's table and
  /// key.
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
        acknowledged[name(of: key, in: table.schema)] = .some(digest(first.hubRow, in: table.schema))
      }
    }
    if isBlind { acknowledged = [:] }
  }

  /// Compares nothing from now on.
  func close() { isBlind = true }

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

  /// Whether the row is none that the hub may believe it to be.
  /// - Parameters:
  ///   - expected: what the hub believes; empty: it does not say.
  ///   - current: the row as it is.
  ///   - images: its pending pre-images, oldest first.
  func isUnseen(_ current: Row?, _ images: [PreImage], key: RowKey, in schema: TableSchema, expected: [UInt64?]) -> Bool
  {
    if expected.isEmpty || isBlind { return false }
    if !acknowledged.isEmpty, let known = acknowledged[name(of: key, in: schema)] { return !expected.contains(known) }
    return !expected.contains(digest(images.isEmpty ? current : images[0].hubRow, in: schema))
  }
}
