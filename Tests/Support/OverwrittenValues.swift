import SatchelSQLite

/// Values of another device or of the hub that a device overwrote, but never had. Each of them must be in a conflict at
/// the hub.
///
/// The hub's log records every write and the value before it. A device's own tables show which values it held. Some
/// values are not checked. The hub's own users may overwrite any value, because the hub holds everything. In columns
/// that are added up or combined, nothing is lost. NULL and numbers that are not whole are not checked either.
public struct OverwrittenValues {
  /// A value in one column of one row. Texts are compared by their bytes.
  private struct Sighting: Hashable {
    let table: String
    let row: [UInt8]
    let column: String
    /// As an SQL literal.
    let value: [UInt8]
  }

  private struct Cell: Hashable {
    let table: String
    let row: [UInt8]
    let column: String
  }

  private var held: [String: Set<Sighting>] = [:]
  /// Columns, as `table.column`, whose values are combined.
  private let combined: Set<String>
  /// The values, as SQL literals, that migrations give to new columns.
  private let defaults: Set<[UInt8]>

  public init(combined: Set<String> = [], defaults: [String] = []) {
    self.combined = combined
    self.defaults = Set(defaults.map { Array($0.utf8) })
  }

  /// Records the values that a device holds.
  /// - Parameter device: the device's id.
  public mutating func see(_ database: borrowing Database, of device: String, tables: [String]) throws {
    var seen = held[device] ?? []
    for table in tables where try database.hasTable(table) {
      let columns = try database.all("SELECT name FROM pragma_table_info(:table)", ["table": .string(table)]) {
        $0.text(0)
      }
      let values = columns.map { "quote(\(quoted($0)))" }.joined(separator: ", ")
      try database.each("SELECT id, \(values) FROM \(quoted(table))") { row in
        for (place, column) in columns.enumerated() {
          seen.insert(
            Sighting(
              table: table, row: Array(row.text(0).utf8), column: column, value: Array(row.text(place + 1).utf8)))
        }
      }
    }
    held[device] = seen
  }

  /// Records that a device has a new id. The values that it held under its former id still count.
  public mutating func rename(_ former: String, to device: String) {
    held[device, default: []].formUnion(held[former] ?? [])
  }

  /// Returns the lost values, in words; nil: none.
  /// - Parameter hub: the hub's database.
  public func lost(in hub: borrowing Database) throws -> String? {
    let kept = try self.kept(in: hub)
    var authors: [Cell: (device: String?, value: [UInt8])] = [:]
    var lost: String?
    try hub.each(Self.writesSQL) { row in
      let cell = Cell(table: row.text(0), row: Array(row.text(1).utf8), column: row.text(4))
      let (device, value) = (row.optionalText(2), Array(row.text(5).utf8))
      if row.integer(3) == 1 {
        authors[cell] = (device, value)
        return
      }
      guard lost == nil, let device, let known = authors[cell], known.value == value, known.device != device,
        let seen = held[device], !defaults.contains(value), !combined.contains("\(cell.table).\(cell.column)")
      else { return }
      let sighting = Sighting(table: cell.table, row: cell.row, column: cell.column, value: value)
      if seen.contains(sighting) || kept.contains(sighting) { return }
      let name = "\(cell.table) \(String(decoding: cell.row, as: UTF8.self)).\(cell.column)"
      lost =
        """
        \(device) wrote over \(name) = \(String(decoding: value, as: UTF8.self)) of \(known.device ?? "the hub"), and \
        no conflict has it
        """
    }
    return lost
  }

  /// The values in the hub's conflicts. A row that had a natural key may be in a conflict about another row.
  private func kept(in hub: borrowing Database) throws -> Set<Sighting> {
    var kept: Set<Sighting> = []
    for side in ["base_values", "hub_values", "device_values"] {
      try hub.each(
        """
        SELECT table_name, coalesce(json_extract(\(side), '$.id'), json_extract(satchel_conflicts.key, '$[0]')),
          field.key, quote(field.value)
        FROM satchel_conflicts, json_each(satchel_conflicts.\(side)) AS field
        """
      ) {
        kept.insert(
          Sighting(
            table: $0.text(0), row: Array($0.text(1).utf8), column: $0.text(2), value: Array($0.text(3).utf8)))
      }
    }
    return kept
  }

  /// For each entry of the log, the values that the entry replaced, and then the values that it set.
  private static let writesSQL = """
    SELECT table_name, json_extract(satchel_log.key, '$[0]'), device, 0 AS phase, field.key, quote(field.value), cursor
    FROM satchel_log, json_each(was_values) AS field
    WHERE was_values IS NOT NULL AND field.type IN ('text', 'integer')
    UNION ALL
    SELECT table_name, json_extract(satchel_log.key, '$[0]'), device, 1, field.key, quote(field.value), cursor
    FROM satchel_log, json_each(set_values) AS field
    WHERE set_values IS NOT NULL AND field.type IN ('text', 'integer')
    ORDER BY cursor, phase
    """
}
