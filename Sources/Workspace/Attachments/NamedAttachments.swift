import SatchelCapture
import SatchelDataset
import SatchelJSON
import SatchelSQLite
import SatchelValues

/// The files that a database's rows name, in the columns that the dataset marks. Each method reads these columns once.
public struct NamedAttachments {
  private let tables: [TrackedTable]

  public init(_ tables: [TrackedTable]) { self.tables = tables.filter { !$0.attachmentColumns.isEmpty } }

  /// Whether the dataset marks any column of these tables.
  public var areAny: Bool { !tables.isEmpty }

  /// The given paths that no row names.
  public func unnamed(_ paths: Set<AttachmentPath>, in database: borrowing Database) throws -> Set<AttachmentPath> {
    var rest = paths
    if rest.isEmpty { return rest }
    try each(in: database) { _, value in if let path = AttachmentPath(value) { rest.remove(path) } }
    return rest
  }

  /// Calls `body` for each distinct value of each marked column, except NULL and the empty text.
  public func each(in database: borrowing Database, _ body: (_ table: Name, Value) throws -> Void) throws {
    for table in tables {
      for column in table.attachmentColumns.map({ quoted(table.schema.columns[$0]) }) {
        try database.each(
          """
          SELECT DISTINCT \(column) FROM \(quoted(table.name)) WHERE \(column) IS NOT NULL AND \(column) <> '' ORDER \
          BY \(column)
          """
        ) { try body(table.name, $0.value(0)) }
      }
    }
  }

  /// A row that names a file.
  public struct NamingRow: Hashable, Sendable {
    public let table: Name
    public let key: RowKey
  }

  /// The rows that name these files. A file that no row names is not in the result.
  public func rows(
    naming paths: Set<AttachmentPath>, in database: borrowing Database
  ) throws -> [AttachmentPath: Set<NamingRow>] {
    if paths.isEmpty { return [:] }
    let known = Dictionary(uniqueKeysWithValues: paths.map { (Array($0.text.utf8), $0) })
    let list = JSONValue.array(paths.map { .string($0.text) }).compactBytes
    var found: [AttachmentPath: Set<NamingRow>] = [:]
    for table in tables {
      let count = table.schema.key.count
      let key = table.schema.key.map { quoted(table.schema.columns[$0]) }.joined(separator: ", ")
      for column in table.attachmentColumns.map({ quoted(table.schema.columns[$0]) }) {
        try database.each(
          """
          SELECT \(key), CAST(\(column) AS TEXT) FROM \(quoted(table.name))
          WHERE CAST(\(column) AS BLOB) IN (SELECT CAST(value AS BLOB) FROM json_each(:paths))
          """, ["paths": .text(list)]
        ) { row in
          guard case .text(let bytes) = row.value(count), let path = known[bytes] else { return }
          found[path, default: []].insert(NamingRow(table: table.name, key: RowKey(row.values(from: 0, count: count))))
        }
      }
    }
    return found
  }

  /// The files that rows name, but that cannot be sent or opened. They are in the order of tables and paths.
  public func missing(in database: borrowing Database, _ files: AttachedFiles, _ limits: AttachmentLimits) throws
    -> [MissingAttachment]
  {
    var missing: [MissingAttachment] = []
    try each(in: database) { table, value in
      guard let path = AttachmentPath(value) else {
        missing.append(MissingAttachment(table: table, path: value.shownPath, why: .path))
        return
      }
      let why: MissingReason? =
        switch try files.fileStatus(at: path) {
        case .absent: .missing
        case .blocked: .link
        case .present(let bytes): bytes > limits.fileBytes ? .large : nil
        }
      if let why { missing.append(MissingAttachment(table: table, path: path.text, why: why)) }
    }
    return missing
  }
}

extension Value {
  /// For people: the text of a value that is not a valid path, at most 80 characters.
  fileprivate var shownPath: String {
    guard case .text(let bytes) = self else { return "(no text)" }
    return String(String(decoding: bytes, as: UTF8.self).prefix(80))
  }
}
