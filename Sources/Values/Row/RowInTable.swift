/// Identifies a row in a database by its table and its key.
public struct RowInTable: Hashable, Sendable {
  public let table: Name
  public let key: RowKey

  public init(table: Name, key: RowKey) {
    self.table = table
    self.key = key
  }
}
