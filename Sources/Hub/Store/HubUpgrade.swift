import SatchelCapture
import SatchelConflicts
import SatchelSQLite
import SatchelWorkspace

/// The steps that change the hub's own tables of an older release to the present form.
extension HubSchema {
  static let upgrade = SchemaUpgrade([
    toSchema2, toSchema3, toSchema4, toSchema5, toSchema6, toSchema7, toSchema8, toSchema9,
    toSchema10, toSchema11, toSchema12, toSchema13, toSchema14, toSchema15, toSchema16, toSchema17,
    toSchema18, toSchema19, toSchema20,
  ])

  private static let toSchema20: SchemaUpgrade.Step = { try $0.execute(HubStore.doubtfulTimes) }

  private static let toSchema19: SchemaUpgrade.Step = { database in
    try database.execute("ALTER TABLE satchel_devices ADD COLUMN hold_since INTEGER")
    try database.execute("ALTER TABLE satchel_devices ADD COLUMN hold_note TEXT")
    try database.execute("ALTER TABLE satchel_emissions ADD COLUMN rows_left INTEGER NOT NULL DEFAULT 0")
    try database.execute(HubStore.operators)
    try database.execute(HubStore.acts)
    try database.execute(HubStore.formerEmissions)
    // The recovery of a lost time may be running. Only the present records show which of its emissions the hub knows.
    try HubStore.keepFormerEmissions(in: database)
  }

  private static let toSchema18: SchemaUpgrade.Step = { try ConflictTable.addKeptOutIndex(in: $0) }

  private static let toSchema17: SchemaUpgrade.Step = {
    try $0.execute("ALTER TABLE satchel_owed ADD COLUMN equal_at INTEGER")
  }

  private static let toSchema16: SchemaUpgrade.Step = {
    // The hub does not know yet what its last backup contains, so the column begins with 0.
    try $0.execute("ALTER TABLE satchel_devices ADD COLUMN backed_up INTEGER NOT NULL DEFAULT 0")
  }

  private static let toSchema15: SchemaUpgrade.Step = {
    try $0.execute("ALTER TABLE satchel_devices ADD COLUMN only_receives INTEGER NOT NULL DEFAULT 0")
    // A device with keys sends its recipient at enrolment. So a device without keys has no recipient, never delivered,
    // and has an emission.
    try $0.run(
      """
      UPDATE satchel_devices SET only_receives = 1
      WHERE recipient IS NULL AND merged = 0 AND proved > 0
      """)
    try $0.execute(HubStore.formerRights)
  }

  private static let toSchema14: SchemaUpgrade.Step = { database in
    try database.execute("DROP INDEX satchel_attachment_paths")
    try database.execute(HubStore.attachmentIndexes)
    try database.execute(rekeyedIndexes)
    try ConflictTable.addIndexes(in: database)
  }

  private static let toSchema13: SchemaUpgrade.Step = { try HubStore.rememberJoinedRows(in: $0) }

  private static let toSchema12: SchemaUpgrade.Step = { database in
    try database.execute("ALTER TABLE satchel_emissions ADD COLUMN stamp INTEGER NOT NULL DEFAULT 0")
    // No emission has a later stamp than the hub's newest stamp or its clock. So this upper bound is enough.
    try database.run(
      """
      UPDATE satchel_emissions
      SET stamp = max((SELECT stamp FROM satchel_capture), (SELECT clock << 16 FROM satchel_hub))
      """)
    try database.execute("ALTER TABLE satchel_hub ADD COLUMN names_settled INTEGER NOT NULL DEFAULT 0")
    try database.execute(HubStore.receivedPaths)
    try database.execute("ALTER TABLE satchel_devices ADD COLUMN signs_keys INTEGER NOT NULL DEFAULT 0")
    try database.run("UPDATE satchel_devices SET signs_keys = 1 WHERE understands <> '' OR next_proved = 1")
    let columns = try database.all("SELECT name FROM pragma_table_info('satchel_set_back')") { $0.text(0) }
    // If `toSchema2` created this table, the column is there already.
    if !columns.contains("key") { try database.execute("ALTER TABLE satchel_set_back ADD COLUMN key TEXT") }
    try database.execute(HubStore.recoveredRows)
  }

  private static let toSchema11: SchemaUpgrade.Step = { try $0.execute(HubStore.health) }

  private static let toSchema10: SchemaUpgrade.Step = { try $0.execute(HubStore.braked) }

  private static let toSchema9: SchemaUpgrade.Step = { database in
    try database.execute("ALTER TABLE satchel_devices ADD COLUMN next_proved INTEGER NOT NULL DEFAULT 0")
    try database.execute("ALTER TABLE satchel_devices ADD COLUMN refused_key TEXT")
    // A revoked device may have announced a key that it does not hold. In that case, the owner of that key still needs
    // it.
    try database.run(
      """
      DELETE FROM satchel_revoked
      WHERE key IN (SELECT next_key FROM satchel_devices WHERE state = 'revoked')
      """)
    try database.run("UPDATE satchel_hub SET revocations = revocations + 1 WHERE revocations > 0")
  }

  private static let toSchema8: SchemaUpgrade.Step = { database in
    try database.execute("ALTER TABLE satchel_devices ADD COLUMN asked TEXT")
    // In all its bundles, a device has the name of its first bundle. The chain has the digest of that bundle, and the
    // ledger has its name.
    try database.run(
      """
      UPDATE satchel_devices
      SET asked = (
        SELECT ledger.peer
        FROM satchel_chain AS chain JOIN satchel_ledger AS ledger ON ledger.digest = chain.digest
        WHERE chain.device = satchel_devices.id AND ledger.direction = 'in' AND ledger.kind = 'changes'
        ORDER BY ledger.entry
        LIMIT 1)
      """)
    // In earlier releases, a revoked device that delivered again could become a flagged device.
    try database.run("UPDATE satchel_devices SET state = 'revoked' WHERE revoked_from IS NOT NULL")
    try HubStore.noteTimeOfFormerUsers(in: database)
    try HubStore.noteReports(in: database)
  }

  private static let toSchema7: SchemaUpgrade.Step = {
    try $0.execute("ALTER TABLE satchel_emissions ADD COLUMN attributes TEXT")
    try $0.execute("ALTER TABLE satchel_devices ADD COLUMN stamp INTEGER NOT NULL DEFAULT 0")
  }

  private static let toSchema6: SchemaUpgrade.Step = {
    try Capture.addUnitTables(in: $0)
    try ConflictTable.addUnits(in: $0)
  }

  private static let toSchema5: SchemaUpgrade.Step = {
    try $0.execute("ALTER TABLE satchel_owed ADD COLUMN if_visible INTEGER NOT NULL DEFAULT 0")
  }

  private static let toSchema4: SchemaUpgrade.Step = { try Capture.noteColumns(in: $0) }

  private static let toSchema3: SchemaUpgrade.Step = { database in
    try database.execute("ALTER TABLE satchel_devices ADD COLUMN understands TEXT NOT NULL DEFAULT ''")
    for table in [HubStore.proofs, HubStore.differentRows] { try database.execute(table) }
  }

  private static let toSchema2: SchemaUpgrade.Step = { database in
    try database.execute("ALTER TABLE satchel_emissions ADD COLUMN digest TEXT")
    try database.run(
      """
      UPDATE satchel_emissions
      SET digest = (
        SELECT digest
        FROM satchel_ledger
        WHERE peer = (SELECT name FROM satchel_devices WHERE id = satchel_emissions.device)
          AND kind = 'scope' AND direction = 'out' AND number = satchel_emissions.number
        ORDER BY entry DESC)
      """)
    try database.execute("ALTER TABLE satchel_hub ADD COLUMN epoch_cursor INTEGER NOT NULL DEFAULT 0")
    try database.execute("ALTER TABLE satchel_hub ADD COLUMN former_known INTEGER NOT NULL DEFAULT 1")
    try database.execute("ALTER TABLE satchel_hub ADD COLUMN recovering INTEGER NOT NULL DEFAULT 0")
    try database.execute("ALTER TABLE satchel_hub ADD COLUMN key_lost INTEGER NOT NULL DEFAULT 0")
    try database.execute("ALTER TABLE satchel_hub ADD COLUMN clock INTEGER NOT NULL DEFAULT 0")
    // Release 0.1 did not record the former epochs.
    try database.run("UPDATE satchel_hub SET former_known = emissions_from = 0")
    try database.execute("ALTER TABLE satchel_rekeyed ADD COLUMN bundle TEXT")
    try database.run(
      """
      UPDATE satchel_rekeyed
      SET bundle = (
        SELECT bundle
        FROM satchel_ledger
        WHERE direction = 'in' AND kind = 'changes' AND verdict = 'imported' AND at = satchel_rekeyed.at
          AND peer = (SELECT name FROM satchel_devices WHERE id = satchel_rekeyed.device))
      """)
    try Capture.addFirstWriteColumns(in: database)
    for table in [
      epochs, setBack, declared, HubStore.formerUsers, HubStore.knownWrites, HubStore.lostEmissions,
      HubStore.awaitedEmissions,
    ] {
      try database.execute(table)
    }
  }
}
