import CSQLite
import SatchelValues

/// How SQLite compares the values of one column. If two columns have the same comparison, two values that are equal in
/// one column are equal in the other.
public struct Comparison: Hashable, Sendable {
  /// How a column's declared type converts values. Section 3.1 of SQLite's page on data types describes it.
  public enum Affinity: Sendable { case text, numeric, integer, real, none }

  public let affinity: Affinity
  /// The collation's name in capital letters.
  public let collation: String

  /// Whether two texts are equal only if their bytes are equal.
  public var isBinary: Bool { collation == "BINARY" }
}

extension Comparison {
  /// Returns one common value for all values that this comparison treats as equal. There is one exception: a real that
  /// needs an exponent, in a column of texts. SQLite's text for such a real depends on the release of SQLite.
  ///
  /// https://sqlite.org/datatype3.html, sections 4.2 and 7.1.
  public func folded(_ value: Value) -> Value {
    switch converted(value) {
    case .real(let number): Int64(exactly: number).map { .integer($0) } ?? .real(number)
    case .text(let bytes): .text(folded(bytes))
    case let other: other
    }
  }

  /// The value as the column's type converts it before SQLite compares it.
  private func converted(_ value: Value) -> Value {
    switch (affinity, value) {
    case (.text, .integer(let number)): return .string(String(number))
    case (.text, .real(let number)): return .string("\(number)")
    case (.numeric, .text(let bytes)), (.integer, .text(let bytes)), (.real, .text(let bytes)):
      let text = String(decoding: bytes.filter { $0 != UInt8(ascii: " ") }, as: UTF8.self)
      return Int64(text).map { .integer($0) } ?? Double(text).map { .real($0) } ?? value
    default: return value
    }
  }

  private func folded(_ text: [UInt8]) -> [UInt8] {
    switch collation {
    case "NOCASE": text.asciiLowercased
    case "RTRIM": Array(text[..<((text.lastIndex { $0 != UInt8(ascii: " ") } ?? -1) + 1)])
    default: text
    }
  }
}

extension Database {
  /// The comparisons of the columns to which a foreign key refers.
  public func comparisons(ofParentIn key: ForeignKey) -> [Comparison] {
    key.parentColumns.map { comparison(of: $0, in: key.parent) ?? Comparison(affinity: .none, collation: "BINARY") }
  }
}

/// The declaration of a column.
public struct ColumnDeclaration: Sendable {
  public let name: Name
  /// The declared type; empty if the declaration has no type.
  public let type: String
  public let collation: String
  /// Whether the column's table is STRICT.
  public let isStrict: Bool

  public init(name: Name, type: String, collation: String, isStrict: Bool) {
    self.name = name
    self.type = type
    self.collation = collation
    self.isStrict = isStrict
  }

  /// How the column converts values. Only in a STRICT table does the type ANY keep values as they are.
  public var affinity: Comparison.Affinity {
    isStrict && type.uppercased() == "ANY" ? .none : Comparison.Affinity(ofDeclared: type)
  }
}

extension Comparison.Affinity {
  /// - Parameter type: the declared type in a table that is not STRICT; empty if the declaration has no type.
  public init(ofDeclared type: String) {
    let type = Array(type.utf8).asciiLowercased
    func names(_ words: StaticString...) -> Bool {
      words.contains { word in
        word.withUTF8Buffer { word in type.indices.contains { type[$0...].starts(with: word) } }
      }
    }
    if names("int") {
      self = .integer
    } else if names("char", "clob", "text") {
      self = .text
    } else if type.isEmpty || names("blob") {
      self = .none
    } else if names("real", "floa", "doub") {
      self = .real
    } else {
      self = .numeric
    }
  }
}

extension Database {
  /// How values of a column are compared; nil if there is no such column, or if its type is ANY. The comparison of a
  /// column of type ANY depends on whether the table is STRICT.
  public func comparison(of column: Name, in table: Name) -> Comparison? {
    guard let declared = declared(column, in: table), declared.type.uppercased() != "ANY" else { return nil }
    return Comparison(affinity: .init(ofDeclared: declared.type), collation: declared.collation.uppercased())
  }

  /// The collation of a column, spelt as in the declaration; nil if there is no such column.
  public func collation(of column: Name, in table: Name) -> String? { declared(column, in: table)?.collation }

  /// The declared type and the collation of a column; nil if there is no such column.
  private func declared(_ column: Name, in table: Name) -> (type: String, collation: String)? {
    var type: UnsafePointer<CChar>?
    var collation: UnsafePointer<CChar>?
    let code = sqlite3_table_column_metadata(handle, "main", table.text, column.text, &type, &collation, nil, nil, nil)
    guard code == SQLITE_OK, let collation else { return nil }
    return (type.map { String(cString: $0) } ?? "", String(cString: collation))
  }

  /// The declarations of a table's stored columns, in order.
  public func columnDeclarations(of table: Name) throws -> [ColumnDeclaration] {
    let isStrict = try isStrict(table)
    return try all("SELECT name FROM pragma_table_xinfo(:name) WHERE hidden = 0", ["name": .string(table.text)]) {
      Name($0.text(0))
    }.map { column in
      let declared = declared(column, in: table) ?? (type: "", collation: "BINARY")
      return ColumnDeclaration(
        name: column, type: declared.type, collation: declared.collation, isStrict: isStrict)
    }
  }

  /// All columns of a table that SQL can name. Generated columns are included.
  public func columnNames(of table: Name) throws -> [Name] {
    try all("SELECT name FROM pragma_table_xinfo(:name)", ["name": .string(table.text)]) { Name($0.text(0)) }
  }

  /// The CREATE TABLE statement of a table. It includes the changes that ALTER TABLE made later.
  public func declaration(of table: Name) throws -> [UInt8] {
    try first("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = :name", ["name": .string(table.text)]) {
      Array($0.text(0).utf8)
    } ?? []
  }
}
