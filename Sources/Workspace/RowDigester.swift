import SatchelCrypto
import SatchelJSON
import SatchelSQLite
import SatchelValues

/// Makes the digests of one table's rows, by which two databases compare them. `docs/FORMAT.md` describes the bytes.
///
/// The digest of a row is the BLAKE2b-256 of one line of canonical JSON: the table's name, the row's key, and its
/// columns in the order of their names' bytes. So the order in which a table declares its columns does not count, and
/// neither does a row's stamp.
public struct RowDigester: Sendable {
  /// What stands before each value of a row's line, and the position of its column: the key's, then all columns in the
  /// order of their names' bytes.
  private let values: [(before: [UInt8], position: Int)]
  /// The same of the key alone.
  private let keyValues: [(before: [UInt8], position: Int)]
  private let names: [String]
  private var writer = JSONWriter(capacity: 512)

  /// What stands behind the last value.
  private let end: [UInt8]
  private static let endOfKey = Array("]".utf8)

  /// - Parameter columns: only these columns count; nil: all columns of the table.
  public init(_ schema: TableSchema, columns: Set<Name>? = nil) {
    let counted = schema.columns.enumerated().sorted { $0.element < $1.element }
      .filter { columns?.contains($0.element) ?? true }
    names = counted.map(\.element.text)
    keyValues = schema.key.enumerated().map { (Array(($0 == 0 ? "[" : ",").utf8), $1) }
    var head = JSONWriter()
    head.beginObject()
    head.key("table")
    head.string(schema.name.text)
    head.key("key")
    var values: [(before: [UInt8], position: Int)] = []
    var before = head.bytes
    for (bracket, position) in keyValues {
      values.append((before + bracket, position))
      before = []
    }
    before += Self.endOfKey + Array(",".utf8) + JSONWriter.encodedKey("row") + Array("{".utf8)
    for (position, name) in counted {
      values.append((before + JSONWriter.encodedKey(name.text), position))
      before = Array(",".utf8)
    }
    self.values = values
    end = (counted.isEmpty ? before : []) + Array("}}".utf8)
  }

  /// The names of the columns that count, in the order in which they stand in a row's line.
  public var columnNames: [Name] { names.map { Name($0) } }

  public mutating func digest(of row: Row) -> Digest256 { digest(of: values, end) { row[$0] } }

  /// The digests of a row's key and of the whole row.
  public mutating func digests(of row: Row) -> (key: Digest256, row: Digest256) {
    (digest(of: keyValues, Self.endOfKey) { row[$0] }, digest(of: row))
  }

  /// The same of the row at which a query stands that has the table's columns in their order.
  public mutating func digests(of query: borrowing Statement) -> (key: Digest256, row: Digest256) {
    (digest(of: keyValues, Self.endOfKey) { query.value($0) }, digest(of: values, end) { query.value($0) })
  }

  @inline(__always)
  private mutating func digest(
    of places: [(before: [UInt8], position: Int)], _ end: [UInt8], _ value: (Int) -> Value
  ) -> Digest256 {
    writer.reset()
    for place in places { writer.value(value(place.position), after: place.before) }
    writer.raw(end)
    return Digest256.of(writer.bytes)
  }
}
