import SatchelCapture
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The rows that a database had before the first bundle from its hub, as changes for the hub.
///
/// A row that the hub lacks becomes an insert. A row that the hub has with the same values becomes no change. A row
/// that the hub has with other values becomes an insert of the same key, which the import merges as usual. Changes that
/// were pending at a former hub stay as they were.
struct OwnRows {
  private struct Found {
    let place: Int
    let key: RowKey
    let images: [PreImage]
    let row: Row?
  }

  /// The first generation of this device's own writes. Writes of an earlier generation belong to rows from a former
  /// hub.
  static let firstOwn = Generation(1)

  private let tables: [TrackedTable]
  private var found: [Found] = []
  /// The newest stamp that this database had seen.
  private(set) var newest = Stamp.zero

  init(_ tables: [TrackedTable]) { self.tables = tables }

  /// Reads the changes that were captured since the device left its hub, and removes Satchel's triggers and tables.
  mutating func takeCaptured(in database: borrowing Database) throws {
    guard try database.hasTable("satchel_capture") else { return }
    try Capture.settle(tables, in: database)
    newest = try max(Capture.newestStamp(in: database), PreImageStore.newestStamp(tables, in: database))
    for (place, table) in tables.enumerated() {
      try PreImageStore.each(table, since: .zero, in: database) { key, images, row in
        found.append(Found(place: place, key: key, images: images, row: row))
      }
    }
    try Self.removeSatchel(from: database)
  }

  /// Adds each row of a database that was never captured.
  mutating func takeUncaptured(at stamp: Stamp, in database: borrowing Database) throws {
    for (place, table) in tables.enumerated() {
      try database.each(table.allRowsSQL) {
        let row = Row($0.values(from: 0, count: table.schema.columns.count))
        let image = PreImage(generation: Self.firstOwn, stamp: stamp, row: nil)
        found.append(Found(place: place, key: table.schema.key(of: row), images: [image], row: row))
      }
    }
  }

  /// Records all rows and changes that the hub's snapshot lacks as pending changes. Capture must be installed.
  ///
  /// Returns the rows that this device did not change and that the hub has with other values, if these values are older
  /// than the hub. No record shows which of the two versions is later.
  func save(
    as generation: Generation, against snapshot: Snapshot, in database: borrowing Database
  ) throws -> Set<RowInTable> {
    var undated: Set<RowInTable> = []
    let theirs = try tables.map { try RowTable($0, in: snapshot.database) }
    for own in found {
      let table = tables[own.place]
      let hub = try theirs[own.place].row(own.key)
      guard let image = Self.image(of: own, meeting: hub, in: table) else { continue }
      let pending = PreImage(generation: generation, stamp: image.stamp, row: image.row)
      try PreImageStore.replace([pending], of: own.key, in: table, database: database)
      let isUnchanged = own.images.allSatisfy { $0.generation < Self.firstOwn }
      if isUnchanged, hub != nil, try snapshot.stamp(of: own.key, in: table.name) == .zero {
        undated.insert(RowInTable(table: table.name, key: own.key))
      }
    }
    return undated
  }

  /// The pre-image of this device's change to the row; nil: there is no change.
  private static func image(of own: Found, meeting hub: Row?, in table: TrackedTable) -> PreImage? {
    guard let last = own.images.last else { return nil }
    func image(_ row: Row?) -> PreImage { PreImage(generation: last.generation, stamp: last.stamp, row: row) }
    let mine = own.images.filter { $0.generation >= firstOwn }
    // If neither side has the row, the delete still goes to the hub, because another device may send the row later.
    if own.row == hub { return own.row == nil ? mine.first?.row.map { image($0) } : nil }
    guard let row = own.row else { return mine.first?.row.map { image($0) } }
    guard let hub else { return image(nil) }
    let rules = MergeRules(table.rules, schema: table.schema)
    let base = mine.first?.row
    if let base, base != row { return image(start(of: row, from: base, meeting: hub, rules)) }
    // A row whose key came from a hub is no insert in tables that renumber new rows. An insert would duplicate it.
    let isOfHub = base != nil || own.images[0].generation < firstOwn
    let counts = row.values.indices.contains { row[$0] != hub[$0] && rules.countsDifferences(of: $0) }
    return image(isOfHub && table.renamesRows || counts ? start(of: row, from: row, meeting: hub, rules) : nil)
  }

  /// Returns the row from which a pending change started. If the start of a column is unknown, the column gets a value
  /// that differs from both sides. The change then disagrees with the hub's row.
  /// - Parameter base: the row as the former hub had it.
  private static func start(of row: Row, from base: Row, meeting hub: Row, _ rules: MergeRules) -> Row {
    Row(
      row.values.indices.map { column in
        let (own, known, other) = (row[column], base[column], hub[column])
        if own == other { return own }
        // The shared part of a counter or a set is unknown.
        if rules.countsDifferences(of: column) { return known == other ? known : MergeRules.unknownStart }
        if known != own { return known }
        return own.isNull || other.isNull ? .string("?") : .null
      })
  }

  /// Removes every trigger and every table of Satchel.
  private static func removeSatchel(from database: borrowing Database) throws {
    for type in ["trigger", "table"] {
      let names = try database.all(
        "SELECT name FROM sqlite_schema WHERE type = :type AND name LIKE 'satchel\\_%' ESCAPE '\\'",
        ["type": .string(type)]
      ) { Name($0.text(0)) }
      for name in names { try database.execute("DROP \(type) main.\(quoted(name))") }
    }
  }
}
