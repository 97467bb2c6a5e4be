import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Checks whether a row on this device is a version that the hub may expect, before a bundle overwrites it.
///
/// A write that no trigger saw leaves a row that the hub does not expect. Each line from the hub lists the row's
/// possible versions. If the row has pre-images, the oldest pre-image is the version that the hub sent. Pre-images that
/// the bundle itself acknowledges count too. A row with such pre-images must also be as its export carried it.
final class RowWitness {
  private let exported: ExportedRows
  /// Whether no line is compared.
  private var isBlind = false
  /// Rows whose keys change with the bundle, and rows that refer to them. nil: no key changes.
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

  /// Compares nothing from now on.
  func close() { isBlind = true }

  /// Notes the keys that change with the bundle. The hub may know these rows, and rows that refer to them, by their old
  /// or new keys.
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

  /// A row as it was before the bundle, with the keys that it and its parents have now.
  func withNewKeys(_ row: Row?, in schema: TableSchema) -> Row? {
    guard let row, let renamed, let place = renamed.places[schema.name] else { return row }
    return renamed.forwards.row(row, of: place)
  }

  /// Whether the row with this key already has the keys that its parents have now.
  func isMoved(_ key: RowKey, in schema: TableSchema) -> Bool {
    renamed?.former[RowInTable(table: schema.name, key: key)] != nil
  }

  /// Whether this import has kept a row as a conflict already.
  func isKept(_ key: RowKey, in schema: TableSchema) -> Bool { isKept(before: former(key, in: schema), in: schema) }

  /// The same for the row that had this key before the bundle.
  func isKept(before key: RowKey, in schema: TableSchema) -> Bool {
    exported.isKept(RowInTable(table: schema.name, key: key))
  }

  /// Whether the hub expects a row.
  /// - Parameter key: the row's key before the bundle.
  func isExpected(_ row: Row?, before key: RowKey, in schema: TableSchema, expected: [UInt64?]) throws -> Bool {
    if expected.isEmpty || isBlind { return true }
    guard let sent = try exported.acknowledged(key, in: schema) else {
      return row == nil && isRenamed(key, in: schema) || isAny(of: row, among: expected, in: schema)
    }
    if let row = sent.row { return try isAny(of: schema.row(row), among: expected, in: schema) }
    // A new row of this device may be joined with a row of the hub: the line states that row's versions.
    return sent.digest == nil && isRenamed(key, in: schema) || expected.contains(sent.digest)
  }

  private func isAny(of row: Row?, among expected: [UInt64?], in schema: TableSchema) -> Bool {
    // Each line of a delta comes here.
    if renamed == nil { return expected.contains(exported.digest(row, in: schema)) }
    return versions(of: row, in: schema).contains { expected.contains(exported.digest($0, in: schema)) }
  }

  /// The row with its present keys, and with other old or new keys.
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
