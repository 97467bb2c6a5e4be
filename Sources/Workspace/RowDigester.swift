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
  /// The beginning of each line, up to the key.
  private let head: [UInt8]
  private let rowHead = JSONWriter.encodedKey("row")
  private let key: [Int]
  /// The positions of the columns and their names, in the order of the names' bytes.
  private let columns: [(position: Int, name: String, encoded: [UInt8])]
  private var writer = JSONWriter(capacity: 512)

  /// - Parameter columns: only these columns count; nil: all columns of the table.
  public init(_ schema: TableSchema, columns: Set<Name>? = nil) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("table")
    writer.string(schema.name.text)
    writer.key("key")
    head = writer.bytes
    key = schema.key
    self.columns = schema.columns.enumerated().sorted { $0.element < $1.element }
      .filter { columns?.contains($0.element) ?? true }
      .map { ($0.offset, $0.element.text, JSONWriter.encodedKey($0.element.text)) }
  }

  /// The names of the columns that count, in the order in which they stand in a row's line.
  public var columnNames: [Name] { columns.map { Name($0.name) } }

  public mutating func digest(of row: Row) -> Digest256 { rowDigest { row[$0] } }

  /// The digests of a row's key and of the whole row.
  public mutating func digests(of row: Row) -> (key: Digest256, row: Digest256) {
    (keyDigest { row[$0] }, rowDigest { row[$0] })
  }

  /// The same of the row at which a query stands that has the table's columns in their order.
  public mutating func digests(of query: borrowing Statement) -> (key: Digest256, row: Digest256) {
    (keyDigest { query.value($0) }, rowDigest { query.value($0) })
  }

  private mutating func keyDigest(_ value: (Int) -> Value) -> Digest256 {
    writer.reset()
    writeKey(value)
    return Digest256.of(writer.bytes)
  }

  private mutating func rowDigest(_ value: (Int) -> Value) -> Digest256 {
    writer.reset()
    writer.key(encoded: head)
    writeKey(value)
    writer.key(encoded: rowHead)
    writer.beginObject()
    for column in columns {
      writer.key(encoded: column.encoded)
      writer.value(value(column.position))
    }
    writer.endObject()
    writer.endObject()
    return Digest256.of(writer.bytes)
  }

  private mutating func writeKey(_ value: (Int) -> Value) {
    writer.beginArray()
    for column in key { writer.value(value(column)) }
    writer.endArray()
  }
}
