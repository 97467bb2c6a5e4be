/// The values of one row, in the order of its table's columns.
public struct Row: Hashable, Sendable {
  public var values: [Value]

  public init(_ values: [Value]) { self.values = values }

  /// The approximate memory of its texts and blobs, in bytes.
  public var byteCount: Int { values.reduce(0) { $0 + $1.byteCount } }

  // Inlined into the caller's code, so that a value which is only read is not retained.
  @inlinable public subscript(column: Int) -> Value {
    get { values[column] }
    set { values[column] = newValue }
  }
}

/// A reference from columns of one table to columns of another.
public struct ForeignKey: Hashable, Sendable {
  /// Positions in the referring table.
  public let columns: [Int]
  public let parent: Name
  /// Names in the parent table.
  public let parentColumns: [Name]
  /// Whether the delete of a row deletes the rows that refer to it. SQLite does so for ON DELETE CASCADE. For a
  /// reference that only the dataset declares, an app does so.
  public let deletesChildren: Bool

  public init(columns: [Int], parent: Name, parentColumns: [Name], deletesChildren: Bool = false) {
    self.columns = columns
    self.parent = parent
    self.parentColumns = parentColumns
    self.deletesChildren = deletesChildren
  }
}

/// The structure of one table for everything above SQL: its columns, its key, its references.
public struct TableSchema: Hashable, Sendable {
  public let name: Name
  /// The columns that are stored and can be written: generated columns are excluded.
  public let columns: [Name]
  /// Positions of the primary key's columns, in the key's order.
  public let key: [Int]
  public let foreignKeys: [ForeignKey]

  public init(name: Name, columns: [Name], key: [Int], foreignKeys: [ForeignKey]) {
    self.name = name
    self.columns = columns
    self.key = key
    self.foreignKeys = foreignKeys
  }

  public func position(of column: Name) -> Int? { columns.firstIndex(of: column) }

  public func key(of row: Row) -> RowKey { RowKey(key.map { row[$0] }) }
}
