import SatchelValues

/// A UNIQUE or PRIMARY KEY index. A statement with OR REPLACE may delete a row that collides in this index.
public struct UniqueIndex: Hashable, Sendable {
  /// One part of the index, and the collation by which the index compares the part's values.
  public struct Part: Hashable, Sendable {
    public enum Source: Hashable, Sendable {
      /// The position of a stored column.
      case column(Int)
      /// The name of a generated column, and its expression as SQL over the stored columns.
      case generated(Name, String)
      /// An expression, as SQL over the table's columns.
      case expression(String)
    }

    public let source: Source
    public let collation: String

    public init(_ source: Source, collation: String) {
      self.source = source
      self.collation = collation
    }

    /// The position of the stored column; nil: the part is an expression or a generated column.
    public var column: Int? { if case .column(let position) = source { position } else { nil } }
  }

  public let name: String
  public let parts: [Part]
  /// The condition of a partial index, as SQL over the table's columns; nil: all rows are in the index.
  public let condition: String?

  /// Whether the condition has a dot outside quotes. If so, the condition may contain the table's name.
  public var namesTable: Bool { condition.map { SQLTokens($0).contains { $0.isSign(".") } } ?? false }

  public init(name: String, parts: [Part], condition: String?) {
    self.name = name
    self.parts = parts
    self.condition = condition
  }
}

extension Database {
  /// The UNIQUE indexes of one table.
  struct UniqueIndexes {
    var known: [UniqueIndex] = []
    /// Names of indexes for which Satchel cannot compute the indexed values from their SQL.
    var obscure: [String] = []
    var hasPrimaryKey = false
  }

  /// - Parameters:
  ///   - columns: the stored columns.
  ///   - generated: the generated columns.
  func uniqueIndexes(of table: Name, columns: [Name], generated: [Name]) throws -> UniqueIndexes {
    var result = UniqueIndexes()
    func plain(_ sql: String?) -> String? {
      guard let sql, isPlainExpression(sql), !generated.contains(where: { mentions($0, in: sql) }) else { return nil }
      return sql
    }
    let list = try all(
      """
      SELECT list.name, origin, partial, sql
      FROM pragma_index_list(:name) AS list LEFT JOIN sqlite_schema AS s ON s.type = 'index' AND s.name = list.name
      WHERE "unique"
      ORDER BY list.name
      """, ["name": .string(table.text)]
    ) { (name: $0.text(0), origin: $0.text(1), isPartial: $0.integer(2) != 0, sql: $0.optionalText(3) ?? "") }
    for index in list {
      if index.origin == "pk" { result.hasPrimaryKey = true }
      let expressions = indexedExpressions(in: index.sql)
      let parts = try all(
        "SELECT name, coll FROM pragma_index_xinfo(:name) WHERE key ORDER BY seqno", ["name": .string(index.name)]
      ) { (column: $0.optionalText(0).map { Name($0) }, collation: $0.text(1)) }.enumerated().map {
        place, part -> UniqueIndex.Part? in
        guard let name = part.column else {
          return plain(place < expressions.count ? expressions[place] : nil).map {
            .init(.expression($0), collation: part.collation)
          }
        }
        if let position = columns.firstIndex(of: name) { return .init(.column(position), collation: part.collation) }
        return plain(try generatingExpression(of: name, in: table)).map {
          .init(.generated(name, $0), collation: part.collation)
        }
      }
      if parts.contains(where: { $0 == nil }) {
        result.obscure.append(index.name)
      } else {
        let condition = index.isPartial ? condition(ofIndex: index.sql) : nil
        result.known.append(UniqueIndex(name: index.name, parts: parts.compactMap(\.self), condition: condition))
      }
    }
    return result
  }
}

extension Database {
  /// The expression after AS in a generated column's declaration; nil if it cannot be found.
  func generatingExpression(of column: Name, in table: Name) throws -> String? {
    let name: KeyValuePairs<String, Value> = ["name": .string(table.text)]
    let all = try all("SELECT name FROM pragma_table_xinfo(:name) ORDER BY cid", name) { Name($0.text(0)) }
    let sql =
      try first("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = :name", name) { $0.text(0) } ?? ""
    guard let place = all.firstIndex(of: column) else { return nil }
    var depth = 0
    var definition = 0
    var isBehindAs = false
    var start: Int?
    for token in SQLTokens(sql) {
      if token.isSign(")") { depth -= 1 }
      if depth == 1, token.isSign(")"), let start {
        return String(decoding: Array(sql.utf8)[start..<token.end - 1], as: UTF8.self)
      }
      if depth == 1, token.isSign(",") { definition += 1 }
      if token.isSign("(") { depth += 1 }
      if definition == place, depth == 2, isBehindAs, token.isSign("("), start == nil { start = token.end }
      isBehindAs = definition == place && depth == 1 && token.isWord("as")
    }
    return nil
  }
}

/// Whether the expression contains the name, as a word or in any quotes.
func mentions(_ name: Name, in sql: String) -> Bool {
  let wanted = Array(name.text.utf8).asciiLowercased
  if SQLTokens(sql).contains(where: { $0.text == wanted }) { return true }
  let bytes = Array(sql.utf8).asciiLowercased
  return ["\"\"", "''", "``", "[]"].map { Array($0.utf8) }.contains { quotes in
    let quoted = [quotes[0]] + wanted + [quotes[1]]
    return bytes.indices.contains { bytes[$0...].starts(with: quoted) }
  }
}

/// The condition after WHERE in the statement that made a partial index.
private func condition(ofIndex sql: String) -> String? {
  var depth = 0
  for token in SQLTokens(sql) {
    if token.isSign("(") { depth += 1 }
    if token.isSign(")") { depth -= 1 }
    // A bare `where` is the keyword. A column named `where` would need quotes.
    if depth == 0, token.isWord("where") { return String(decoding: Array(sql.utf8)[token.end...], as: UTF8.self) }
  }
  return nil
}

/// The parts in the parentheses of the statement that made an index, without ASC and DESC.
private func indexedExpressions(in sql: String) -> [String] {
  let bytes = Array(sql.utf8)
  var parts: [String] = []
  var depth = 0
  var start = 0
  // The end of the part's expression, if ASC or DESC follows; nil: neither follows.
  var direction: Int?
  for token in SQLTokens(sql) {
    if token.isSign("(") {
      depth += 1
      if depth == 1 { start = token.end }
    }
    if token.isSign(")") { depth -= 1 }
    let isEnd = depth == 1 && token.isSign(",") || depth == 0 && token.isSign(")")
    if isEnd {
      parts.append(String(decoding: bytes[start..<(direction ?? token.end - 1)], as: UTF8.self))
      start = token.end
      if depth == 0 { return parts }
    }
    direction = depth == 1 && (token.isWord("asc") || token.isWord("desc")) ? token.end - token.text.count : nil
  }
  return []
}

/// Whether the expression compares nothing and names no table. Such an expression has the same result if its columns
/// have no types.
private func isPlainExpression(_ sql: String) -> Bool {
  let comparing: [StaticString] = [
    "is", "in", "like", "glob", "between", "case", "match", "regexp", "not", "isnull", "notnull", "select",
  ]
  // The operators `->` and `->>` take a value out of JSON. They compare nothing.
  var arrow: Int?  // the position where the arrow's next sign would end
  return SQLTokens(sql).allSatisfy { token in
    let isArrow = token.isSign(">") && token.end == arrow
    arrow = isArrow || token.isSign("-") ? token.end + 1 : nil
    if isArrow { return true }
    return !["=", "<", ">", "!", "."].contains(where: { token.isSign($0) }) && !comparing.contains { token.isWord($0) }
  }
}
