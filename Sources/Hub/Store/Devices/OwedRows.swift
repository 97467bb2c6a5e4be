import SatchelBundle
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The rows whose true state a device must receive, whatever the log contains. There is a set for each table.
struct OwedRows {
  /// The rows for which the row itself or its deletion is sent.
  var always: [RowSet]
  /// The rows that are sent only if the device's user sees them. The device deleted these rows while they were hidden.
  var ifVisible: [RowSet]
  /// The rows of `ifVisible` that no emission has carried yet.
  fileprivate var unsentIfVisible: [RowSet]
  /// Whether `always` has a row that no emission has carried yet.
  fileprivate var hasUnsent = false

  /// Returns whether there is a row to send that no emission has carried yet.
  /// - Parameter visible: the rows that the user sees, as a set for each table.
  func isNews(among visible: [RowSet]) -> Bool {
    hasUnsent || zip(visible, unsentIfVisible).contains { !$0.intersection($1).isEmpty }
  }
}

/// The condition for sending a row whose true state the device must receive.
enum Debt: Int64 {
  /// The row is sent, or its deletion.
  case always = 0
  /// The row is sent only if the device's user sees it. The device does not have the row, so its deletion is not sent:
  /// it would reveal that the row exists.
  case ifVisible = 1
}

extension HubStore {
  /// Records that a device must receive the true state of a row.
  /// - Parameter equal: the cursor up to which the device has seen the writes of this row, if it brought an equal row
  ///   itself. nil: it brought no equal row.
  func owe(
    _ key: RowKey, in place: Int, to device: ReplicaID, _ debt: Debt = .always, equalAt equal: Cursor? = nil
  ) throws {
    let number = try numbers[place].assign(key, in: database)
    try database.run(
      """
      INSERT INTO satchel_owed (device, table_name, row, emission, if_visible, equal_at)
      VALUES (:device, :table, :row, NULL, :debt, :equal)
      ON CONFLICT DO UPDATE SET
        if_visible = CASE WHEN emission IS NULL THEN min(if_visible, excluded.if_visible) ELSE excluded.if_visible END,
        emission = NULL, equal_at = coalesce(excluded.equal_at, equal_at)
      """,
      [
        "device": .string(device.text), "table": .string(tables[place].name.text), "row": .integer(number),
        "debt": .integer(debt.rawValue), "equal": equal.map { .integer($0.rawValue) } ?? .null,
      ])
  }

  /// The cursor up to which a device has seen the writes of a row, if it brought an equal row itself. nil if it did
  /// not, or if it has proved an emission with the row since.
  func equalCursor(ofRow number: Int64, in place: Int, on device: ReplicaID) throws -> Cursor? {
    try database.first(
      "SELECT equal_at FROM satchel_owed WHERE device = :device AND table_name = :table AND row = :row",
      [
        "device": .string(device.text), "table": .string(tables[place].name.text), "row": .integer(number),
      ]
    ) { $0.optionalInteger(0).map { Cursor($0) } } ?? nil
  }

  /// Returns the rows whose true state a device must receive.
  func owed(to device: ReplicaID) throws -> OwedRows {
    let empty = tables.map { _ in RowSet() }
    var owed = OwedRows(always: empty, ifVisible: empty, unsentIfVisible: empty)
    try database.each(
      "SELECT table_name, row, emission, if_visible FROM satchel_owed WHERE device = :device",
      ["device": .string(device.text)]
    ) {
      guard let place = place(of: Name($0.text(0))) else { return }
      let (row, isUnsent) = ($0.integer(1), $0.isNull(2))
      switch Debt(rawValue: $0.integer(3)) {
      case .ifVisible:
        owed.ifVisible[place].insert(row)
        if isUnsent { owed.unsentIfVisible[place].insert(row) }
      case .always, nil:
        owed.always[place].insert(row)
        if isUnsent { owed.hasUnsent = true }
      }
    }
    return owed
  }

  func markOwedSent(to device: ReplicaID, by number: EmissionNumber) throws {
    try database.run(
      "UPDATE satchel_owed SET emission = :number WHERE device = :device AND emission IS NULL",
      ["device": .string(device.text), "number": .integer(number.rawValue)])
  }
}
