import SatchelCapture
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A row that a search found.
public struct FoundRow: Sendable {
  public let table: Name
  public let key: RowKey
  /// The name that people use for the row. nil if the table has no label, or the label is NULL.
  public let label: Value?
  /// The first column that contains the searched text, with its value. nil if the search had no text.
  public let match: Field?
}

/// The rows that a search found and that a user may see.
public struct VisibleRows: Sendable {
  public let rows: [FoundRow]
  /// Whether the search ended at a limit. If so, the user may see more rows than these.
  public let isPart: Bool
}

/// A user's rights to one row.
public struct RowViewer: Sendable {
  public let user: String
  public let mayWrite: Bool
}

/// The users who see a row. If the hub has very many users, only the first of them are evaluated.
public struct RowViewers: Sendable {
  public let viewers: [RowViewer]
  /// The number of users whose rights were evaluated.
  public let evaluated: Int
  /// The number of all users.
  public let users: Int
}

extension HubWorkspace {
  /// The tables of the dataset with their numbers of rows.
  public func tables() throws -> [(table: Name, rows: Int64)] {
    let store = try store()
    return try store.tables.map { ($0.name, try $0.count(in: store.database)) }
  }

  /// Finds rows that contain a text in any column. Upper and lower case of A to Z are not distinguished.
  /// - Parameters:
  ///   - text: the text. nil for all rows.
  ///   - name: the table to search. nil for all tables.
  ///   - limit: the most rows in the result.
  public func rows(with text: String?, in name: Name?, limit: Int64) throws -> [FoundRow] {
    try Self.rows(with: text, in: name, limit: limit, store())
  }

  /// Like `rows(with:in:limit:)`, but only for rows that a user sees now.
  /// - Parameters:
  ///   - limit: the most rows in the result.
  ///   - most: the most rows whose visibility is evaluated.
  public func rows(
    seenBy name: String, with text: String?, in table: Name?, limit: Int, evaluating most: Int64
  ) throws -> VisibleRows {
    try changing { store in
      guard let user = try store.user(name) else { throw Self.noUser(name) }
      let scope = ScopeStore(store, user: user)
      let found = try Self.rows(with: text, in: table, limit: most, store)
      var seen: [FoundRow] = []
      for row in found where seen.count < limit {
        guard let place = store.place(of: row.table), let known = try scope.find(row.key, in: place) else { continue }
        if known.maySee { seen.append(row) }
      }
      return VisibleRows(rows: seen, isPart: seen.count == limit || found.count >= most)
    }
  }

  private static func rows(
    with text: String?, in name: Name?, limit: Int64, _ store: HubStore
  ) throws -> [FoundRow] {
    if let name, store.place(of: name) == nil { throw Self.noTable(name.text, store) }
    var found: [FoundRow] = []
    for table in store.tables where (name == nil || table.name == name) && found.count < limit {
      found += try Self.rows(with: text, in: table, limit: limit - Int64(found.count), store.database)
    }
    return found
  }

  private static func rows(
    with text: String?, in table: TrackedTable, limit: Int64, _ database: borrowing Database
  ) throws -> [FoundRow] {
    let schema = table.schema
    let columns = schema.columns
    let terms = columns.map { "instr(lower(\(quoted($0))), lower(:text))" }
    // The terms are in groups, because SQLite accepts at most 1,000 terms in one chain.
    let groups = stride(from: 0, to: terms.count, by: 100).map { first in
      "(" + terms[first..<min(first + 100, terms.count)].joined(separator: " OR ") + ")"
    }
    let anywhere = groups.joined(separator: " OR ")
    return try database.all(
      """
      SELECT \(quotedList(columns))
      FROM \(quoted(schema.name))
      \(text == nil ? "" : "WHERE \(anywhere)")
      LIMIT :limit
      """, ["text": text.map { .string($0) } ?? .null, "limit": .integer(limit)]
    ) { statement in
      let row = Row(statement.values(from: 0, count: columns.count))
      let label = table.rules.label.flatMap { schema.position(of: $0) }.map { row[$0] }
      let match = text.flatMap { text in
        columns.indices.first { row[$0].contains(text) }.map { Field(columns[$0], row[$0]) }
      }
      return FoundRow(
        table: table.name, key: schema.key(of: row), label: label.flatMap { $0.isNull ? nil : $0 }, match: match)
    }
  }

  /// The users who see a row now.
  /// - Parameter limit: the most users whose rights are evaluated.
  public func viewers(of table: Name, _ key: RowKey, limit: Int) throws -> RowViewers {
    try changing { store in
      guard let place = store.place(of: table) else { throw Self.noTable(table.text, store) }
      let users = try store.users()
      let viewers = try users.prefix(limit).compactMap { user -> RowViewer? in
        guard let found = try ScopeStore(store, user: user).find(key, in: place), found.maySee else { return nil }
        return RowViewer(user: user.name, mayWrite: found.mayWrite)
      }
      return RowViewers(viewers: viewers, evaluated: min(limit, users.count), users: users.count)
    }
  }
}

extension Value {
  /// Whether the value, written as a text, contains `text`.
  fileprivate func contains(_ text: String) -> Bool {
    switch self {
    case .null, .blob: false
    case .integer(let number): String(number).hasPart(text)
    case .real(let number): "\(number)".hasPart(text)
    case .text(let bytes): String(decoding: bytes, as: UTF8.self).lowercased().hasPart(text.lowercased())
    }
  }
}
