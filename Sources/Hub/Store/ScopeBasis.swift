import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelSQLite
import SatchelValues

extension ScopeStore {
  /// A text that is the same as long as what a user may see depends on nothing but the rows that the log tells of: the
  /// user, the rules, the tables' declarations, and the SQLite that evaluates. nil where rows without a name may count,
  /// of which no log tells.
  func basis() throws -> String? {
    for place in try links.readAsWhole.sorted() where try hasNamelessRows(place) { return nil }
    let version = try store.database.first("SELECT sqlite_version()") { $0.text(0) } ?? ""
    var parts = [Self.evaluation, Array(version.utf8), store.dataset.source, Array(user.name.utf8)]
    parts.append(FieldsCoding.json(user.attributes))
    for table in store.tables { parts.append(try store.database.declaration(of: table.name)) }
    // Each part with its length before it: what ends one cannot begin the next.
    let bytes = parts.flatMap { part in (0..<8).map { UInt8(truncatingIfNeeded: part.count >> (8 * $0)) } + part }
    return Digest.of(bytes).hexadecimal
  }

  /// Another one where the same rules begin to mean something else.
  private static let evaluation = Array("scope 1".utf8)

  private func hasNamelessRows(_ place: Int) throws -> Bool {
    let table = store.tables[place]
    // A question for each column of the key, which an index may answer.
    return try table.schema.key.contains { column in
      try store.database.first(
        "SELECT 1 FROM \(quoted(table.name)) WHERE \(quoted(table.schema.columns[column])) IS NULL", [:], { _ in true })
        ?? false
    }
  }
}
