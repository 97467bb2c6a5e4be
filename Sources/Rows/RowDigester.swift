import SatchelCrypto
import SatchelJSON
import SatchelSQLite
import SatchelValues

/// Computes digests of the rows of one table, so that two databases can compare rows. `docs/FORMAT.md` describes the
/// bytes.
///
/// A row's digest is the BLAKE2b-256 of one line of canonical JSON. The line has the table's name, the row's key and
/// the row's columns, sorted by the bytes of their names. So neither the declared order of columns nor the row's
/// stamp changes the digest.
public struct RowDigester: Sendable {
  /// The digests of a row's key and of the whole row.
  public typealias Digests = (key: Digest256, row: Digest256)

  private let line: RowLine
  /// The form of a line with only the row's key.
  private let keyLine: RowLine
  private let names: [String]
  private var writer = JSONWriter(capacity: 512)

  /// - Parameter columns: only these columns are in the digest; nil means all columns of the table.
  public init(_ schema: TableSchema, columns: Set<Name>? = nil) {
    let counted = schema.columns.enumerated().sorted { $0.element < $1.element }
      .filter { columns?.contains($0.element) ?? true }
    names = counted.map(\.element.text)
    func bracket(_ number: Int) -> [UInt8] { Array((number == 0 ? "[" : ",").utf8) }
    keyLine = RowLine(
      schema.key.enumerated().map { .init(before: bracket($0), position: $1) }, end: Array("]".utf8))
    var head = JSONWriter()
    head.beginObject()
    head.key("table")
    head.string(schema.name.text)
    head.key("key")
    var places: [RowLine.Place] = []
    var before = head.bytes
    for (number, position) in schema.key.enumerated() {
      places.append(.init(before: before + bracket(number), position: position))
      before = []
    }
    before = Array("],".utf8) + JSONWriter.encodedKey("row") + Array("{".utf8)
    for (position, name) in counted {
      places.append(.init(before: before + JSONWriter.encodedKey(name.text), position: position))
      before = Array(",".utf8)
    }
    line = RowLine(places, end: (counted.isEmpty ? before : []) + Array("}}".utf8))
  }

  /// The names of the columns in the digest, in their order in the line.
  public var columnNames: [Name] { names.map { Name($0) } }

  public mutating func digest(of row: Row) -> Digest256 {
    writer.reset()
    line.write(row, into: &writer)
    return Digest256.of(writer.bytes)
  }

  /// The digest of the current row of a query, which returns the table's columns in their order.
  public mutating func digest(of query: borrowing Statement) -> Digest256 {
    writer.reset()
    line.write({ query.value($0) }, into: &writer)
    return Digest256.of(writer.bytes)
  }

  public mutating func digests(of row: Row) -> Digests {
    writer.reset()
    keyLine.write(row, into: &writer)
    return (Digest256.of(writer.bytes), digest(of: row))
  }
}
