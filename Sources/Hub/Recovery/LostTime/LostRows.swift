import SatchelBundle
import SatchelCapture
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Rows to which the hub gave other keys in the lost time, with the values of their natural keys. The collected
/// emissions show these rows before the devices deliver them again.
///
/// If two devices made the same row, the hub gave the second row the key of the first row. When the first row is
/// delivered again, its key then belongs to the same thing, and not to another row.
final class LostRows {
  private let hub: HubWorkspace
  private let store: HubStore
  /// The values of the natural key's columns, for each row. nil until the emissions are read.
  private var values: [KeyedRow: [Value]]?

  init(_ hub: HubWorkspace, _ store: HubStore) { (self.hub, self.store) = (hub, store) }

  /// Whether `row` means the same thing as the row that had this key in the lost time. Only for tables that fold.
  func isSameThing(_ row: Row, at key: Value, in place: Int) throws -> Bool {
    let columns = natural(place)
    guard store.tables[place].folds, !columns.isEmpty, try store.isRecovering() else { return false }
    let known = try values ?? read()
    values = known
    return known[KeyedRow(place: place, key: key)] == columns.map { row[$0] }
  }

  private func natural(_ place: Int) -> [Int] { store.tables[place].naturalColumns.sorted() }

  private func read() throws -> [KeyedRow: [Value]] {
    var found: [KeyedRow: [Value]] = [:]
    for emission in try store.lostEmissionsToMerge() {
      guard let file = emission.file else { continue }
      do {
        let bundle = try hub.believedLost(file, store)
        let rows = try givenKeys(in: bundle, emission.link.number)
        if !rows.isEmpty { try note(rows, of: bundle, &found) }
      } catch is BundleError {} catch PlatformError.missing {}
    }
    return found
  }

  /// Returns the keys that an emission gives to rows of folding tables.
  private func givenKeys(in bundle: borrowing VerifiedBundle, _ number: EmissionNumber) throws -> Set<KeyedRow> {
    var rows: Set<KeyedRow> = []
    try bundle.eachChange { line in
      guard case .rekey(let to, let given) = line.content, given == number, let place = store.place(of: line.table),
        store.tables[place].folds, let key = store.tables[place].singleKey(to)
      else { return }
      rows.insert(KeyedRow(place: place, key: key))
    }
    return rows
  }

  private func note(
    _ rows: Set<KeyedRow>, of bundle: borrowing VerifiedBundle, _ found: inout [KeyedRow: [Value]]
  ) throws {
    try bundle.eachChange { line in
      guard case .row(let fields) = line.content, let place = store.place(of: line.table),
        let key = store.tables[place].singleKey(line.key), rows.contains(KeyedRow(place: place, key: key))
      else { return }
      let names = natural(place).map { store.tables[place].schema.columns[$0] }
      let values = names.compactMap { name in fields.first { $0.name == name }?.value }
      if values.count == names.count { found[KeyedRow(place: place, key: key)] = values }
    }
    guard let path = bundle.path(of: .snapshot) else { return }
    let snapshot = try Database.untrusted(path: path)
    for row in rows where found[row] == nil { found[row] = try values(of: row, in: snapshot) }
  }

  /// Returns the natural key's values of a row in the snapshot of a full bundle. nil if the snapshot lacks the row or a
  /// column.
  private func values(of row: KeyedRow, in snapshot: borrowing Database) throws -> [Value]? {
    let (table, schema) = (store.tables[row.place], store.tables[row.place].schema)
    let names = natural(row.place).map { schema.columns[$0] }
    guard let key = schema.key.first, let carried = try table.carriedColumns(in: snapshot),
      Set(names + [schema.columns[key]]).isSubset(of: carried)
    else { return nil }
    return try snapshot.first(
      "SELECT \(quotedList(names)) FROM \(quoted(table.name)) WHERE \(quoted(schema.columns[key])) = :key",
      ["key": row.key]
    ) { $0.values(from: 0, count: names.count) }
  }
}
