import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A bundle that the hub made for a device.
struct Emission {
  let number: EmissionNumber
  let cursor: Cursor
  let acknowledged: SequenceNumber
  let version: Int64
  /// The number of the list of revoked keys in the emission.
  let revocations: Int64
  let user: String
  /// The user's attributes when the emission was made. nil if unknown, because an earlier release made the emission.
  let attributes: [Field]?
  /// The basis on which the emission's sets were evaluated. nil if a later emission cannot derive its sets from them.
  let basis: String?
  let file: String
  let isWritten: Bool
  /// The digest of the emission's `B2SUMS`. nil if release 0.1 made the emission, and the hub's ledger lacks the
  /// digest.
  let digest: Digest?
  /// The newest stamp in the emission. If an earlier release made the emission, it is a stamp that is not lower.
  let stamp: Stamp
  /// The number of the user's rows that stayed behind, because the bundle had to be small.
  let rowsLeft: Int64
}

extension HubStore {
  /// The emissions that a device may still have, oldest first.
  func emissions(of device: ReplicaID) throws -> [Emission] {
    try database.all(
      """
      SELECT number, cursor, acknowledged, version, user, file, written, revocations, basis, digest, attributes,
        stamp, rows_left
      FROM satchel_emissions
      WHERE device = :device
      ORDER BY number
      """, ["device": .string(device.text)]
    ) {
      Emission(
        number: EmissionNumber($0.integer(0)), cursor: Cursor($0.integer(1)),
        acknowledged: SequenceNumber($0.integer(2)),
        version: $0.integer(3), revocations: $0.integer(7), user: $0.text(4), attributes: try $0.fields(10),
        basis: $0.optionalText(8),
        file: $0.text(5),
        isWritten: $0.integer(6) != 0, digest: $0.optionalText(9).flatMap { Digest(hexadecimal: $0) },
        stamp: Stamp($0.integer(11)), rowsLeft: $0.integer(12))
    }
  }

  /// The emission on which a device made a bundle. nil if the hub does not know which rows the device had then.
  func emission(_ changes: Manifest.Changes, of device: ReplicaID) throws -> Emission? {
    guard let found = try emissions(of: device).first(where: { $0.number == changes.received }) else { return nil }
    // The same number may belong to another emission, because another history may have used it. Release 0.1 sends no
    // digest to compare.
    if let known = found.digest, let named = changes.proof?.digest, known != named { return nil }
    return found
  }

  /// The emissions that a device may have when it imports the planned emission, in the order of their numbers. nil if
  /// release 0.1 made one of them and its digest is unknown.
  ///
  /// A delta fits only the emissions since the proved one. A full bundle fits all emissions of this epoch, even those
  /// that the hub has forgotten.
  func follows(_ plan: EmissionPlan) throws -> [Manifest.EmissionLink]? {
    guard plan.extent == .full else { return links(plan.emissions) }
    let former = try plan.device.continues.flatMap { try device($0)?.name }
    let made = try database.all(
      """
      SELECT number, digest
      FROM satchel_ledger
      WHERE peer IN (:name, :former) AND kind = 'scope' AND direction = 'out'
        AND number >= :first AND number < :number AND digest IS NOT NULL
      ORDER BY number DESC
      LIMIT :most
      """,
      [
        "name": .string(plan.device.name), "former": .string(former ?? plan.device.name),
        "first": .integer(identity.firstEmission.rawValue), "number": .integer(plan.number.rawValue),
        "most": .integer(Int64(Manifest.Scope.mostFollowed) - 1),
      ]
    ) { row in
      Digest(hexadecimal: row.text(1)).map { Manifest.EmissionLink(number: EmissionNumber(row.integer(0)), digest: $0) }
    }.compactMap(\.self)
    let declared = try declared(by: plan.device.id).map { [$0] } ?? []
    return Set(made + declared).sorted()
  }

  private func links(_ emissions: [Emission]) -> [Manifest.EmissionLink]? {
    let links = emissions.suffix(Manifest.Scope.mostFollowed).compactMap { emission in
      emission.digest.map { Manifest.EmissionLink(number: emission.number, digest: $0) }
    }
    return links.count == min(emissions.count, Manifest.Scope.mostFollowed) ? links : nil
  }

  /// The emission that a device names as its own, and that the hub has forgotten. nil if there is none.
  func declared(by device: ReplicaID) throws -> Manifest.EmissionLink? {
    try database.first(
      "SELECT number, digest FROM satchel_declared WHERE device = :device", ["device": .string(device.text)]
    ) { row in Digest(hexadecimal: row.text(1)).map { .init(number: EmissionNumber(row.integer(0)), digest: $0) } }
      ?? nil
  }

  func declare(_ emission: Manifest.EmissionLink, by device: ReplicaID) throws {
    try database.run(
      "INSERT OR REPLACE INTO satchel_declared (device, number, digest) VALUES (:device, :number, :digest)",
      [
        "device": .string(device.text), "number": .integer(emission.number.rawValue),
        "digest": .string(emission.digest.hexadecimal),
      ])
  }

  /// Whether the hub still knows which rows a device with this emission has.
  func hasEmission(_ number: EmissionNumber, of device: ReplicaID) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_emissions WHERE device = :device AND number = :number",
      ["device": .string(device.text), "number": .integer(number.rawValue)]
    ) { _ in true } ?? false
  }

  /// The rows that a device holds after each of these emissions. The emissions must be all emissions of the device,
  /// oldest first. For each emission, there is a set for each table, in the order of the dataset.
  func heldSets(of device: ReplicaID, after emissions: [Emission]) throws -> [[RowSet]] {
    var stored: [Int64: [RowSet]] = [:]
    try database.each(
      "SELECT number, table_name, rows FROM satchel_emission_sets WHERE device = :device",
      ["device": .string(device.text)]
    ) {
      guard let place = place(of: Name($0.text(1))), case .blob(let bytes) = $0.value(2) else { return }
      guard let set = RowSet(encoded: bytes) else {
        throw WorkspaceError(
          .badSet, "The set of rows of emission \($0.integer(0)) cannot be read.",
          hint: "The hub's database is damaged: bring it back from a backup.")
      }
      stored[$0.integer(0), default: tables.map { _ in RowSet() }][place] = set
    }
    var held: [[RowSet]] = []
    for emission in emissions.reversed() {
      let own = stored[emission.number.rawValue] ?? tables.map { _ in RowSet() }
      held.append(held.last.map { later in zip(own, later).map { $0.symmetricDifference($1) } } ?? own)
    }
    return held.reversed()
  }

  /// Saves a new emission with the rows that the device holds after it. After that, the previous emission is stored
  /// only as the difference from the new one.
  func save(
    _ emission: Emission, holding sets: [RowSet], after previous: (number: EmissionNumber, sets: [RowSet])?,
    of device: ReplicaID
  ) throws {
    try database.run(
      """
      INSERT INTO satchel_emissions (
        device, number, cursor, acknowledged, version, revocations, user, attributes, basis, file, written, digest,
        stamp, rows_left)
      VALUES (
        :device, :number, :cursor, :acknowledged, :version, :revocations, :user, :attributes, :basis, :file, :written,
        :digest, :stamp, :rows_left)
      """,
      [
        "device": .string(device.text), "number": .integer(emission.number.rawValue),
        "cursor": .integer(emission.cursor.rawValue),
        "acknowledged": .integer(emission.acknowledged.rawValue), "version": .integer(emission.version),
        "revocations": .integer(emission.revocations),
        "user": .string(emission.user),
        "attributes": emission.attributes.map { .text(FieldsCoding.json($0)) } ?? .null,
        "basis": emission.basis.map { .string($0) } ?? .null,
        "file": .string(emission.file),
        "written": .integer(emission.isWritten ? 1 : 0),
        "digest": emission.digest.map { .string($0.hexadecimal) } ?? .null,
        "stamp": .integer(emission.stamp.rawValue), "rows_left": .integer(emission.rowsLeft),
      ])
    try database.run(
      "UPDATE satchel_devices SET emitted = :number WHERE id = :device",
      ["device": .string(device.text), "number": .integer(emission.number.rawValue)])
    try save(sets, at: emission.number, of: device)
    if let previous {
      try save(zip(previous.sets, sets).map { $0.symmetricDifference($1) }, at: previous.number, of: device)
    }
  }

  private func save(_ sets: [RowSet], at number: EmissionNumber, of device: ReplicaID) throws {
    for (table, set) in zip(tables, sets) {
      try database.run(
        """
        INSERT OR REPLACE INTO satchel_emission_sets (device, number, table_name, rows) VALUES (:device, :number, \
        :table, :rows)
        """,
        [
          "device": .string(device.text), "number": .integer(number.rawValue), "table": .string(table.name.text),
          "rows": .blob(set.encoded),
        ])
    }
  }

  func markWritten(_ number: EmissionNumber, of device: ReplicaID) throws {
    try database.run(
      "UPDATE satchel_emissions SET written = 1 WHERE device = :device AND number = :number",
      ["device": .string(device.text), "number": .integer(number.rawValue)])
  }

  /// Records that a device proved an emission, and forgets what is not needed any more: earlier emissions, and rows to
  /// send that this or an earlier emission carried.
  func prove(_ number: EmissionNumber, by device: ReplicaID) throws {
    let parameters: KeyValuePairs<String, Value> = [
      "device": .string(device.text), "number": .integer(number.rawValue),
    ]
    try database.run("DELETE FROM satchel_emissions WHERE device = :device AND number < :number", parameters)
    try database.run("DELETE FROM satchel_emission_sets WHERE device = :device AND number < :number", parameters)
    try database.run("DELETE FROM satchel_owed WHERE device = :device AND emission <= :number", parameters)
    try database.run("DELETE FROM satchel_declared WHERE device = :device AND number < :number", parameters)
  }

  /// Forgets all emissions for a device. The device then gets all rows again.
  func forgetEmissions(of device: ReplicaID) throws {
    for table in ["satchel_emissions", "satchel_emission_sets", "satchel_owed"] {
      try database.run("DELETE FROM \(quoted(table)) WHERE device = :device", ["device": .string(device.text)])
    }
  }
}
