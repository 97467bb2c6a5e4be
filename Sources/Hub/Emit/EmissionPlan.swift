import SatchelBundle
import SatchelConflicts
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The content of one emission. It is decided in sets of row numbers, before any row is read.
struct EmissionPlan {
  let device: EnrolledDevice
  /// The user, with the attributes by which the rules are evaluated. The emission records these attributes.
  let user: User
  let number: EmissionNumber
  let cursor: Cursor
  let extent: Manifest.Scope.Extent
  /// The emissions that the device may have, oldest first.
  let emissions: [Emission]
  /// The rows that the device held after each of `emissions`.
  let held: [[RowSet]]
  /// The rows that the user may see now, as a set for each table. Rows that stay behind are not in it.
  var visible: [RowSet]
  /// The basis on which `visible` was evaluated. nil if the next emission cannot derive its rows from `visible`.
  var basis: String?
  /// The rows that are sent whole.
  var rows: [RowSet]
  /// The rows in `rows` that none of `emissions` has shown.
  let grants: [RowSet]
  /// The number of visible rows that stay behind, because the bundle must be small.
  var rowsLeft = 0
  /// The rows whose deletion is sent.
  let gone: [RowSet]
  let carriesDefinition: Bool
  /// The migrations from the oldest version that the device may have to the present version.
  let migrations: [Migration]
  /// Whether nothing is new for the device, apart from rows.
  private let isQuiet: Bool
  /// The rows that changed since the newest of `emissions`.
  private let newsSince: [RowSet]

  /// Whether the newest emission already has everything for the device.
  var isNothingNew: Bool {
    isQuiet && held.last == visible && !zip(visible, newsSince).contains { !$0.intersection($1).isEmpty }
  }

  /// - Parameters:
  ///   - mustTellKey: whether the hub has a next key that its devices must learn.
  ///   - isKept: whether the file of an emission is still in its place, and can be carried.
  ///   - saidAnything: whether the device sent anything that needs an acknowledgement, in an export after `after`.
  init(
    _ store: HubStore, device: EnrolledDevice, user: User, full: Bool, mustTellKey: Bool,
    isKept: (Emission) throws -> Bool, saidAnything: (_ after: SequenceNumber) throws -> Bool
  ) throws {
    self.device = device
    let scope = ScopeStore(store, user: user)
    self.user = scope.user
    // Emissions of an earlier epoch do not count, so the device gets everything again.
    emissions = try store.emissions(of: device.id).filter { $0.number >= store.identity.firstEmission }
    held = try store.heldSets(of: device.id, after: emissions)
    cursor = try store.cursor()
    let last = emissions.last
    let since = try last.map { try store.changed(after: $0.cursor, device: device.id) } ?? []
    newsSince = since.map(\.news)
    basis = try scope.basis()
    if !full, let basis, basis == last?.basis, let before = held.last {
      visible = try scope.visible(after: before, changed: since)
    } else {
      visible = try scope.visibleFromAbove()
    }
    let owed = try store.owed(to: device.id)
    number = max(max(device.emitted, device.proved).next, store.identity.firstEmission)
    // If the device has a new user, it gets a full bundle. After that bundle, the emissions for the former user do not
    // count.
    let areForThisUser = emissions.allSatisfy { Name($0.user) == Name(user.name) }
    let proved = full || !areForThisUser ? nil : emissions.first { $0.number == device.proved }
    if let proved {
      extent = .delta
      let changed = try store.changed(after: proved.cursor, device: device.id, marks: emissions.map(\.cursor))
      var rows: [RowSet] = []
      var gone: [RowSet] = []
      var grants: [RowSet] = []
      for (place, now) in visible.enumerated() {
        // The device may have any of these emissions by now. So it holds at least the rows that all of them held, and
        // at most the rows that any of them held. If the device itself wrote a row, the row counts as held in all
        // emissions before that.
        let withOwn = zip(held, changed[place].own).map { $0[place].union($1) }
        let heldByAll = withOwn.dropFirst().reduce(withOwn[0]) { $0.intersection($1) }
        let heldByAny = held.reduce(RowSet()) { $0.union($1[place]) }
        rows.append(
          now.intersection(changed[place].news).union(now.subtracting(heldByAll)).union(
            now.intersection(owed.always[place].union(owed.ifVisible[place]))))
        gone.append(heldByAny.union(changed[place].allOwn).union(owed.always[place]).subtracting(now))
        grants.append(
          now.subtracting(heldByAny).subtracting(changed[place].allOwn).subtracting(owed.always[place]).subtracting(
            owed.ifVisible[place]))
      }
      self.rows = rows
      self.gone = gone
      self.grants = grants
    } else {
      extent = .full
      rows = visible
      gone = store.tables.map { _ in RowSet() }
      // No row of a full bundle may stay behind, because the device would lose it.
      grants = store.tables.map { _ in RowSet() }
    }
    // The hub may have forgotten the device's emission, or may have made it before a loss. In both cases, the device
    // may have any version of the dataset.
    let knowsAll =
      emissions.contains { $0.number == device.proved } || (emissions.first?.number ?? number).rawValue == 1
    let oldest = knowsAll ? emissions.map(\.version).min() ?? store.dataset.version : 0
    migrations = try VersionTable.migrations(after: oldest, in: store.database)
    carriesDefinition = proved == nil || emissions.contains { $0.version != store.dataset.version }

    // An emission counts as lost if its file is not in its place any more, and the device has not proved it.
    guard !full, let last, last.isWritten, try last.number <= device.proved || isKept(last) else {
      isQuiet = false
      return
    }
    let untold = try ConflictTable.countUntold(of: device.id, by: user.name, in: store.database)
    let revocations = try store.revocations()?.number ?? 0
    let mustAcknowledge = try last.acknowledged != device.merged && saidAnything(last.acknowledged)
    isQuiet =
      try !store.mustTellCollected(device.id) && !store.mustAsk(device.id) && !owed.isNews(among: visible)
      && !mustAcknowledge
      && untold == 0
      && last.version == store.dataset.version && Name(last.user) == Name(user.name)
      && last.revocations == revocations && (!mustTellKey || device.toldKey != nil)
  }

  /// - Parameter file: the path of the written bundle, or of the last bundle if none was written.
  func report(file: String, isNew: Bool) -> EmitReport {
    EmitReport(
      device: device.name, user: user.name, number: isNew ? number : emissions.last?.number ?? .zero, file: file,
      extent: extent,
      rows: isNew ? rows.reduce(0) { $0 + $1.count } : 0, gone: isNew ? gone.reduce(0) { $0 + $1.count } : 0,
      rowsLeft: isNew ? rowsLeft : Int(emissions.last?.rowsLeft ?? 0), isNew: isNew)
  }
}
