/// The values of one row, in the order of its table's columns.
public struct Row: Hashable, Sendable {
  public var values: [Value]

  public init(_ values: [Value]) { self.values = values }

  /// The approximate size of the row's values in memory, in bytes.
  public var byteCount: Int { values.reduce(0) { $0 + $1.byteCount } }

  // The subscript is inlinable, because the caller's code then reads a value without retaining it.
  @inlinable public subscript(column: Int) -> Value {
    get { values[column] }
    set { values[column] = newValue }
  }
}

/// A reference from columns of one table to columns of a parent table.
public struct ForeignKey: Hashable, Sendable {
  /// The positions of the reference's columns in the table that refers.
  public let columns: [Int]
  public let parent: Name
  /// The names of the parent table's columns to which the reference leads.
  public let parentColumns: [Name]
  /// Whether a delete of the parent also deletes the rows that refer to it. SQLite does that for ON DELETE CASCADE.
  /// For a reference that only the dataset declares, the app does it.
  public let deletesChildren: Bool

  public init(columns: [Int], parent: Name, parentColumns: [Name], deletesChildren: Bool = false) {
    self.columns = columns
    self.parent = parent
    self.parentColumns = parentColumns
    self.deletesChildren = deletesChildren
  }
}

/// The columns, the key and the references of one table, for code that does not use SQL.
public struct TableSchema: Hashable, Sendable {
  public let name: Name
  /// The stored columns, which can be written. Generated columns are not among them.
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
