import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues

/// The files that a database's rows name, in the columns that the dataset marks. Each method reads these columns once.
public struct NamedAttachments {
  private let tables: [TrackedTable]

  public init(_ tables: [TrackedTable]) { self.tables = tables.filter { !$0.attachmentColumns.isEmpty } }

  /// Whether any column is marked at all.
  public var areAny: Bool { !tables.isEmpty }

  /// The paths among these that no row names.
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

  /// The rows that name a file.
  public func rows(naming path: AttachmentPath, in database: borrowing Database) throws -> [(table: Name, key: RowKey)]
  {
    var found: [(table: Name, key: RowKey)] = []
    for table in tables {
      let columns = table.attachmentColumns.map {
        "CAST(\(quoted(table.schema.columns[$0])) AS BLOB) = CAST(:path AS BLOB)"
      }
      let key = table.schema.key.map { quoted(table.schema.columns[$0]) }.joined(separator: ", ")
      try database.each(
        "SELECT \(key) FROM \(quoted(table.name)) WHERE \(columns.joined(separator: " OR "))",
        ["path": .string(path.text)]
      ) { found.append((table.name, RowKey($0.values(from: 0, count: table.schema.key.count)))) }
    }
    return found
  }

  /// The files that rows name and that cannot be sent or opened, in the order of tables and paths.
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
  /// The text of a value that is not a valid path, for people: at most 80 characters.
  fileprivate var shownPath: String {
    guard case .text(let bytes) = self else { return "(no text)" }
    return String(String(decoding: bytes, as: UTF8.self).prefix(80))
  }
}
