import SatchelSQLite

extension Database {
  /// The content of all tables as text, without the tables `others`. Columns that only record contacts with devices are
  /// left out.
  ///
  /// The stamps of devices are left out too. The hub's own clock limits the stamp that the hub accepts from a device.
  /// So an old bundle may raise the stamp, if that clock was behind before.
  public func dump(without others: Set<String>) throws -> [String: [String]] {
    let tables = try all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") { $0.text(0) }
    var dump: [String: [String]] = [:]
    for table in tables where !others.contains(table) {
      let columns = try all(
        """
        SELECT name
        FROM pragma_table_info(:table)
        WHERE name NOT IN ('heard', 'skew', 'clock') AND NOT (:table = 'satchel_devices' AND name = 'stamp')
        """, ["table": .string(table)]
      ) { "quote(\(quoted($0.text(0))))" }
      dump[table] = try all("SELECT \(columns.joined(separator: " || ' ' || ")) FROM \(quoted(table))") { $0.text(0) }
    }
    return dump
  }
}
