import SatchelBundle
import SatchelRows
import SatchelSQLite
import SatchelValues

/// Rows that came back as a whole from bundles of the lost time.
///
/// The counters and sets of these rows contain changes of devices, but nothing shows which changes. If a device
/// delivers its work of that time later, the hub does not know whether the row already contains that work.
extension HubStore {
  /// One record for each such row, also in tables without counters and sets. If the row is deleted, a device may still
  /// deliver its insert later.
  static let recoveredRows = """
    CREATE TABLE satchel_recovered_rows (
      table_name TEXT NOT NULL,
      row INTEGER NOT NULL,     -- the row's stable number
      stamp INTEGER NOT NULL,   -- of the row in the bundle of the lost time
      emissions_from INTEGER NOT NULL, -- a device with this emission or a later one has delivered its lost work
      PRIMARY KEY (table_name, row)
    ) WITHOUT ROWID
    """

  /// Whether rows came back from a lost time in a table with counters or sets.
  func hasRecoveredRows() throws -> Bool {
    try tables.indices.contains { place in
      try !rows[place].countedColumns.isEmpty
        && database.first(
          "SELECT 1 FROM satchel_recovered_rows WHERE table_name = :table", ["table": .string(tables[place].name.text)]
        ) { _ in true } ?? false
    }
  }

  /// Records a row that came back, with its stamp in the lost time.
  func rememberRecovered(_ row: Int64, in place: Int, at stamp: Stamp) throws {
    try database.run(
      """
      INSERT INTO satchel_recovered_rows (table_name, row, stamp, emissions_from)
      VALUES (:table, :row, :stamp, :first)
      ON CONFLICT (table_name, row) DO UPDATE SET stamp = max(stamp, :stamp), emissions_from = :first
      """,
      [
        "table": .string(tables[place].name.text), "row": .integer(row), "stamp": .integer(stamp.rawValue),
        "first": .integer(identity.firstEmission.rawValue),
      ])
  }

  /// Returns the row's stamp in the lost time, if the row came back as a whole after the device made its change.
  /// Otherwise nil.
  /// - Parameter emission: the emission on which the device made the change. nil if unknown.
  func recoveredStamp(of row: Int64, in place: Int, since emission: EmissionNumber?) throws -> Stamp? {
    try database.first(
      """
      SELECT stamp
      FROM satchel_recovered_rows
      WHERE table_name = :table AND row = :row AND (:emission IS NULL OR emissions_from > :emission)
      """,
      [
        "table": .string(tables[place].name.text), "row": .integer(row),
        "emission": emission.map { .integer($0.rawValue) } ?? .null,
      ]
    ) { Stamp($0.integer(0)) }
  }

  /// Returns the counters and sets of a row that may already contain a change of an earlier epoch.
  ///
  /// Some are certain: the change is later than the row's stamp in the lost time, and starts from the present value of
  /// the column. Such a column does not contain the change.
  /// - Parameters:
  ///   - emission: the emission on which the device made the change. nil if unknown.
  ///   - stamp: the stamp of the change.
  func uncertainColumns(
    of change: Change, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int, since emission: EmissionNumber?,
    at stamp: Stamp
  ) throws -> Set<Int> {
    let counted = rows[place].countedColumns
    guard let hub, let past, !counted.isEmpty,
      let recovered = try recoveredStamp(of: past.number, in: place, since: emission)
    else { return [] }
    guard case .update(let changes) = change, stamp > recovered else { return counted }
    return counted.subtracting(changes.filter { $0.was == hub[$0.column] }.map(\.column))
  }

  /// Returns the counters and sets of a row that may already contain a change, although its device is on an emission of
  /// the present epoch.
  ///
  /// The row may contain any change that is not later than the row's stamp in the lost time.
  /// - Parameter stamp: the stamp of the change's first write. nil if it proves nothing, because the device's clock may
  ///   have been ahead.
  func uncertainColumns(
    onto hub: Row?, with past: RowNumbers.Entry?, in place: Int, written stamp: Stamp?
  ) throws -> Set<Int> {
    let counted = rows[place].countedColumns
    guard hub != nil, let past, !counted.isEmpty,
      let recovered = try recoveredStamp(of: past.number, in: place, since: nil)
    else { return [] }
    return stamp.map { $0 <= recovered } ?? true ? counted : []
  }
}

extension RowTable {
  /// The columns that are counters or sets.
  var countedColumns: Set<Int> { Set(schema.columns.indices.filter { rules.countsDifferences(of: $0) }) }
}
