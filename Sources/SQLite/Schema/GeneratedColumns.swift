import SatchelValues

/// A column whose value SQLite computes from the row's other values.
public struct GeneratedColumn: Sendable {
  public let table: Name
  public let name: Name
  /// The SQL after AS; nil: it was not found in the CREATE TABLE statement.
  public let expression: String?

  /// Functions whose time grows at most in proportion to the size of their values. The time of `instr`, `replace`, and
  /// `trim` with two arguments grows with the product of two lengths. Nothing can interrupt such a call.
  private static let linear: Set<[UInt8]> = Set(
    [
      "abs", "char", "coalesce", "date", "datetime", "hex", "ifnull", "iif", "json_array_length", "json_extract",
      "json_type", "json_valid", "julianday", "length", "likelihood", "likely", "lower", "max", "min", "nullif",
      "quote", "round", "sign", "strftime", "substr", "substring", "time", "typeof", "unicode", "unixepoch",
      "unlikely", "upper", "zeroblob",
    ].map { Array($0.utf8) })
  /// Words that are no function, but may come directly before a parenthesis.
  private static let keywords: Set<[UInt8]> = Set(
    [
      "and", "as", "between", "case", "cast", "collate", "else", "in", "is", "not", "null", "or", "then", "when",
    ].map { Array($0.utf8) })
  /// Operators that compare a text with a pattern.
  private static let patterns: Set<[UInt8]> = Set(["glob", "like", "match", "regexp"].map { Array($0.utf8) })

  /// Whether `other` is the same column of the same table, with the same expression.
  public func isDeclared(as other: GeneratedColumn) -> Bool {
    guard let expression, let theirs = other.expression else { return false }
    return table.isSameInSQL(as: other.table) && name.isSameInSQL(as: other.name)
      && SQLTokens(expression, quotes: .areWords).elementsEqual(SQLTokens(theirs, quotes: .areWords)) {
        $0.text == $1.text
      }
  }

  /// Whether the time to compute the column grows at most in proportion to the size of the values.
  public var isLinear: Bool {
    guard let expression else { return false }
    if SQLTokens(expression).contains(where: { Self.patterns.contains($0.text) }) { return false }
    var previous: [UInt8] = []
    for token in SQLTokens(expression, quotes: .areWords) {
      if token.isSign("("), isCall(of: previous) { return false }
      previous = token.text
    }
    return true
  }

  /// Whether this word, if a parenthesis follows it, calls a function that is not known to be linear.
  private func isCall(of word: [UInt8]) -> Bool {
    guard let first = word.first, word.count > 1 || isWord(first) else { return false }
    return !Self.linear.contains(word) && !Self.keywords.contains(word)
  }
}

extension Database {
  /// The generated columns of these tables.
  public func generatedColumns(of tables: [Name]) throws -> [GeneratedColumn] {
    try tables.flatMap { table in
      try all("SELECT name FROM pragma_table_xinfo(:name) WHERE hidden > 1", ["name": .string(table.text)]) {
        Name($0.text(0))
      }.map { GeneratedColumn(table: table, name: $0, expression: try generatingExpression(of: $0, in: table)) }
    }
  }
}
