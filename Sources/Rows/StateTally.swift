import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues

/// Adds up the digests of one table's rows, and keeps the digests of the requested rows.
public struct StateTally {
  private var digester: RowDigester
  public private(set) var table: StateEntry.Table
  private let asked: Set<Int>
  /// The rows in the requested sums. nil: there are more rows than a bundle may list.
  public private(set) var answer: [RowKey: Digest256]? = [:]

  /// - Parameters:
  ///   - columns: only these columns are in the digests; nil: all columns of the table.
  ///   - asked: the sums whose rows are requested one by one.
  public init(_ schema: TableSchema, columns: Set<Name>? = nil, asked: [Int] = []) {
    digester = RowDigester(schema, columns: columns)
    table = StateEntry.Table(schema.name, columns: digester.columnNames)
    self.asked = Set(asked)
  }

  public mutating func add(_ row: Row, key: RowKey) {
    let digests = digester.digests(of: row)
    table.add(digests)
    if isAsked(digests.key) { keep(key, digests.row) }
  }

  public mutating func remove(_ row: Row, key: RowKey) {
    let digests = digester.digests(of: row)
    table.remove(digests)
    if isAsked(digests.key) { answer?[key] = nil }
  }

  /// Adds the current row of a query with the table's columns in their order.
  public mutating func add(rowOf query: borrowing Statement, key: (borrowing Statement) -> RowKey) {
    let digests = digester.digests(of: query)
    table.add(digests)
    if isAsked(digests.key) { keep(key(query), digests.row) }
  }

  private func isAsked(_ key: Digest256) -> Bool { !asked.isEmpty && asked.contains(StateEntry.Table.sum(of: key)) }

  private mutating func keep(_ key: RowKey, _ digest: Digest256) {
    answer?[key] = digest
    // Pending rows are removed again, so more rows than the limit are kept meanwhile.
    if let count = answer?.count, count > 2 * StateEntry.mostRows { answer = nil }
  }
}
