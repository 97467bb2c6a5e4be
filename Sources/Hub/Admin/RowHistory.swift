import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelJSON
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The history of a row, which explains its present values.
public struct RowHistory: Sendable {
  /// One change that the hub committed.
  public struct Entry: Sendable {
    public let cursor: Cursor
    /// The time of the commit by the hub's clock, in milliseconds since 1970.
    public let at: Int64
    public let operation: Operation
    /// The new values of the columns. nil for a delete.
    public let set: [Field]?
    /// The former values. nil for an insert.
    public let was: [Field]?
    /// The device's name. nil for a change at the hub.
    public let device: String?
    public let user: String
    public let stamp: Stamp
    public let bundle: BundleID?
  }

  public let table: Name
  public let key: RowKey
  /// The row as it is now. nil if it does not exist.
  public let row: [Field]?
  /// The changes, oldest first. Changes from before the hub began, and forgotten changes, are missing.
  public let entries: [Entry]
  public let conflicts: [StoredConflict]
  /// The cursor of the last change that is forgotten. Zero if no change is forgotten.
  public let forgotten: Cursor
  /// The rows that got this key on a device, and have another key at the hub. `device` is the device's name, and `key`
  /// is the key at the hub.
  public let renamed: [(device: String, key: RowKey)]
}

extension HubWorkspace {
  /// The history of one row.
  /// - Parameter text: the key as people type it: a value, or a JSON array of values. A key of several columns must be
  ///   an array.
  public func history(of table: String, key text: String) throws -> RowHistory {
    try changing { store in
      guard let place = store.place(of: Name(table)) else { throw Self.noTable(table, store) }
      let key = try store.key(typed: text, in: place)
      let names = Dictionary(uniqueKeysWithValues: try store.devices().map { ($0.id.text, $0.name) })
      let entries = try store.entries(of: store.past(of: key, in: place)) { names[$0] ?? $0 }
      let schema = store.tables[place].schema
      return RowHistory(
        table: Name(table), key: key, row: try store.rows[place].row(key).map { schema.fields($0) }, entries: entries,
        conflicts: try store.marked(ConflictTable.about(key, of: store.tables[place], in: store.database)),
        forgotten: store.identity.logFrom,
        renamed: try store.renamed(key, in: place).map { (names[$0.device] ?? $0.device, $0.key) })
    }
  }

  static func noTable(_ table: String, _ store: HubStore) -> WorkspaceError {
    WorkspaceError(
      .noTable, "The dataset has no table \(table).",
      hint: "It has: \(store.tables.map(\.name.text).joined(separator: ", ")).")
  }
}

extension HubStore {
  /// The key that a person typed. Throws a `WorkspaceError` if no row with this key exists or existed.
  func key(typed text: String, in place: Int) throws -> RowKey {
    let count = tables[place].schema.key.count
    var candidates: [RowKey] = []
    if text.hasPrefix("["),
      let key = try? RowKey(canonical: JSONValue.parse(Array(text.utf8), limits: JSONLimits()).compactBytes)
    {
      candidates.append(key)
    }
    if count == 1 {
      candidates.append(RowKey([.string(text)]))
      if let number = Int64(text) { candidates.append(RowKey([.integer(number)])) }
      if let number = Double(text) { candidates.append(RowKey([.real(number)])) }
    }
    for key in candidates where key.values.count == count {
      if try rows[place].row(key) != nil || past(of: key, in: place) != nil { return key }
    }
    throw WorkspaceError(
      .noRow, "There is and was no row [\(text)] in \(tables[place].name).",
      hint: count == 1 ? nil : "A key of several columns is written as a JSON array, such as [1, \"ann\"].")
  }

  /// The log's entries of a row, oldest first.
  fileprivate func entries(
    of past: RowNumbers.Entry?, _ name: (_ device: String) -> String
  ) throws -> [RowHistory.Entry] {
    var entries: [RowHistory.Entry] = []
    var next = past?.cursor
    while let cursor = next {
      let found = try historyEntry(at: cursor, name)
      guard let found else { break }
      entries.append(found.entry)
      next = found.previous
    }
    return entries.reversed()
  }
}
