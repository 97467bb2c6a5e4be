import SatchelBundle
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// What one emission has to carry: decided in sets of row numbers, before any row is read.
struct EmissionPlan {
  let device: EnrolledDevice
  let user: User
  let number: EmissionNumber
  let cursor: Cursor
  let extent: Manifest.Scope.Extent
  /// The emissions on which the device may still stand, oldest first.
  let emissions: [Emission]
  /// What the device held after each of them.
  let held: [[RowSet]]
  /// What the user may see now; a set for each table, as in the other sets.
  let visible: [RowSet]
  /// What it was evaluated by.
  let basis: String?
  /// Rows to send whole.
  let rows: [RowSet]
  /// Rows of which the device is told that they are gone.
  let gone: [RowSet]
  let carriesDefinition: Bool
  /// Those that lead to the present version from the oldest on which the device may still stand.
  let migrations: [Migration]
  let isNothingNew: Bool

  /// - Parameters:
  ///   - mustTellKey: the hub has a next key of which its devices must hear.
  ///   - isKept: whether the file of an emission is where it was written.
  ///   - saidAnything: whether what the device delivered after this sequence has to be acknowledged.
  init(
    _ store: HubStore, device: EnrolledDevice, user: User, full: Bool, mustTellKey: Bool,
    isKept: (_ file: String) throws -> Bool, saidAnything: (_ after: SequenceNumber) throws -> Bool
  ) throws {
    self.device = device
    self.user = user
    // On those of a history before this one nothing is built: the device gets everything anew.
    emissions = try store.emissions(of: device.id).filter { $0.number >= store.identity.firstEmission }
    held = try store.heldSets(of: device.id, after: emissions)
    cursor = try store.cursor()
    let last = emissions.last
    let since = try last.map { try store.changed(after: $0.cursor, device: device.id) } ?? []
    let scope = ScopeStore(store, user: user)
    basis = try scope.basis()
    if !full, let basis, basis == last?.basis, let before = held.last {
      visible = try scope.visible(after: before, changed: since)
    } else {
      visible = try scope.visibleFromAbove()
    }
    let owed = try store.owed(to: device.id)
    number = max(max(device.emitted, device.proved).next, store.identity.firstEmission)
    // A user who takes over a device gets a full bundle. It ends the emissions that brought the former user's rows.
    let areForThisUser = emissions.allSatisfy { Name($0.user) == Name(user.name) }
    let proved = full || !areForThisUser ? nil : emissions.first { $0.number == device.proved }
    if let proved {
      extent = .delta
      let changed = try store.changed(after: proved.cursor, device: device.id, marks: emissions.map(\.cursor))
      var rows: [RowSet] = []
      var gone: [RowSet] = []
      for (place, now) in visible.enumerated() {
        // The device may stand on any of these by now, so what it holds is at least what all of them held, and at most
        // what any did. A row that it changed itself, it held when it was sent the emissions before that.
        let withOwn = zip(held, changed[place].own).map { $0[place].union($1) }
        let heldByAll = withOwn.dropFirst().reduce(withOwn[0]) { $0.intersection($1) }
        let heldByAny = held.reduce(RowSet()) { $0.union($1[place]) }
        rows.append(
          now.intersection(changed[place].news).union(now.subtracting(heldByAll)).union(
            now.intersection(owed.always[place].union(owed.ifVisible[place]))))
        gone.append(heldByAny.union(changed[place].allOwn).union(owed.always[place]).subtracting(now))
      }
      self.rows = rows
      self.gone = gone
    } else {
      extent = .full
      rows = visible
      gone = store.tables.map { _ in RowSet() }
    }
    // Where an emission was forgotten, or was made before the hub was lost, the device may stand on any version.
    let knowsAll =
      emissions.contains { $0.number == device.proved } || (emissions.first?.number ?? number).rawValue == 1
    let oldest = knowsAll ? emissions.map(\.version).min() ?? store.dataset.version : 0
    migrations = try VersionTable.migrations(after: oldest, in: store.database)
    carriesDefinition = proved == nil || emissions.contains { $0.version != store.dataset.version }

    // A file that was moved away, and that no device has confirmed since, is like a stick that was lost.
    guard !full, let last, last.isWritten, try last.number <= device.proved || isKept(last.file) else {
      isNothingNew = false
      return
    }
    let isChanged = zip(visible, since).contains { !$0.intersection($1.news).isEmpty }
    let untold = try ConflictTable.countUntold(of: device.id, by: user.name, in: store.database)
    let revocations = try store.revocations()?.number ?? 0
    let mustAcknowledge = try last.acknowledged != device.merged && saidAnything(last.acknowledged)
    isNothingNew =
      try !store.mustTellCollected(device.id) && !store.mustAsk(device.id) && !isChanged && held.last == visible
      && !owed.isNews(among: visible)
      && !mustAcknowledge
      && untold == 0
      && last.version == store.dataset.version && Name(last.user) == Name(user.name)
      && last.revocations == revocations && (!mustTellKey || device.toldKey != nil)
  }

  /// - Parameter file: the path of the bundle that was written, or, where nothing was, of the last one.
  func report(file: String, isNew: Bool) -> EmitReport {
    EmitReport(
      device: device.name, user: user.name, number: isNew ? number : emissions.last?.number ?? .zero, file: file,
      extent: extent,
      rows: isNew ? rows.reduce(0) { $0 + $1.count } : 0, gone: isNew ? gone.reduce(0) { $0 + $1.count } : 0,
      isNew: isNew)
  }
}
