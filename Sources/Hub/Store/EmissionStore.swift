import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A bundle that the hub made for a device, and what the device holds once it has imported it.
struct Emission {
  let number: EmissionNumber
  let cursor: Cursor
  let acknowledged: SequenceNumber
  let version: Int64
  /// The number of the list of revoked keys that it told.
  let revocations: Int64
  let user: String
  let file: String
  let isWritten: Bool
  /// A set for each of the dataset's tables, in their order.
  let sets: [RowSet]
}

extension HubStore {
  /// The emissions on which a device may still stand, oldest first.
  func emissions(of device: ReplicaID) throws -> [Emission] {
    var sets: [Int64: [RowSet]] = [:]
    let parameters: KeyValuePairs<String, Value> = ["device": .string(device.text)]
    try database.each("SELECT number, table_name, rows FROM satchel_emission_sets WHERE device = :device", parameters) {
      guard let place = place(of: Name($0.text(1))), case .blob(let bytes) = $0.value(2) else { return }
      guard let set = RowSet(encoded: bytes) else {
        throw WorkspaceError(
          "bad-set", "The set of rows of emission \($0.integer(0)) cannot be understood.", hint: "Emit with --full.")
      }
      sets[$0.integer(0), default: tables.map { _ in RowSet() }][place] = set
    }
    return try database.all(
      """
      SELECT number, cursor, acknowledged, version, user, file, written, revocations
      FROM satchel_emissions
      WHERE device = :device
      ORDER BY number
      """, parameters
    ) {
      Emission(
        number: EmissionNumber($0.integer(0)), cursor: Cursor($0.integer(1)), acknowledged: SequenceNumber($0.integer(2)),
        version: $0.integer(3), revocations: $0.integer(7), user: $0.text(4), file: $0.text(5), isWritten: $0.integer(6) != 0,
        sets: sets[$0.integer(0)] ?? tables.map { _ in RowSet() })
    }
  }

  /// Whether the hub knows what a device holds that stands on this emission.
  func hasEmission(_ number: EmissionNumber, of device: ReplicaID) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_emissions WHERE device = :device AND number = :number",
      ["device": .string(device.text), "number": .integer(number.rawValue)]
    ) { _ in true } ?? false
  }

  func save(_ emission: Emission, of device: ReplicaID) throws {
    try database.run(
      """
      INSERT INTO satchel_emissions (device, number, cursor, acknowledged, version, revocations, user, file, written)
      VALUES (:device, :number, :cursor, :acknowledged, :version, :revocations, :user, :file, :written)
      """,
      [
        "device": .string(device.text), "number": .integer(emission.number.rawValue),
        "cursor": .integer(emission.cursor.rawValue),
        "acknowledged": .integer(emission.acknowledged.rawValue), "version": .integer(emission.version),
        "revocations": .integer(emission.revocations),
        "user": .string(emission.user), "file": .string(emission.file), "written": .integer(emission.isWritten ? 1 : 0),
      ])
    try database.run(
      "UPDATE satchel_devices SET emitted = :number WHERE id = :device",
      ["device": .string(device.text), "number": .integer(emission.number.rawValue)])
    for (table, set) in zip(tables, emission.sets) {
      try database.run(
        "INSERT INTO satchel_emission_sets (device, number, table_name, rows) VALUES (:device, :number, :table, :rows)",
        [
          "device": .string(device.text), "number": .integer(emission.number.rawValue), "table": .string(table.name.text),
          "rows": .blob(set.encoded),
        ])
    }
  }

  func markWritten(_ number: EmissionNumber, of device: ReplicaID) throws {
    try database.run(
      "UPDATE satchel_emissions SET written = 1 WHERE device = :device AND number = :number",
      ["device": .string(device.text), "number": .integer(number.rawValue)])
  }

  /// Forgets what a device has left behind: emissions before the proved one, and debts that it or an earlier one paid.
  func prove(_ number: EmissionNumber, by device: ReplicaID) throws {
    let parameters: KeyValuePairs<String, Value> = ["device": .string(device.text), "number": .integer(number.rawValue)]
    try database.run("DELETE FROM satchel_emissions WHERE device = :device AND number < :number", parameters)
    try database.run("DELETE FROM satchel_emission_sets WHERE device = :device AND number < :number", parameters)
    try database.run("DELETE FROM satchel_owed WHERE device = :device AND emission <= :number", parameters)
  }

  /// Forgets everything that was made for a device: it gets all anew.
  func forgetEmissions(of device: ReplicaID) throws {
    for table in ["satchel_emissions", "satchel_emission_sets", "satchel_owed"] {
      try database.run("DELETE FROM \(quoted(table)) WHERE device = :device", ["device": .string(device.text)])
    }
  }

  // MARK: debts

  /// Notes that the device must be sent this row's true state.
  func owe(_ key: RowKey, in place: Int, to device: ReplicaID) throws {
    let number = try numbers[place].assign(key, in: database)
    try database.run(
      "INSERT OR REPLACE INTO satchel_owed (device, table_name, row, emission) VALUES (:device, :table, :row, NULL)",
      ["device": .string(device.text), "table": .string(tables[place].name.text), "row": .integer(number)])
  }

  /// The rows that are owed to a device, a set for each table, and whether any of them was never sent.
  func owed(to device: ReplicaID) throws -> (sets: [RowSet], isNew: Bool) {
    var sets = tables.map { _ in RowSet() }
    var isNew = false
    try database.each(
      "SELECT table_name, row, emission FROM satchel_owed WHERE device = :device", ["device": .string(device.text)]
    ) {
      guard let place = place(of: Name($0.text(0))) else { return }
      sets[place].insert($0.integer(1))
      if $0.isNull(2) { isNew = true }
    }
    return (sets, isNew)
  }

  func markOwedSent(to device: ReplicaID, by number: EmissionNumber) throws {
    try database.run(
      "UPDATE satchel_owed SET emission = :number WHERE device = :device AND emission IS NULL",
      ["device": .string(device.text), "number": .integer(number.rawValue)])
  }
}
