import SatchelValues

extension Database {
  /// The size of the used part of the file, in bytes.
  public func pageBytes() throws -> Int64 {
    let count = try first("PRAGMA main.page_count") { $0.integer(0) } ?? 0
    return try count * (first("PRAGMA main.page_size") { $0.integer(0) } ?? 0)
  }

  /// Returns the key of a row of a table whose values together are larger than `limit`; nil if there is none.
  ///
  /// A small file costs nothing: no row is larger than all pages.
  public func row(of table: TableSchema, largerThan limit: Int64) throws -> RowKey? {
    if try pageBytes() <= limit { return nil }
    let sizes = table.columns.map(quoted).map { column in
      // The length of a blob is known without its content.
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
