import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelSQLite
import SatchelValues

extension ScopeStore {
  /// Returns a digest of everything that decides visibility, except the logged rows: the user, the rules, the tables'
  /// declarations, and the SQLite version. While this digest is the same, the log alone shows which visible rows
  /// change. nil if rows with a NULL key may decide, because the log does not contain such rows.
  func basis() throws -> String? {
    for place in try links.readAsWhole.sorted() where try hasNamelessRows(place) { return nil }
    let version = try store.database.first("SELECT sqlite_version()") { $0.text(0) } ?? ""
    var parts = [Self.evaluation, Array(version.utf8), store.dataset.source, Array(user.name.utf8)]
    parts.append(FieldsCoding.json(user.attributes))
    for table in store.tables { parts.append(try store.database.declaration(of: table.name)) }
    // Each part begins with its length, so the boundary between two parts is clear.
    let bytes = parts.flatMap { part in (0..<8).map { UInt8(truncatingIfNeeded: part.count >> (8 * $0)) } + part }
    return Digest.of(bytes).hexadecimal
  }

  /// The version of the evaluation. A developer must change it if the same rules get another meaning.
  private static let evaluation = Array("scope 2".utf8)

  private func hasNamelessRows(_ place: Int) throws -> Bool {
    let table = store.tables[place]
    // One query for each column of the key, because an index may then answer the query.
    return try table.schema.key.contains { column in
      try store.database.first(
        "SELECT 1 FROM \(quoted(table.name)) WHERE \(quoted(table.schema.columns[column])) IS NULL", [:], { _ in true })
        ?? false
    }
  }
}
