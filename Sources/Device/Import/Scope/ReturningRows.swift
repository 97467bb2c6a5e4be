import SatchelBundle
import SatchelCapture
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Counts the rows that the first bundle of a new epoch removes and that may come back, because the hub was set back.
/// This device has the hub's bundles of the lost time, and carries them to the hub. Not all rows in these bundles come
/// back, because the hub may have such a row and hide it now.
struct ReturningRows {
  private let session: DeviceSession
  /// The removed rows that no bundle has named so far.
  private var removed: [Name: Set<RowKey>]
  private var count: Int64 = 0

  private init(_ removed: [Name: Set<RowKey>], of session: DeviceSession) {
    (self.removed, self.session) = (removed, session)
  }

  /// Returns the number of rows that may come back. A row counts if it exists in the newest bundle of the lost time
  /// that names it.
  /// - Parameters:
  ///   - removed: the rows that the bundle removed.
  ///   - scope: the bundle that begins the epoch.
  static func count(
    among removed: [Name: Set<RowKey>], of session: DeviceSession, lostBefore scope: Manifest.Scope
  ) throws -> Int64 {
    // A person chose a hub with another key, or another copy of the hub. That hub may not accept the former bundles.
    if session.isHubConfirmed { return 0 }
    var rows = ReturningRows(removed, of: session)
    let known = Set(scope.known)
    for emission in try session.archivedEmissions(before: scope.epoch).reversed() {
      // The hub knows this bundle, so it has everything that it made before this bundle.
      if known.contains(emission.digest) { break }
      guard try rows.read(emission.path) else { break }
    }
    return rows.count
  }

  /// Reads one bundle, after all newer bundles. Returns whether older bundles may name further rows. A bundle that is
  /// damaged, or of another version of the dataset, ends the search: its rows are not known.
  private mutating func read(_ path: String) throws -> Bool {
    if removed.values.allSatisfy(\.isEmpty) { return false }
    let bundle: VerifiedBundle
    do {
      bundle = try session.workspace.reader.read(
        path, trust: .keys(session.workspace.hubKeys()), staging: session.folder.inbox)
    } catch is BundleError { return false }
    guard bundle.manifest.version == session.dataset.version else { return false }
    if let snapshot = try Snapshot.open(holdingItsOwnTables: bundle) {
      try note(snapshot)
      // A full bundle names all rows.
      return false
    }
    try bundle.eachChange { line in
      if case .row = line.content { note(line.key, in: line.table) }
      if case .gone = line.content { removed[line.table]?.remove(line.key) }
    }
    return true
  }

  private mutating func note(_ snapshot: borrowing Database) throws {
    for table in session.tables where removed[table.name]?.isEmpty == false {
      try snapshot.each(table.allKeysSQL) {
        note(RowKey($0.values(from: 0, count: table.schema.key.count)), in: table.name)
      }
    }
  }

  private mutating func note(_ key: RowKey, in table: Name) {
    if removed[table]?.remove(key) != nil { count += 1 }
  }
}
