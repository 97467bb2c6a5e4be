import SatchelBundle
import SatchelCapture
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// How a repair treats tables of the dataset that are gone or were changed into something else.
public enum LostTableHandling: Sendable {
  /// They stay as they are, and a person or the app makes them again.
  case left
  /// They are made as the hub's last full bundle has them.
  case madeAgain
}

/// Tables of the dataset that are gone from a device's database, or that have other keys than before.
struct LostTables {
  private let session: DeviceSession
  private let names: [Name]

  /// Returns nil if no table is lost. A renamed table is not lost: its rows are there under its new name.
  init?(_ session: DeviceSession) throws {
    self.session = session
    var names: [Name] = []
    for damage in session.damage where [.table, .key].contains(damage.kind) {
      if try !Capture.isRenamed(damage.table, in: session.database) { names.append(damage.table) }
    }
    if names.isEmpty { return nil }
    self.names = names
  }

  /// Makes the tables with their indexes as the hub's last full bundle has them. They are empty after that: a repair
  /// puts the known rows back. A copy of the database keeps a table that was changed.
  ///
  /// Throws a `WorkspaceError` if no full bundle of the present version of the dataset is in the archive.
  func makeAgain(_ report: inout DoctorReport) throws {
    let bundles = try ArchivedBundles(session)
    let numbers = try session.stand().numbers
    let number = try numbers[bundles.lastFull(of: numbers)]
    let bundle = try bundles.emission(number)
    try checkVersion(bundle.manifest.version)
    guard let snapshot = try Snapshot.open(holdingItsOwnTables: bundle) else {
      throw ArchivedBundles.incomplete("the hub's bundle \(number) has no snapshot")
    }
    let changed = try names.filter { try session.database.tableInfo($0) != nil }
    let copy = try changed.isEmpty ? nil : session.keepCopyBeforeRepair()
    try session.database.writeTransaction(session.workspace.runMode) {
      for name in changed { try drop(name) }
      for name in names { try make(name, like: snapshot, of: number) }
    }
    for name in names {
      let isUnsent = try !changed.contains(name) && Capture.hasSavedRows(of: name, in: session.database)
      if isUnsent {
        report.add(
          Finding(
            .schemaDrift,
            """
            Rows of the table \(name) had changes that the hub is not known to have. What no export carries is gone \
            with the table.
            """))
      }
      let kept = copy.map { changed.contains(name) ? " As it was, it is kept in \($0)." : "" } ?? ""
      report.add(
        Finding(.schemaDrift, "The table \(name) is made as the hub's bundle \(number) has it.\(kept)"))
    }
  }

  /// A view may have the name of the table.
  private func drop(_ name: Name) throws {
    let kind = try session.database.first(
      "SELECT type FROM sqlite_schema WHERE name = :name AND type IN ('table', 'view')", ["name": .string(name.text)]
    ) { $0.text(0) }
    if let kind { try session.database.execute("DROP \(kind) \(quoted(name))") }
  }

  private func make(_ name: Name, like snapshot: borrowing Database, of number: Int64) throws {
    let declarations = try snapshot.all(
      """
      SELECT sql FROM sqlite_schema
      WHERE tbl_name = :name AND sql IS NOT NULL AND type IN ('table', 'index') ORDER BY type = 'index', name
      """, ["name": .string(name.text)]
    ) { $0.text(0) }
    guard !declarations.isEmpty else {
      throw ArchivedBundles.incomplete("the hub's bundle \(number) has no table \(name)")
    }
    for declaration in declarations { try session.database.execute(declaration) }
  }

  private func checkVersion(_ version: Int64) throws {
    if version == session.dataset.version { return }
    throw WorkspaceError(
      .noHistory,
      """
      The hub's last full bundle is of version \(version) of the dataset, and this device has version \
      \(session.dataset.version): its tables may be others.
      """,
      hint: """
        Have the app make the table again. If it cannot, move the database to another folder, with its -wal file if \
        there is one. Then satchel doctor --repair builds it again from bundles and exports. Changes that no export \
        carries are then only in the file that you moved.
        """)
  }
}
