import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Checks whether a row on this device is a version that the hub may expect, before a bundle overwrites the row.
///
/// Each line from the hub lists the versions that the row may have here. A row that was written unseen matches none of
/// them. If the row has pre-images, its oldest pre-image is compared, because that is the version that the hub sent.
/// Pre-images that the bundle itself acknowledges count too. `ExportedRows` compares such a row also with its export.
final class RowWitness {
  private let exported: ExportedRows
  /// Whether every row counts as expected, without a comparison.
  private var isBlind = false
  /// The primary keys that change with the bundle; nil: no key changes.
  private var renamed: Renamed?

  private struct Renamed {
    let places: [Name: Int]
    let forwards: PrimaryKeyMap
    let backwards: PrimaryKeyMap
    /// The former keys of the rows that moved, by their new keys.
    let former: [RowInTable: RowKey]
    var maps: [PrimaryKeyMap] { [forwards, backwards] }
  }

  init(_ exported: ExportedRows) { self.exported = exported }

  /// After this call, every row counts as expected.
  func close() { isBlind = true }

  /// Records the primary keys that change with the bundle. The versions that the hub lists may contain the old keys or
  /// the new keys.
  func note(_ keys: PrimaryKeyCollisions.Outcome, among tables: [TrackedTable]) throws {
    if keys.rekeyed.isEmpty { return }
    let places = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.name, $0) })
    let references = try PrimaryKeyReferences(tables)
    var (forwards, backwards) = (PrimaryKeyMap(references, tables), PrimaryKeyMap(references, tables))
    for row in keys.rekeyed {
      guard let place = places[row.table] else { continue }
      forwards.add(.init(place: place, old: row.old, new: row.new))
      backwards.add(.init(place: place, old: row.new, new: row.old))
    }
    renamed = Renamed(places: places, forwards: forwards, backwards: backwards, former: keys.former)
  }

  /// Whether the row differs from every version that the hub may expect.
  /// - Parameters:
  ///   - expected: the versions that the hub expects; empty: the hub does not say.
  ///   - current: the row as it is.
  ///   - images: the row's pending pre-images, oldest first.
  func isUnseen(
    _ current: Row?, _ images: [PreImage], key: RowKey, in schema: TableSchema, expected: [UInt64?]
  ) throws -> Bool {
    let row = images.isEmpty ? current : images[0].hubRow
    return try !isExpected(row, before: former(key, in: schema), in: schema, expected: expected)
  }

  /// Returns a row from before the bundle with the keys that the row and its parents have now.
  func withNewKeys(_ row: Row?, in schema: TableSchema) -> Row? {
    guard let row, let renamed, let place = renamed.places[schema.name] else { return row }
    return renamed.forwards.row(row, of: place)
  }

  /// Whether this import moved the row to this key. The row then already has the present keys of its parents.
  func isMoved(_ key: RowKey, in schema: TableSchema) -> Bool {
    renamed?.former[RowInTable(table: schema.name, key: key)] != nil
  }

  /// Whether this import has already recorded a row as a conflict.
  func isKept(_ key: RowKey, in schema: TableSchema) -> Bool { isKept(before: former(key, in: schema), in: schema) }

  /// Whether this import has recorded as a conflict the row that had this key before the bundle.
  func isKept(before key: RowKey, in schema: TableSchema) -> Bool {
    exported.isKept(RowInTable(table: schema.name, key: key))
  }

  /// Whether a row is a version that the hub expects.
  /// - Parameter key: the row's key before the bundle.
  func isExpected(_ row: Row?, before key: RowKey, in schema: TableSchema, expected: [UInt64?]) throws -> Bool {
    if expected.isEmpty || isBlind { return true }
    guard let sent = try exported.acknowledged(key, in: schema) else {
      return row == nil && isRenamed(key, in: schema) || isAny(of: row, among: expected, in: schema)
    }
    if let row = sent.row { return try isAny(of: schema.row(row), among: expected, in: schema) }
    // The device's new row may have been folded into a row from the hub. In that case, the line lists versions of the
    // other row.
    return sent.digest == nil && isRenamed(key, in: schema) || expected.contains(sent.digest)
  }

  private func isAny(of row: Row?, among expected: [UInt64?], in schema: TableSchema) -> Bool {
    // This early return saves time, because each line of a delta is checked here.
    if renamed == nil { return expected.contains(exported.digest(row, in: schema)) }
    return versions(of: row, in: schema).contains { expected.contains(exported.digest($0, in: schema)) }
  }

  /// Returns the row as it is now, and versions of it with other old or new keys.
  private func versions(of row: Row?, in schema: TableSchema) -> [Row?] {
    guard let row, let renamed, let place = renamed.places[schema.name] else { return [row] }
    return [row] + renamed.maps.map { $0.row(row, of: place) }.filter { $0 != row }
  }

  /// The key that the row had before the bundle.
  private func former(_ key: RowKey, in schema: TableSchema) -> RowKey {
    renamed?.former[RowInTable(table: schema.name, key: key)] ?? key
  }

  private func isRenamed(_ key: RowKey, in schema: TableSchema) -> Bool {
    guard let renamed, let place = renamed.places[schema.name] else { return false }
    return renamed.maps.contains { $0.key(key, of: place) != key }
  }
}
