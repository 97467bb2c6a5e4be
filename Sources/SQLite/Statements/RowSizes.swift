import SatchelValues

extension Database {
  /// The size of all pages of the database, in bytes.
  public func pageBytes() throws -> Int64 {
    let count = try first("PRAGMA main.page_count") { $0.integer(0) } ?? 0
    return try count * (first("PRAGMA main.page_size") { $0.integer(0) } ?? 0)
  }

  /// Returns the key of a row whose values have more than `limit` bytes together; nil if the table has no such row.
  ///
  /// If all pages together are not larger than the limit, no row is read: no row can be larger than the file.
  public func row(of table: TableSchema, largerThan limit: Int64) throws -> RowKey? {
    if try pageBytes() <= limit { return nil }
    let sizes = table.columns.map(quoted).map { column in
      // SQLite knows the length of a blob without reading its content.
      """
      CASE typeof(\(column)) WHEN 'blob' THEN length(\(column)) WHEN 'text' THEN length(CAST(\(column) AS BLOB)) \
      ELSE 0 END
      """
    }
    return try first(
      """
      SELECT \(quotedList(table.key.map { table.columns[$0] }))
      FROM \(quoted(table.name))
      WHERE \(sizes.joined(separator: " + ")) > :limit
      """, ["limit": .integer(limit)]
    ) { RowKey($0.values(from: 0, count: table.key.count)) }
  }
}
