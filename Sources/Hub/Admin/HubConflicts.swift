import SatchelCapture
import SatchelConflicts
import SatchelDataset
import SatchelMerge
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

extension HubWorkspace {
  /// The conflicts that are in one of these states, oldest first.
  public func conflicts(_ states: [ConflictState]) throws -> [StoredConflict] {
    let store = try store()
    return try store.marked(ConflictTable.list(states, in: store.database))
  }

  /// Calls `body` for batches of the conflicts that are in one of these states.
  public func eachBatchOfConflicts(
    _ states: [ConflictState], _ order: ConflictOrder, _ body: ([StoredConflict]) throws -> Void
  ) throws {
    let store = try store()
    try ConflictTable.eachBatch(states, order, in: store.database) { try body(store.marked($0)) }
  }

  /// The number of conflicts that await a decision.
  public func openConflicts() throws -> Int64 {
    try ConflictTable.count(.open, in: Database(path: databasePath, mode: .readWrite))
  }

  /// The layers of the database, if it is a GeoPackage.
  public func layers() throws -> [Layer] { try store().database.layers() }

  /// Writes the geometries of all conflicts into a GeoPackage at `path`. `path` must not exist yet.
  public func exportConflicts(to path: String) throws -> ConflictPackageReport {
    try locked {
      let store = try store()
      let conflicts = try ConflictTable.list(
        ConflictState.allCases, in: store.database, where: ConflictPackage.mayHaveFeatures)
      let names = Dictionary(try store.devices().map { ($0.id, $0.name) }) { first, _ in first }
      return try ConflictPackage(conflicts, layers: store.database.layers(), devices: names).write(
        to: path, systemsOf: store.database, aside: folder.inbox, platform: platform)
    }
  }

  /// The conflict whose id begins with `prefix`, with its present rows and the name of its device.
  public func conflict(_ prefix: String) throws -> ShownConflict {
    let store = try store()
    let found = try ConflictTable.find(prefix, in: store.database)
    return try shown(found, below: found.record.waitingBelow(store.tables, in: store.database), store)
  }

  private func shown(
    _ found: StoredConflict, below: [ConflictRecord] = [], _ store: HubStore
  ) throws -> ShownConflict {
    let device = try store.device(found.record.device)?.name ?? found.record.device.text
    let unit = ConflictUnit(try store.marked(ConflictTable.whole(found, in: store.database).members))
    return try ShownConflict(unit, device: device, below: below) { conflict in
      guard let place = store.place(of: conflict.record.table) else { return nil }
      let schema = store.tables[place].schema
      let record = try conflict.record.present(in: schema, store.database)
      return try store.rows[place].row(record.foundKey(in: schema)).map { schema.fields($0) }
    }
  }

  /// Decides a conflict at the hub. The decision is an ordinary change of the row by the hub's operator.
  /// - Parameter seen: the row as the person saw it. If the row was changed since then, nothing is decided.
  public func resolve(
    _ prefix: String, _ decision: ConflictDecision, note: String?, seen: RowSeen = .anyway
  ) throws -> StoredConflict {
    try resolve([prefix], decision, note: note, seen: seen)[0]
  }

  /// Decides several conflicts at the hub by one decision: all of them or none. Their rows may trade UNIQUE values.
  /// - Parameter seen: the rows as the person saw them. If any row was changed since then, nothing is decided.
  public func resolve(
    _ prefixes: [String], _ decision: ConflictDecision, note: String?, seen: RowSeen = .anyway
  ) throws -> [StoredConflict] {
    try applying { store in
      let found = try prefixes.map { try ConflictTable.find($0, in: store.database) }
      try resolve(
        found, decision, note: note, seen: seen, at: platform.clock.milliseconds(), store,
        after: EarlierUnits(store))
      if decision.word == .hub { try LostParents(store).openBelow() }
      return try found.map { try ConflictTable.find($0.record.id.text, in: store.database) }
    }
  }

  /// Decides conflicts, each with all members of its unit. After that, the caller must open the changes that wait for
  /// rows which lost.
  /// - Parameters:
  ///   - moment: the time of the decision, in milliseconds since 1970. No other decision about the row may have the
  ///     same time, because `reopen` finds the written rows by this time.
  ///   - earlier: the earlier units of the devices, with the decisions that the same command has made about them.
  ///   - rights: limits the rows that the decision may write. nil: no limit.
  func resolve(
    _ found: [StoredConflict], _ decision: ConflictDecision, note: String?, seen: RowSeen, at moment: Int64,
    _ store: HubStore, after earlier: EarlierUnits, rights: BulkDecisionRights? = nil
  ) throws {
    let below =
      decision.word == .device
      ? try found.flatMap { try $0.record.waitingBelow(store.tables, in: store.database) } : []
    let members = try undecidedMembers(of: found, decision, seen, store, after: earlier)
    func place(of table: Name) -> Int { store.place(of: table) ?? store.tables.count }
    let decided = members.rows
    var later: [ConflictRecord] = []
    try members.decideEach(in: store.database, table: place) { member in
      let (whole, behind) = try withLaterChanges(member, store)
      later += behind
      do {
        try write(decision, for: whole, among: decided, at: moment, store) {
          try rights?.check($0, for: member.record)
        }
      } catch let error
        as WorkspaceError where error.code == .noParent
      { throw try error.naming(whole.record.lostParent(store.tables, in: store.database), tool: "satchel-hub") }
    } together: { left in
      let wholes = try left.map { member -> StoredConflict in
        let (whole, behind) = try withLaterChanges(member, store)
        later += behind
        return whole
      }
      try writeTogether(decision, for: wholes, among: decided, at: moment, store) { try rights?.check($0, for: $1) }
    }
    if decision.word != .hub { for record in later { try settle(record, store) } }
    for member in members { try close(member.record, decision, note: note, at: moment, store) }
    if decision.word == .device { try LostParents(store).waitAgain(below, within: heldLimit) }
    // If the decision is not for the device, the row does not get this change. Later changes of the row were based on
    // it. So a person must decide them too.
    if decision.word != .device { try ConflictTable.openHeld(behind: members.map(\.record), in: store.database) }
    if decision.word != .hub { earlier.noteTaken(members.map(\.record)) }
  }

  /// Returns the conflicts to decide: the found conflicts, each with all members of its unit. Throws a `WorkspaceError`
  /// if this decision is not possible for them.
  private func undecidedMembers(
    of found: [StoredConflict], _ decision: ConflictDecision, _ seen: RowSeen, _ store: HubStore,
    after earlier: EarlierUnits
  ) throws -> [StoredConflict] {
    var (members, known): ([StoredConflict], Set<ConflictID>) = ([], [])
    for conflict in found {
      guard conflict.record.state != .resolved else { throw ConflictDecision.decidedAlready(conflict) }
      let own = try ConflictTable.whole(conflict, in: store.database).undecided(for: decision)
      let whole = try shown(conflict, store)
      try whole.checkStarts(for: decision)
      try whole.check(seen, for: decision.word) { part in
        try store.place(of: part.record.table).map {
          try part.record.present(in: store.tables[$0].schema, store.database)
        }
      }
      if decision.word == .device { try earlier.check(own.map(\.record)) }
      members += own.filter { known.insert($0.record.id).inserted }
    }
    if decision.word == .device {
      try members.checkTrades(in: store.database, tool: "satchel-hub") { try rivals(of: $0, store) }
    }
    return members
  }

  /// Records a decision about one conflict.
  func close(
    _ record: ConflictRecord, _ decision: ConflictDecision, note: String?, at moment: Int64, _ store: HubStore
  ) throws {
    _ = try ConflictTable.resolve(
      record.id, decision.word, by: Self.hubUser, at: moment, note: pending?.signing(note) ?? note, in: store.database)
    try ConflictTable.retell(record.id, in: store.database)
    try owe(record, store)
  }

  /// Returns the conflict about a new row, with the device's later changes of this row added. This is only done if
  /// another row or a missing parent keeps the new row out. Any other conflict is returned as it is.
  private func withLaterChanges(
    _ found: StoredConflict, _ store: HubStore
  ) throws -> (StoredConflict, behind: [ConflictRecord]) {
    let record = found.record
    guard record.operation == .insert, record.unit == nil, let place = store.place(of: record.table) else {
      return (found, [])
    }
    let behind: [ConflictRecord]
    if record.kind == .unique, record.state == .open {
      behind = try ConflictTable.held(record.key, of: record.table, device: record.device, in: store.database)
    } else if try !store.rows[place].contains(record.key), try store.isWithoutParent(record) {
      behind = try ConflictTable.undecided(behind: record, in: store.database)
    } else {
      return (found, [])
    }
    guard let whole = record.followed(by: behind, in: store.tables[place].schema) else { return (found, []) }
    return (found.with(whole), behind)
  }

  private func settle(_ record: ConflictRecord, _ store: HubStore) throws {
    var settled = record
    (settled.state, settled.rowWinner) = (.settled, .device)
    try ConflictTable.correct(
      settled, at: platform.clock.milliseconds(), hidden: .nothing, in: store.database)
  }

  /// Adds the true state of a new row to the next bundle for the device that made the row. The device may still have
  /// the row. If the device's user cannot see the row then, or the hub lacks it, the bundle removes the row.
  private func owe(_ record: ConflictRecord, _ store: HubStore) throws {
    guard record.operation == .insert, let place = store.place(of: record.table),
      try store.device(record.device) != nil
    else { return }
    try store.owe(record.key, in: place, to: record.device)
  }

  /// Decides many conflicts by a policy: all open conflicts, and all changes whose user no longer sees the parent row.
  /// With `table`, only conflicts of that table. A conflict stays undecided if its row was changed since, or if the
  /// decision does not fit.
  public func resolveAll(_ policy: Policy, table: Name?, note: String?) throws -> ResolvedAll {
    try applying { store in
      if let table, store.place(of: table) == nil { throw Self.noTable(table.text, store) }
      var (result, seen): (ResolvedAll, Set<ConflictID>) = (ResolvedAll(), [])
      while true {
        let units = try ConflictTable.units([.open, .held], in: store.database) { unit in
          unit.isAbout(table) && unit.members.contains(where: \.record.isForAll)
            && seen.insert(unit.head.record.id).inserted
        }
        if units.isEmpty { return result }
        // A decision may open the conflicts of rows that waited for its row.
        let next = try resolveEach(units, policy, note: note, store)
        result.resolved += next.resolved
        result.left += next.left
      }
    }
  }

  /// Decides units by a policy, for each device in the order in which the device made them. Units that a person must
  /// decide one by one stay undecided.
  func resolveEach(_ units: [ConflictUnit], _ policy: Policy, note: String?, _ store: HubStore) throws -> ResolvedAll {
    var result = ResolvedAll()
    var moment = platform.clock.milliseconds()
    let (earlier, rights) = (EarlierUnits(store), try BulkDecisionRights(store))
    let doubtful = try store.doubtfulTimes()
    // For each row, the device for which this call decided last. This device's later changes of the row may follow.
    var decided: [RowInTable: ReplicaID] = [:]
    try result.decide(decidedTogether(units.oldestFirst, policy, store)) { trade in
      moment = max(moment + 1, platform.clock.milliseconds())
      for unit in trade {
        if !unit.members.contains(where: \.record.isForAll) { throw unit.notForAll }
        try unit.checkStarts { name in
          store.place(of: name).map { (schema: store.rows[$0].schema, rules: store.rows[$0].rules) }
        }
      }
      if policy == .newest { for unit in trade { try check(timesOf: unit, doubtful, store) } }
      let decision = try decision(policy, trade[0], store)
      let device = trade[0].head.record.device
      let rows = trade.flatMap(\.members).rows
      let seen = decision.word == .device ? RowSeen.asFoundOrDecided(rows.filter { decided[$0] == device }) : .asFound
      try store.database.savepoint {
        try resolve(
          trade.map(\.head), decision, note: note, seen: seen, at: moment, store, after: earlier, rights: rights)
      }
      if decision.word == .device { for row in rows { decided[row] = device } }
    }
    if policy != .device { try LostParents(store).openBelow() }
    return result
  }

  /// Groups units for one decision each. Units whose rows traded UNIQUE values are one group, if the policy decides all
  /// of them for the device. If not, each unit is its own group, and the units that are decided for the device come
  /// first. They stay undecided, because the rows that they need are not decided yet.
  private func decidedTogether(
    _ units: [ConflictUnit], _ policy: Policy, _ store: HubStore
  ) throws -> [[ConflictUnit]] {
    guard policy == .device || policy == .newest else { return units.map { [$0] } }
    let trades = try units.inTrades { try rivals(of: $0, store) }
    return try trades.flatMap { trade -> [[ConflictUnit]] in
      if trade.count == 1 { return [trade] }
      let isForDevice = try trade.map { try decision(policy, $0, store).word == .device }
      if !isForDevice.contains(false) { return [trade] }
      let sorted = trade.indices.filter { isForDevice[$0] } + trade.indices.filter { !isForDevice[$0] }
      return sorted.map { [trade[$0]] }
    }
  }

  /// Throws a `WorkspaceError` if the stamps of a unit do not show which change is the later one.
  private func check(timesOf unit: ConflictUnit, _ doubtful: DoubtfulTimes, _ store: HubStore) throws {
    for record in unit.members.map(\.record) {
      guard let place = store.place(of: record.table),
        try doubtful.contain(laterOf: record.stamp, store.past(of: record.key, in: place)?.stamp ?? .zero)
      else { continue }
      throw WorkspaceError(.policy, DoubtfulOrder.words, hint: "Look at it, and decide it by itself.")
    }
  }

  private func decision(_ policy: Policy, _ unit: ConflictUnit, _ store: HubStore) throws -> ConflictDecision {
    switch policy {
    case .hub: return .hub
    case .device: return .device
    case .newest:
      // In a unit, each change must be later than the hub's newest change of the row.
      let isLater = try unit.members.map(\.record).allSatisfy { record in
        guard let place = store.place(of: record.table) else { return false }
        return record.stamp > (try store.past(of: record.key, in: place)?.stamp ?? .zero)
      }
      return isLater ? .device : .hub
    case .manual: throw WorkspaceError(.policy, "The policy \"manual\" decides nothing.")
    }
  }
}

extension ConflictRecord {
  /// Whether `resolve --all` decides the conflict. That includes changes whose user no longer sees the parent row. It
  /// excludes forbidden changes, which a person decides one by one.
  fileprivate var isForAll: Bool { state == .open && kind != .forbidden || kind == .revoked }
}

extension ConflictUnit {
  /// Why `resolve --all` does not decide the unit.
  fileprivate var notForAll: WorkspaceError {
    let why =
      members.contains { $0.record.state == .held }
      ? "The change waits for another row or bundle." : "The user may not make this change."
    return WorkspaceError(.notAllowed, why, hint: "Look at it, and decide it by itself.")
  }
}

extension HubStore {
  /// Whether a conflict is about a new row that is kept out because its parent is missing or hidden.
  fileprivate func isWithoutParent(_ record: ConflictRecord) throws -> Bool {
    try ConflictTable.insertWithoutParent(record.key, of: record.table, device: record.device, in: database)?.id
      == record.id
  }
}

extension HubStore {
  /// Returns the conflicts, and marks each conflict that only a device reports.
  func marked(_ conflicts: [StoredConflict]) throws -> [StoredConflict] {
    if conflicts.isEmpty { return [] }
    let labels = try RowLabels(tables, in: database) { record in
      try self.place(of: record.table).flatMap { try self.lastImage(of: record.key, in: $0) }
    }
    return try labels.label(conflicts).map { conflict in
      var marked = conflict
      marked.isReported = try isReport(conflict.record.id)
      return marked
    }
  }
}
