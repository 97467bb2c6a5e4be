import SatchelCapture
import SatchelConflicts
import SatchelDataset
import SatchelMerge
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

extension DeviceWorkspace {
  /// The conflicts about this device's changes whose state is one of `states`, oldest first.
  public func conflicts(_ states: [ConflictState]) throws -> [StoredConflict] {
    let session = try session()
    return try session.labels().label(ConflictTable.list(states, in: session.database))
  }

  /// Calls `body` for batches of the conflicts about this device's changes whose state is one of `states`.
  public func eachBatchOfConflicts(
    _ states: [ConflictState], _ order: ConflictOrder, _ body: ([StoredConflict]) throws -> Void
  ) throws {
    let session = try session()
    let labels = try session.labels()
    try ConflictTable.eachBatch(states, order, in: session.database) { try body(labels.label($0)) }
  }

  /// The layers of the database, if it is a GeoPackage.
  public func layers() throws -> [Layer] { try session().database.layers() }

  /// Writes the geometries of all conflicts into a new GeoPackage at `path`. No file may exist at `path`.
  public func exportConflicts(to path: String) throws -> ConflictPackageReport {
    try locked {
      let session = try session()
      let conflicts = try ConflictTable.list(
        ConflictState.allCases, in: session.database, where: ConflictPackage.mayHaveFeatures)
      let names = [session.state.id: configuration.name]
      return try ConflictPackage(conflicts, layers: session.database.layers(), devices: names).write(
        to: path, systemsOf: session.database, aside: folder.inbox, platform: platform)
    }
  }

  /// The conflict whose id begins with `prefix`, with its rows as they are here now.
  public func conflict(_ prefix: String) throws -> ShownConflict {
    let session = try session()
    let found = try ConflictTable.find(prefix, in: session.database)
    return try session.shown(found, below: found.record.waitingBelow(session.tables, in: session.database))
  }

  /// Decides a conflict on this device. The decision is an ordinary change of the row, and the next export carries it.
  /// If the hub decided first, the hub's decision holds.
  /// - Parameter seen: the state of the row that the user saw. If the row has changed since then, nothing is decided.
  public func resolve(
    _ prefix: String, _ decision: ConflictDecision, note: String?, seen: RowSeen = .anyway
  ) throws -> StoredConflict {
    try resolve([prefix], decision, note: note, seen: seen)[0]
  }

  /// Decides several conflicts on this device by one decision: all of them or none. The decision may let their rows
  /// trade UNIQUE values.
  /// - Parameter seen: the state of the rows that the user saw. If any row has changed since then, nothing is decided.
  public func resolve(
    _ prefixes: [String], _ decision: ConflictDecision, note: String?, seen: RowSeen = .anyway
  ) throws -> [StoredConflict] {
    try locked {
      let session = try session()
      return try session.deciding {
        let found = try prefixes.map { try ConflictTable.find($0, in: session.database) }
        try session.resolve(found, decision, note: note, seen: seen)
        if decision.word == .hub { try session.openBelowLost() }
        return try found.map { try ConflictTable.find($0.record.id.text, in: session.database) }
      }
    }
  }
}

extension DeviceWorkspace {
  /// Decides all open conflicts, or the open conflicts of one table, for the hub or for the device. Skips a conflict if
  /// its row has changed since the conflict, or if the decision does not fit the row.
  public func resolveAll(_ policy: Policy, table: Name?, note: String?) throws -> ResolvedAll {
    guard policy == .hub || policy == .device else {
      throw WorkspaceError(
        .policy,
        """
        On a device all conflicts can only be decided for the hub or for the device: it does not know when the hub's \
        rows were written.
        """
      )
    }
    return try locked {
      let session = try session()
      return try session.deciding {
        var (result, seen): (ResolvedAll, Set<ConflictID>) = (ResolvedAll(), [])
        while true {
          let units = try ConflictTable.units([.open], in: session.database) {
            $0.isAbout(table) && seen.insert($0.head.record.id).inserted
          }
          if units.isEmpty { return result }
          try result.decide(session.decidedTogether(units.oldestFirst, policy)) { trade in
            for unit in trade {
              try unit.checkStarts { name in
                session.table(name).map { (schema: $0.schema, rules: MergeRules($0.rules, schema: $0.schema)) }
              }
            }
            try session.database.savepoint {
              try session.resolve(trade.map(\.head), policy == .hub ? .hub : .device, note: note, seen: .asFound)
            }
          }
          if policy == .hub { try session.openBelowLost() }
        }
      }
    }
  }
}

extension DeviceSession {
  /// Runs `body` in a transaction that also adapts the bounds of layers to the changed rows.
  fileprivate func deciding<T>(_ body: () throws -> T) throws -> T {
    try database.widening(tables.map(\.name)) { try database.writeTransaction(workspace.runMode, body) }
  }

  fileprivate func labels() throws -> RowLabels { try RowLabels(tables, in: database) }

  fileprivate func shown(_ conflict: StoredConflict, below: [ConflictRecord] = []) throws -> ShownConflict {
    let unit = ConflictUnit(try labels().label(ConflictTable.whole(conflict, in: database).members))
    return try ShownConflict(unit, device: state.name, below: below) {
      try fields(of: $0)
    }
  }

  /// The present row that a conflict is about; nil: the row or its table is not here.
  private func fields(of conflict: StoredConflict) throws -> [Field]? {
    guard let table = table(conflict.record.table) else { return nil }
    let record = try conflict.record.present(in: table.schema, database)
    return try RowTable(table, in: database).row(record.foundKey(in: table.schema)).map { table.schema.fields($0) }
  }

  /// Decides each conflict together with all conflicts of its unit.
  fileprivate func resolve(
    _ found: [StoredConflict], _ decision: ConflictDecision, note: String?, seen: RowSeen
  ) throws {
    let members = try undecidedMembers(of: found, decision, seen)
    let decided = members.rows
    let places = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.name, $0) })
    func place(of table: Name) -> Int { places[table] ?? places.count }
    try members.decideEach(in: database, table: place) { member in
      do { try write(decision, for: member, among: decided) } catch let error
        as WorkspaceError where error.code == .noParent
      { throw try error.naming(member.record.lostParent(tables, in: database), tool: "satchel") }
    } together: { left in
      try writeTogether(decision, for: left, among: decided)
    }
    try Capture.settle(tables, in: database)
    for member in members { try close(member.record, decision, note: note) }
  }

  /// Returns the conflicts that a decision is about: each conflict with all conflicts of its unit. Throws a
  /// `WorkspaceError` if the decision does not fit one of them.
  private func undecidedMembers(
    of found: [StoredConflict], _ decision: ConflictDecision, _ seen: RowSeen
  ) throws -> [StoredConflict] {
    var (members, known): ([StoredConflict], Set<ConflictID>) = ([], [])
    for conflict in found {
      guard conflict.record.state != .resolved else { throw ConflictDecision.decidedAlready(conflict) }
      if try isWaiting(conflict.record) {
        throw WorkspaceError(
          .rowWaits, "The row is in its table here, and waits for the hub's operator.",
          hint: "You can change it or delete it in the app: the next export tells the hub.")
      }
      let own = try ConflictTable.whole(conflict, in: database).undecided(for: decision)
      let whole = try shown(conflict)
      try whole.checkStarts(for: decision)
      try whole.check(seen, for: decision.word) { part in
        try table(part.record.table).map { try part.record.present(in: $0.schema, database) }
      }
      members += own.filter { known.insert($0.record.id).inserted }
    }
    if decision.word == .device {
      try members.checkTrades(in: database, tool: "satchel") { try rivals(of: $0) }
    }
    return members
  }

  /// Groups units that a policy decides together, because their rows trade UNIQUE values.
  fileprivate func decidedTogether(_ units: [ConflictUnit], _ policy: Policy) throws -> [[ConflictUnit]] {
    if policy == .hub { return units.map { [$0] } }
    return try units.inTrades { try rivals(of: $0) }
  }

  /// The rows that share UNIQUE values with the row that a decision for the device would write.
  private func rivals(of conflict: StoredConflict) throws -> [RowInTable] {
    guard let table = table(conflict.record.table) else { return [] }
    let record = try conflict.record.present(in: table.schema, database)
    return try record.rivals(in: RowTable(table, in: database), database) { nil }
  }

  /// Opens held conflicts about rows that left their tables together with a lost row. That row lost by the policy or by
  /// a decision. No bundle brings it back, so a person decides about the rows.
  func openBelowLost() throws {
    let held = try ConflictTable.list([.held], in: database).map(\.record)
    var known: [Name: RowTable] = [:]
    let lost = try held.below(lostRowsOf: state.id, tables, in: database) { key, name in
      guard let table = table(name) else { return false }
      let rows = try known[name] ?? RowTable(table, in: database)
      known[name] = rows
      return try rows.row(key) != nil
    }
    try ConflictTable.openOwn(lost, in: database)
  }

  private func write(
    _ decision: ConflictDecision, for conflict: StoredConflict, among decided: Set<RowInTable>
  ) throws {
    guard let table = table(conflict.record.table) else { return try decision.check(forDeparted: conflict.record) }
    let rows = try RowTable(table, in: database)
    let (_, results) = try self.rows(decision, for: conflict, among: decided, in: rows, row: rows.row)
    // These are ordinary writes: the triggers record them, and the next export carries the changes.
    try rows.write(results, References(of: table, among: tables), in: database)
  }

  /// Writes the rows of several conflicts, which trade UNIQUE values. The triggers record one change of each row, as if
  /// each conflict was decided alone.
  private func writeTogether(
    _ decision: ConflictDecision, for conflicts: [StoredConflict], among decided: Set<RowInTable>
  ) throws {
    var joint = JointDecision()
    var tables: JointDecision.Tables = [:]
    for conflict in conflicts {
      guard let table = table(conflict.record.table) else {
        try decision.check(forDeparted: conflict.record)
        continue
      }
      let known =
        try tables[table.name]
        ?? (rows: RowTable(table, in: database), references: References(of: table, among: self.tables))
      tables[table.name] = known
      let (record, results) = try rows(decision, for: conflict, among: decided, in: known.rows) { key in
        try joint.row(key, of: table.name, present: known.rows.row)
      }
      for row in results { joint.add(row, of: table.name, for: record) }
    }
    try joint.writeWithTriggers(in: database, tables: tables)
  }

  /// Returns a conflict with the present columns of its table, and the rows of a decision about it.
  /// - Parameter row: looks up a row as it is now, or as other decisions of the same command change it.
  private func rows(
    _ decision: ConflictDecision, for conflict: StoredConflict, among decided: Set<RowInTable>, in rows: RowTable,
    row: (RowKey) throws -> Row?
  ) throws -> (record: ConflictRecord, rows: [DecidedRow]) {
    let record = try conflict.record.present(in: rows.schema, database)
    let values = try EnteredValueReader(rows.name, in: database, files: platform.files)
    let results = try decision.rows(
      for: record, in: rows.schema, by: rows.rules, whole: nil, values: values, among: decided, row: row
    ) { row in try database.withoutTriggers { try rows.rivals(of: row, in: database) } }
    return (record, results)
  }

  private func close(_ record: ConflictRecord, _ decision: ConflictDecision, note: String?) throws {
    let now = platform.clock.milliseconds()
    let stamp = try Capture.tick(now: now, in: database)
    let resolution = Resolution(
      conflict: record.id, decision: decision.word, user: state.user, stamp: stamp,
      generation: try Capture.generation(in: database), note: note)
    try ResolutionTable.add(resolution, in: database)
    _ = try ConflictTable.resolve(record.id, decision.word, by: state.user, at: now, note: note, in: database)
  }
}
