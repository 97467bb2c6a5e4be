import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// The sums of the row digests of a table. A device sends its sums, and the hub compares them with its own. For sums
/// that the hub asks for in detail, the device also remembers the digest of each row.
public struct StateTally {
  public private(set) var table: StateEntry.Table
  /// The rows of the sums that were asked for, by sum. If they are more rows than a bundle may list, the highest sums
  /// are left out.
  public private(set) var rows: [Int: [RowKey: Digest256]]
  private var count = 0
  private let schema: TableSchema

  fileprivate init(_ schema: TableSchema, columns: [Name], asked: [Int]) {
    self.schema = schema
    table = StateEntry.Table(schema.name, columns: columns)
    rows = Dictionary(uniqueKeysWithValues: asked.map { ($0, [:]) })
  }

  fileprivate mutating func add(_ row: Row, _ digests: RowDigester.Digests) {
    table.add(digests)
    if let sum = askedSum(of: digests.key) { keep(schema.key(of: row), digests.row, in: sum) }
  }

  fileprivate mutating func remove(_ row: Row, _ digests: RowDigester.Digests) {
    table.remove(digests)
    guard let sum = askedSum(of: digests.key) else { return }
    if rows[sum]?.removeValue(forKey: schema.key(of: row)) != nil { count -= 1 }
  }

  private func askedSum(of key: Digest256) -> Int? {
    if rows.isEmpty { return nil }
    let sum = StateEntry.Table.sum(of: key)
    return rows[sum] == nil ? nil : sum
  }

  private mutating func keep(_ key: RowKey, _ digest: Digest256, in sum: Int) {
    if rows[sum]?.updateValue(digest, forKey: key) == nil { count += 1 }
    // Rows with pending changes will be removed again. So up to twice the limit is remembered until then.
    while count > 2 * StateEntry.mostRows, let highest = rows.keys.max() {
      count -= rows.removeValue(forKey: highest)?.count ?? 0
    }
  }
}

/// Adds rows to a tally. Another core computes the digests while the caller reads the next rows.
///
/// The nested types are not private, because modules that use this type would not link otherwise.
public struct StateTallyMaker: ~Copyable {
  struct Item: Sendable {
    let row: Row
    /// True to add the row, false to remove it.
    let isAdded: Bool
  }

  /// Rows whose digests another core computes.
  struct Batch: Sendable {
    var items: [Item] = []
    var size = BatchSize()
  }

  struct Digested: Sendable {
    /// The items come back so that the thread that allocated them also frees them, which takes half the time.
    let items: [Item]
    let digests: [RowDigester.Digests]
  }

  private var worker: OrderedWorker<RowDigester, Batch, Digested>
  private var batch = Batch()
  private var tally: StateTally
  private let columnCount: Int

  /// - Parameters:
  ///   - columns: only these columns are in the digests; nil means all columns of the table.
  ///   - asked: the sums for which the digest of each row is remembered.
  public init(_ schema: TableSchema, columns: Set<Name>? = nil, asked: [Int] = []) {
    let digester = RowDigester(schema, columns: columns)
    tally = StateTally(schema, columns: digester.columnNames, asked: asked)
    columnCount = schema.columns.count
    worker = OrderedWorker(state: digester) { digester, batch in
      Digested(items: batch.items, digests: batch.items.map { digester.digests(of: $0.row) })
    }
  }

  public mutating func add(_ row: Row) { put(Item(row: row, isAdded: true)) }

  public mutating func remove(_ row: Row) { put(Item(row: row, isAdded: false)) }

  /// Adds the current row of a query. The first columns of the query are the table's columns in their order.
  public mutating func add(rowOf query: borrowing Statement) {
    add(Row(query.values(from: 0, count: columnCount)))
  }

  /// Waits for all digests and returns the tally.
  public consuming func finish() -> StateTally {
    worker.put(batch)
    while take() {}
    return tally
  }

  private mutating func put(_ item: Item) {
    batch.items.append(item)
    batch.size.add(item.row.byteCount)
    if !batch.size.isFull { return }
    let mostAtOnce = batch.size.mostAtOnce
    worker.put(batch)
    batch = Batch()
    while worker.count > mostAtOnce { take() }
  }

  /// Adds the digests of the oldest batch to the tally. Returns false if no batch is left.
  @discardableResult
  private mutating func take() -> Bool {
    guard let digested = worker.take() else { return false }
    for (item, digests) in zip(digested.items, digested.digests) {
      if item.isAdded { tally.add(item.row, digests) } else { tally.remove(item.row, digests) }
    }
    return true
  }
}
