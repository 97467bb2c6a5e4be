import SatchelCapture
import SatchelSQLite
import SatchelValues

/// The columns by which a lookup finds rows of one table.
struct LookupColumns {
  let table: TableSchema
  let columns: [Int]
  /// For each column, the collation of the comparison; nil: the column's own collation.
  let collations: [String?]

  /// SQL for the condition on the values. The values are the parameters from `first` on, in the order of the columns.
  func condition(from first: Int) -> String {
    zip(columns, collations).enumerated().map { place, column in
      "\(quoted(table.columns[column.0])) = ?\(first + place)"
        + (column.1.map { " COLLATE \(quoted($0))" } ?? "")
    }.joined(separator: " AND ")
  }

  /// SQL for the condition on the key. The key's values are the parameters from `first` on.
  func isKey(from first: Int) -> String {
    table.key.enumerated().map { "\(quoted(table.columns[$1])) IS ?\(first + $0)" }.joined(separator: " AND ")
  }
}

/// Finds rows by columns that have no index in the app's schema, as long as one transaction lasts.
///
/// The index is in a temporary database of its own, so the app's database does not change. It has an entry for each
/// value that a row had since the index was made. The index reads each row again that this connection writes, or takes
/// back with a savepoint. So no entry is ever missing. An entry counts only if its row has the values now. If not, the
/// entry is deleted: a write that gives the row the values again makes the entry again.
final class ReferenceIndex: RowFollower {
  private let table: Name
  private let columns: [Int]
  private let keyCount: Int
  private let entries: Database
  private let insertion: Statement
  private let candidates: Statement
  private let removal: Statement
  /// Reads the values and the key of one row.
  private let reading: Statement
  /// Compares one row with the values. Its column says whether the row counts.
  private let comparing: Statement
  /// Why an entry could not be made. Then the index is incomplete.
  private var failure: (any Error)?

  /// The most entries that are read at once.
  private static let batch = 100

  /// nil: an index cannot compare the values as SQLite does. The reason is a collation of the app, or a row without a
  /// key.
  /// - Parameter leavesOut: whether a lookup leaves out one row, by its key.
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

  /// Which row a lookup leaves out.
  enum OwnRow { case none, byKey }

  /// The types and collations with which the entries compare values as the table does.
  private static func types(of lookup: LookupColumns, in database: borrowing Database) throws -> [String]? {
    let declared = try database.columnDeclarations(of: lookup.table.name)
    let types = zip(lookup.columns, lookup.collations).compactMap { column, collation -> String? in
      guard let column = declared.first(where: { $0.name == lookup.table.columns[column] }) else { return nil }
      let collation = (collation ?? column.collation).uppercased()
      return ["BINARY", "NOCASE", "RTRIM"].contains(collation) ? "\(column.affinity.type) COLLATE \(collation)" : nil
    }
    return types.count == lookup.columns.count ? types : nil
  }

  /// Whether the table has a row with NULL in its key. The entries could not name this row.
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

  /// Adds the entry of a row that a query is on. NULL refers to nothing.
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

  /// Whether a row has these values.
  /// - Parameter own: the key of the row that is left out; empty: no row is left out.
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

  /// Whether the row with this key counts; nil: the row does not have these values any more.
  private func counts(_ key: [Value], _ values: [Value], _ own: [Value]) throws -> Bool? {
    defer { comparing.reset() }
    try comparing.bind(key + values + own)
    return try comparing.step() ? comparing.integer(0) != 0 : nil
  }
}

extension Comparison.Affinity {
  /// A type with this affinity.
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
