import SatchelCapture
import SatchelConflicts
import SatchelDataset
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Adapts the hub's own tables to another version of the dataset.
extension HubStore {
  /// Records a step to another version, and continues with the tables of that version. Rows of added tables become
  /// inserts of the hub. Row numbers and sets of removed tables are forgotten.
  func take(
    _ step: VersionStep, _ definition: DatasetDefinition, _ migration: Migration?, at now: Int64
  ) throws {
    for table in step.removed { try forget(table) }
    for (table, _) in step.added { try RowNumbers.install(table, in: database) }
    for table in step.kept {
      try RowNumbers.follow(table, in: database)
      guard let mapping = step.mappings[table.name] else { continue }
      try RenamedColumns.follow(
        mapping, of: table.name, in: "satchel_log", ["set_values", "was_values"], database: database)
    }
    try database.run("UPDATE satchel_hub SET definition = :definition", ["definition": .text(definition.source)])
    try VersionTable.add(definition.version, definition.source, migration, step.mappings, at: now, in: database)
    try go(to: definition, step.tables)
    for (table, _) in step.added {
      try PreImageStore.saveAsNew(table, stamp: Capture.tick(now: now, in: database), in: database)
    }
    try Self.giveFirstBlocks(step.added.map(\.table), to: identity.id, in: database)
  }

  /// Forgets the row numbers and sets of a removed table. The log still has the history of its rows, and conflicts
  /// about them stay. A person must now decide changes of them that were held.
  private func forget(_ table: TrackedTable) throws {
    try database.execute("DROP TABLE \(RowNumbers.names(table).table)")
    let name: KeyValuePairs<String, Value> = ["table": .string(table.name.text)]
    for holder in ["satchel_emission_sets", "satchel_owed", "satchel_attachments"] {
      try database.run("DELETE FROM \(quoted(holder)) WHERE table_name = :table", name)
    }
    try ConflictTable.openHeld(of: table.name, in: database)
  }

  /// The definition of a version of the dataset. nil if this hub never had this version.
  func definition(of version: Int64) throws -> DatasetDefinition? {
    let known = try VersionTable.definitions(in: database).first { $0.version == version }
    return try known.map { try DatasetDefinition(json: $0.source) }
  }

  /// The last version of the dataset with a table that is not in the dataset now. nil if there was none.
  func lastVersion(with table: Name) throws -> Int64? {
    if place(of: table) != nil { return nil }
    return try VersionTable.definitions(in: database).last {
      try DatasetDefinition(json: $0.source).rules(for: table) != nil
    }?.version
  }
}
