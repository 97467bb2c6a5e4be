import SatchelSQLite
import SatchelValues

/// The last known rows of one table, without changes that capture may have missed.
public protocol KnownTableRows {
  /// The row with this key; nil if there was none.
  func row(_ key: RowKey) throws -> Row?
  func eachKey(_ body: (RowKey) throws -> Void) throws
}

/// A row in the last export: its pre-images, and the row that results from its changes.
public struct SentRow: Sendable {
  public var images: [PreImage]
  public var row: Row?

  public init(images: [PreImage], row: Row?) {
    self.images = images
    self.row = row
  }
}

/// A change of one row that no trigger recorded.
public struct UnseenChange: Sendable {
  public let table: Name
  public let key: RowKey
  /// The last known row; nil if there was none.
  public let known: Row?
  /// The change from the last known row to the present row. nil if the row is unchanged and only its pre-images are
  /// missing.
  public let change: Change?
  /// The pre-images with which the next export carries the change. If `added` is set, there is one more pre-image with
  /// this row. It gets its stamp later.
  private let images: [PreImage]
  private let added: Row??

  /// All pre-images of the row with this change.
  func images(generation: Generation, stamp: Stamp) -> [PreImage] {
    guard let added else { return images }
    return images + [
      PreImage(generation: generation, stamp: stamp, first: FirstWrite(stamp: stamp, isOnly: true), row: added)
    ]
  }

  fileprivate init?(_ table: Name, _ key: RowKey, from known: Row?, to row: Row?, images: [PreImage], added: Row??) {
    guard let change = Change(from: known, to: row) else { return nil }
    self.init(table, key, change, from: known, images: images, added: added)
  }

  /// Makes a change for a row that is as its export described it, but has lost its pre-images.
  fileprivate init(_ table: Name, _ key: RowKey, of sent: SentRow) {
    let change = Change(from: sent.images[0].hubRow, to: sent.row)
    self.init(table, key, change, from: sent.images[0].hubRow, images: sent.images, added: nil)
  }

  private init(
    _ table: Name, _ key: RowKey, _ change: Change?, from known: Row?, images: [PreImage], added: Row??
  ) {
    self.table = table
    self.key = key
    self.known = known
    self.change = change
    self.images = images
    self.added = added
  }
}

/// Compares a table with its last known rows to find changes that no trigger recorded.
public struct UnseenChanges {
  private let table: TrackedTable
  private let known: any KnownTableRows
  /// The rows of this table in the last export, with the results of all later imports.
  private let sent: [RowKey: SentRow]
  /// The rows of the last export whose state is not known, for example rows that wait at the hub.
  private let unclear: Set<RowKey>
  /// The first generation whose writes are in no export. A hub makes no exports.
  private let unsent: Generation
  private let generation: Generation
  /// For each column: values that count as equal. A row that is older than the column has one of these values.
  private let alike: [Int: Set<Value>]

  /// - Parameters:
  ///   - generation: the present generation.
  ///   - alike: for each column, values that count as equal.
  public init(
    of table: TrackedTable, known: any KnownTableRows, sent: [RowKey: SentRow] = [:], unclear: Set<RowKey> = [],
    unsent: Generation, generation: Generation, alike: [Int: Set<Value>] = [:]
  ) {
    self.table = table
    self.known = known
    self.sent = sent
    self.unclear = unclear
    self.unsent = unsent
    self.generation = generation
    self.alike = alike
  }

  /// Calls `body` for each change that no trigger recorded. Reads every row of the table. The caller has begun a
  /// transaction.
  public func find(in database: borrowing Database, _ body: (UnseenChange) throws -> Void) throws {
    var pending: Set<RowKey> = []
    var found: [UnseenChange] = []
    try PreImageStore.each(table, since: .zero, in: database) { key, images, current in
      pending.insert(key)
      if let change = try pendingChange(key, images, current) { found.append(change) }
    }
    for change in found { try body(change) }
    for (key, sent) in sent where !pending.contains(key) {
      pending.insert(key)
      let current = try PreImageStore.row(key, of: table, in: database)
      if let change = forgotten(key, sent, current) { try body(change) }
    }
    try database.each(table.allRowsSQL) {
      let row = Row($0.values(from: 0, count: table.schema.columns.count))
      let key = table.schema.key(of: row)
      if pending.contains(key) || key.values.contains(where: \.isNull) { return }
      if let change = plainChange(key, from: try known.row(key), to: row) { try body(change) }
    }
    try known.eachKey { key in
      if try pending.contains(key) || PreImageStore.row(key, of: table, in: database) != nil { return }
      if let change = plainChange(key, from: try known.row(key), to: nil) { try body(change) }
    }
  }

  /// Saves the pre-images of these changes, so that the next export carries the changes.
  public static func save(
    _ changes: [UnseenChange], of table: TrackedTable, generation: Generation, stamp: () throws -> Stamp,
    in database: borrowing Database
  ) throws {
    for change in changes where change.table == table.name {
      let images = change.images(generation: generation, stamp: try stamp())
      try PreImageStore.replace(images, of: change.key, in: table, database: database)
    }
  }

  /// The known row. If a column of both rows has values that count as equal, it gets the present row's value.
  private func aligned(_ known: Row?, with row: Row?) -> Row? {
    guard var known, let row else { return known }
    for (column, values) in alike where values.contains(known[column]) && values.contains(row[column]) {
      known[column] = row[column]
    }
    return known
  }

  private func plainChange(_ key: RowKey, from known: Row?, to row: Row?) -> UnseenChange? {
    let known = aligned(known, with: row)
    return UnseenChange(table.name, key, from: known, to: row, images: [], added: .some(known))
  }

  private func pendingChange(_ key: RowKey, _ images: [PreImage], _ current: Row?) throws -> UnseenChange? {
    let row = try aligned(known.row(key), with: images[0].hubRow)
    if images[0].hubRow != row {
      // The exported change began after a change that capture had missed. So the next export carries the whole change
      // again, from the hub's row to the exported row.
      let last = sent[key].map { $0.row } ?? row
      let calm = images.map {
        $0.with(row: $0.generation == generation ? last : row)
      }
      let isTold = images.contains { $0.generation == generation }
      return UnseenChange(
        table.name, key, from: row, to: images[0].hubRow, images: calm, added: isTold ? nil : .some(last))
    }
    // An export was made after the write, and does not contain the row. So the row had its former value at that time.
    let isUntold = images[0].generation < unsent && !unclear.contains(key)
    guard let sent = sent[key] ?? (isUntold ? SentRow(images: [], row: row) : nil) else { return nil }
    let place = images.firstIndex { $0.generation >= unsent }
    let after = place.map { images[$0].row } ?? current
    let before = aligned(sent.row, with: after)
    if let place {
      var mended = images
      mended[place] = images[place].with(row: before)
      return UnseenChange(table.name, key, from: before, to: after, images: mended, added: nil)
    }
    return UnseenChange(table.name, key, from: before, to: after, images: images, added: .some(before))
  }

  /// The change of an exported row whose pre-images are missing. The pre-images come from the export. They are restored
  /// even if the row is now as it was before its first change, because the hub may have only that export. If the row
  /// has changed since the export, the further change is the difference from the exported row.
  private func forgotten(_ key: RowKey, _ sent: SentRow, _ current: Row?) -> UnseenChange? {
    let row = aligned(sent.row, with: current)
    if row == current { return UnseenChange(table.name, key, of: SentRow(images: sent.images, row: row)) }
    return UnseenChange(table.name, key, from: row, to: current, images: sent.images, added: .some(row))
  }
}
