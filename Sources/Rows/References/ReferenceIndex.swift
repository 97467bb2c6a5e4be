import SatchelCapture
import SatchelSQLite
import SatchelValues

/// The columns by whose values a lookup finds rows of one table.
struct LookupColumns {
  let table: TableSchema
  let columns: [Int]
  /// For each column: the collation of the comparison; nil means the column's own collation.
  let collations: [String?]

  /// The SQL condition on the columns. Its parameters are the values, in the order of the columns, numbered from
  /// `first`.
  func condition(from first: Int) -> String {
    zip(columns, collations).enumerated().map { place, column in
      "\(quoted(table.columns[column.0])) = ?\(first + place)"
        + (column.1.map { " COLLATE \(quoted($0))" } ?? "")
    }.joined(separator: " AND ")
  }

  /// The SQL condition on the primary key. Its parameters are the key's values, numbered from `first`.
  func isKey(from first: Int) -> String {
    table.key.enumerated().map { "\(quoted(table.columns[$1])) IS ?\(first + $0)" }.joined(separator: " AND ")
  }
}

/// An index for lookups by columns that have no index in the app's schema. It lasts for one transaction.
///
/// The index is in a temporary database of its own, so the app's database does not change. It has an entry for each
/// value that a row has had since the index was made. After each write or rollback of a row on this connection, the
/// index reads that row again. So no entry is missing. An entry may be outdated, so the lookup compares the row
/// itself. If the row has other values now, the entry is deleted, because a later write would add it again.
final class ReferenceIndex: RowFollower {
  private let table: Name
  private let columns: [Int]
  private let keyCount: Int
  private let entries: Database
  private let insertion: Statement
  private let candidates: Statement
  private let removal: Statement
  /// Reads the columns and the key of one row.
  private let reading: Statement
  /// Compares one row with the values of a lookup. Its only column is 0 for the row to leave out, and 1 for any other
  /// row.
  private let comparing: Statement
  /// The error because of which an entry is missing; nil if the index is complete.
  private var failure: (any Error)?

  /// The most entries that are read in one step.
  private static let batch = 100

  /// nil if the index could not compare values as SQLite does: a column has a collation of the app, or a row has NULL
  /// in its key.
  /// - Parameter leavesOut: whether lookups leave out a row, named by its key.
  init?(_ lookup: LookupColumns, leavesOut: OwnRow, in database: borrowing Database) throws {
    guard let types = try Self.types(of: lookup, in: database), try !Self.hasNameless(lookup, in: database) else {
      return nil
    }
    let (table, count, width) = (quoted(lookup.table.name), lookup.columns.count, lookup.table.key.count)
    let (values, key) = ((1...count).map { "value_\($0)" }, (1...width).map { "key_\($0)" })
    let entries = try Database(path: "", mode: .create)
    try entries.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192")
    let all = (values + key).joined(separator: ", ")
    let declared = zip(values, types).map { "\($0) \($1)" } + key
    try entries.execute(
      "CREATE TABLE entries (\(declared.joined(separator: ", ")), PRIMARY KEY (\(all))) WITHOUT ROWID")
    let hasValues = values.enumerated().map { "\($1) = ?\($0 + 1)" }.joined(separator: " AND ")
    let hasKey = key.enumerated().map { "\($1) = ?\(count + $0 + 1)" }.joined(separator: " AND ")
    let parameters = (1...count + width).map { "?\($0)" }.joined(separator: ", ")
    insertion = try entries.prepare("INSERT OR IGNORE INTO entries (\(all)) VALUES (\(parameters))")
    candidates = try entries.prepare(
      "SELECT \(key.joined(separator: ", ")) FROM entries WHERE \(hasValues) LIMIT \(Self.batch)")
    removal = try entries.prepare("DELETE FROM entries WHERE \(hasValues) AND \(hasKey)")
    let read = quotedList((lookup.columns + lookup.table.key).map { lookup.table.columns[$0] })
    reading = try database.prepare("SELECT \(read) FROM \(table) WHERE \(lookup.isKey(from: 1))")
    let counts = leavesOut == .byKey ? "NOT (\(lookup.isKey(from: width + count + 1)))" : "1"
    comparing = try database.prepare(
      """
      SELECT \(counts) FROM \(table)
      WHERE \(lookup.isKey(from: 1)) AND \(lookup.condition(from: width + 1))
      """)
    self.table = lookup.table.name
    columns = lookup.columns + lookup.table.key
    keyCount = width
    self.entries = entries
    try fill(from: "SELECT \(read) FROM \(table)", in: database)
    database.writes.add(self)
  }

  /// The row that a lookup leaves out.
  enum OwnRow { case none, byKey }

  /// The types and collations of the entries' columns, so that values compare as in the table. nil if a column has
  /// another collation than SQLite's own.
  private static func types(of lookup: LookupColumns, in database: borrowing Database) throws -> [String]? {
    let declared = try database.columnDeclarations(of: lookup.table.name)
    let types = zip(lookup.columns, lookup.collations).compactMap { column, collation -> String? in
      guard let column = declared.first(where: { $0.name == lookup.table.columns[column] }) else { return nil }
      let collation = (collation ?? column.collation).uppercased()
      return ["BINARY", "NOCASE", "RTRIM"].contains(collation) ? "\(column.affinity.type) COLLATE \(collation)" : nil
    }
    return types.count == lookup.columns.count ? types : nil
  }

  /// Whether a row has NULL in its key. An entry could not name such a row.
  private static func hasNameless(_ lookup: LookupColumns, in database: borrowing Database) throws -> Bool {
    let isNameless = lookup.table.key.map { "\(quoted(lookup.table.columns[$0])) IS NULL" }.joined(separator: " OR ")
    return try database.first("SELECT 1 FROM \(quoted(lookup.table.name)) WHERE \(isNameless)") { _ in true } ?? false
  }

  private func fill(from sql: String, in database: borrowing Database) throws {
    try entries.execute("BEGIN")
    let query = try database.prepare(sql)
    while try query.step() { try insert(rowOf: query) }
    try entries.execute("COMMIT")
  }

  /// Adds an entry for the current row of a query. A row with NULL in these columns refers to no row and gets no
  /// entry.
  private func insert(rowOf query: borrowing Statement) throws {
    let values = query.values(from: 0, count: columns.count - keyCount)
    if values.contains(where: \.isNull) { return }
    defer { insertion.reset() }
    try insertion.bind(rowOf: query)
    _ = try insertion.step()
  }

  func rowWasWritten(_ write: RowWrites.Write) {
    guard failure == nil, write.table == table, write.columns?.contains(where: columns.contains) ?? true else { return }
    do {
      defer { reading.reset() }
      try reading.bind(write.key.values)
      while try reading.step() { try insert(rowOf: reading) }
    } catch { failure = error }
  }

  /// Whether any row has these values.
  /// - Parameter own: the key of the row that is left out; empty to leave out none.
  func contains(_ values: [Value], butNot own: [Value]) throws -> Bool {
    if let failure { throw failure }
    while true {
      let keys = try keys(with: values)
      var stale: [[Value]] = []
      for key in keys {
        switch try counts(key, values, own) {
        case true?: return true
        case false?: continue
        case nil: stale.append(key)
        }
      }
      for key in stale { try removal.run(values + key) }
      if stale.isEmpty || keys.count < Self.batch { return false }
    }
  }

  private func keys(with values: [Value]) throws -> [[Value]] {
    defer { candidates.reset() }
    try candidates.bind(values)
    var keys: [[Value]] = []
    while try candidates.step() { keys.append(candidates.values(from: 0, count: keyCount)) }
    return keys
  }

  /// Whether the row with this key counts: it has the values, and is not the row to leave out. nil if the row no longer
  /// has the values.
  private func counts(_ key: [Value], _ values: [Value], _ own: [Value]) throws -> Bool? {
    defer { comparing.reset() }
    try comparing.bind(key + values + own)
    return try comparing.step() ? comparing.integer(0) != 0 : nil
  }
}

extension Comparison.Affinity {
  /// The name of a type that has this affinity.
  fileprivate var type: String {
    switch self {
    case .text: "TEXT"
    case .numeric: "NUMERIC"
    case .integer: "INTEGER"
    case .real: "REAL"
    case .none: "BLOB"
    }
  }
}
