import SatchelCapture
import SatchelConflicts
import SatchelRows
import SatchelSQLite
import SatchelWorkspace

/// The changes of the device's own tables from release to release.
extension DeviceSchema {
  static let upgrade = SchemaUpgrade([
    toSchema2, toSchema3, toSchema4, toSchema5, toSchema6, toSchema7, toSchema8, toSchema9,
    toSchema10, toSchema11, toSchema12,
  ])

  private static let toSchema12: SchemaUpgrade.Step = { try ConflictTable.addKeptOutIndex(in: $0) }

  private static let toSchema11: SchemaUpgrade.Step = { try $0.execute(NamedEmissionTable.schema) }

  private static let toSchema10: SchemaUpgrade.Step = { try $0.execute(NewValueTable.schema) }

  private static let toSchema9: SchemaUpgrade.Step = {
    try $0.execute("ALTER TABLE satchel_device ADD COLUMN backed_up INTEGER")
  }

  private static let toSchema8: SchemaUpgrade.Step = {
    try $0.execute("ALTER TABLE satchel_device ADD COLUMN former_exports INTEGER")
  }

  private static let toSchema7: SchemaUpgrade.Step = {
    try $0.execute(RenumberedTable.index)
    try ConflictTable.addIndexes(in: $0)
  }

  private static let toSchema6: SchemaUpgrade.Step = { try $0.execute(ExportedRowTable.schema) }

  private static let toSchema5: SchemaUpgrade.Step = {
    try Capture.addUnitTables(in: $0)
    try ConflictTable.addUnits(in: $0)
  }

  private static let toSchema4: SchemaUpgrade.Step = { try Capture.noteColumns(in: $0) }

  private static let toSchema3: SchemaUpgrade.Step = { database in
    for column in [
      "hub_understands TEXT NOT NULL DEFAULT ''", "last_proof INTEGER", "must_prove INTEGER NOT NULL DEFAULT 0",
      "compare TEXT NOT NULL DEFAULT '[]'",
    ] {
      try database.execute("ALTER TABLE satchel_device ADD COLUMN \(column)")
    }
  }

  private static let toSchema2: SchemaUpgrade.Step = { database in
    for column in ["received_digest TEXT", "received_signature TEXT", "sealed INTEGER"] {
      try database.execute("ALTER TABLE satchel_device ADD COLUMN \(column)")
    }
    try database.run(
      """
      UPDATE satchel_device
      SET received_digest = (
        SELECT digest
        FROM satchel_ledger
        WHERE direction = 'in' AND kind = 'scope' AND verdict = 'imported' AND number = satchel_device.received
        ORDER BY entry DESC)
      """)
    try database.execute("ALTER TABLE satchel_exports ADD COLUMN base INTEGER")
    try Capture.addFirstWriteColumns(in: database)
    for table in [FormerEpochTable.schema, BroughtEmissionTable.schema, EstrangementTable.schema] {
      try database.execute(table)
    }
  }
}
