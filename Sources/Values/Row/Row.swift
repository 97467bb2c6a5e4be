/// The values of one row, in the order of its table's columns.
public struct Row: Hashable, Sendable {
  public var values: [Value]

  public init(_ values: [Value]) { self.values = values }

  /// The approximate memory of the row's values, in bytes.
  public var byteCount: Int { values.reduce(0) { $0 + $1.byteCount } }

  // The subscript is inlined into the caller's code, so that reading a value does not retain the value.
  @inlinable public subscript(column: Int) -> Value {
    get { values[column] }
    set { values[column] = newValue }
  }
}

/// A reference from columns of one table to columns of another.
public struct ForeignKey: Hashable, Sendable {
  /// The positions of the reference's columns in the table that refers.
  public let columns: [Int]
  public let parent: Name
  /// The names of the columns in the parent table to which the reference leads.
  public let parentColumns: [Name]
  /// Whether the delete of a row deletes the rows that refer to it. SQLite deletes them for ON DELETE CASCADE. If only
  /// the dataset declares the reference, an app deletes them.
  public let deletesChildren: Bool

  public init(columns: [Int], parent: Name, parentColumns: [Name], deletesChildren: Bool = false) {
    self.columns = columns
    self.parent = parent
    self.parentColumns = parentColumns
    self.deletesChildren = deletesChildren
  }
}

/// The structure of one table for all modules above SQL: its columns, its key and its references.
public struct TableSchema: Hashable, Sendable {
  public let name: Name
  /// The columns that are stored and can be written. Generated columns are not among them.
  public let columns: [Name]
  /// The positions of the primary key's columns, in the key's order.
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
