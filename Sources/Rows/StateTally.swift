import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues

/// Adds up the digests of one table's rows, and keeps the digests of the requested rows.
public struct StateTally {
  private var digester: RowDigester
  public private(set) var table: StateEntry.Table
  /// The rows in the requested sums, by sum. Sums with more rows than a bundle may list are left out, the highest sum
  /// first.
  public private(set) var rows: [Int: [RowKey: Digest256]]
  private var count = 0

  /// - Parameters:
  ///   - columns: only these columns are in the digests; nil: all columns of the table.
  ///   - asked: the sums whose rows are requested one by one.
  public init(_ schema: TableSchema, columns: Set<Name>? = nil, asked: [Int] = []) {
    digester = RowDigester(schema, columns: columns)
    table = StateEntry.Table(schema.name, columns: digester.columnNames)
    rows = Dictionary(uniqueKeysWithValues: asked.map { ($0, [:]) })
  }

  public mutating func add(_ row: Row, key: RowKey) {
    let digests = digester.digests(of: row)
    table.add(digests)
    if let sum = askedSum(of: digests.key) { keep(key, digests.row, in: sum) }
  }

  public mutating func remove(_ row: Row, key: RowKey) {
    let digests = digester.digests(of: row)
    table.remove(digests)
    if let sum = askedSum(of: digests.key), rows[sum]?.removeValue(forKey: key) != nil { count -= 1 }
  }

  /// Adds the current row of a query with the table's columns in their order.
  public mutating func add(rowOf query: borrowing Statement, key: (borrowing Statement) -> RowKey) {
    let digests = digester.digests(of: query)
    table.add(digests)
    if let sum = askedSum(of: digests.key) { keep(key(query), digests.row, in: sum) }
  }

  private func askedSum(of key: Digest256) -> Int? {
    if rows.isEmpty { return nil }
    let sum = StateEntry.Table.sum(of: key)
    return rows[sum] == nil ? nil : sum
  }

  private mutating func keep(_ key: RowKey, _ digest: Digest256, in sum: Int) {
    if rows[sum]?.updateValue(digest, forKey: key) == nil { count += 1 }
    // Pending rows are removed again, so more rows than the limit are kept meanwhile.
    while count > 2 * StateEntry.mostRows, let highest = rows.keys.max() {
      count -= rows.removeValue(forKey: highest)?.count ?? 0
    }
  }
}
