import SatchelSQLite

extension Database {
  /// All tables but those named, with their content as text, except columns that only record contacts with devices.
  ///
  /// The hub believes a device's newest stamp as far as its own clock shows that time. So an old bundle may raise the
  /// stamp if the clock was behind before.
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
