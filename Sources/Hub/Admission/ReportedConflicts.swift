import SatchelBundle
import SatchelConflicts
import SatchelDataset
import SatchelMerge
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// Records the conflicts that a device reports. They count as statements of the device's user about the user's own
/// changes.
///
/// The author of the bundle counts as the user of each report, even if the line names another user. The hub makes the
/// ids. No report gets the state `held`, because a held change may be taken without a decision.
struct ReportedConflicts {
  let store: HubStore
  /// The device, with the author of the bundle as its user.
  let device: EnrolledDevice
  let manifest: Manifest
  let changes: Manifest.Changes
  let keys: PrimaryKeyRemapping
  let translation: SchemaTranslation
  let judge: ReportJudge
  /// The latest stamp that a change may get.
  let latest: Stamp
  /// The stamps that do not show the order of changes.
  let doubtful: DoubtfulTimes
  let now: Int64

  /// The results of reading the reports.
  struct Taken {
    /// The number of new conflicts.
    var count = 0
    /// The new conflicts in tables that accept late work.
    var maybeLate: [ConflictID] = []
    /// The new conflicts about rows that their user may no longer see.
    var lost: [ConflictID] = []
    var keptOut: KeptOutRows
    /// The changes that the device preferred by doubtful stamps.
    var preferred = PreferredChanges()
    /// All changes in the reports, whether the hub knew their conflicts or not.
    var reported: Set<UnknownResults.ReportedChange> = []
  }

  func take(_ bundle: borrowing VerifiedBundle) throws -> Taken {
    let family = try family()
    var tables: Set<Name>?
    var taken = Taken(keptOut: KeptOutRows(store, of: device))
    try bundle.eachConflict { line in
      try check(line)
      try check(tableOf: line, among: &tables)
      var record = keys.translated(translation.present(line))
      taken.reported.insert(.init(record))
      guard let id = try newID(of: line, among: family) else {
        if try openAgain(line) { taken.count += 1 }
        return
      }
      (record.id, record.user) = (id, device.user)
      record.stamp = min(line.stamp, latest)
      // The decision and its user come later, as a resolution in the same bundle.
      (record.decision, record.state) = (nil, line.state == .settled ? .settled : .open)
      // Only the hub may record that a user lost a right, because `resolve --all` decides such a conflict. A device may
      // report `revoked` only for a table that left the dataset.
      if record.kind == .revoked, store.place(of: record.table) != nil { record.kind = .forbidden }
      let hidden = try judge.judge(&record)
      let isReopened = try hidden == .nothing && reopen(&record, &taken.preferred)
      try ConflictTable.add(
        record, bundle: manifest.bundle, noted: now, told: isReopened ? nil : 0, hidden: hidden, in: store.database)
      try store.addReport(id, called: line.id)
      taken.keptOut.note(record)
      taken.count += 1
      if record.kind == .revoked { taken.lost.append(id) }
      let place = store.place(of: record.table)
      if let place, store.tables[place].rules.late == .accept { taken.maybeLate.append(id) }
    }
    return taken
  }

  /// Opens a conflict that the device settled by stamps that do not show the order of changes. If the device preferred
  /// its own change, that change comes in this bundle, and the hub's merge opens the conflict.
  /// - Returns: whether the conflict was opened.
  private func reopen(_ record: inout ConflictRecord, _ preferred: inout PreferredChanges) throws -> Bool {
    guard !doubtful.isEmpty, record.state == .settled, record.unit == nil, let place = store.place(of: record.table)
    else { return false }
    let (rules, schema) = (store.rows[place].rules, store.rows[place].schema)
    var compared: [ColumnWinner] = []
    switch record.kind {
    case .updateUpdate, .insertInsert:
      compared = record.winners.filter { winner in
        schema.position(of: winner.name).map { rules.comparesStamps(of: $0) } ?? false
      }
      if compared.isEmpty { return false }
    case .updateDelete, .deleteUpdate, .unique: if !rules.comparesStamps(of: nil) { return false }
    default: return false
    }
    let isLost = compared.isEmpty ? record.rowWinner == .hub : compared.contains { $0.winner == .hub }
    if !isLost {
      if doubtful.contains(record.stamp) { preferred.add(record, compared, in: schema) }
      return false
    }
    let past = try store.past(of: record.key, in: place)?.stamp ?? .zero
    // The row may have been written again since, in another column. A deleted row cannot.
    let isInDoubt =
      record.kind == .updateDelete
      ? doubtful.contain(laterOf: record.stamp, past) : doubtful.contains(record.stamp) || doubtful.contains(past)
    if !isInDoubt { return false }
    (record.state, record.note) = (.open, DoubtfulOrder.words)
    return true
  }

  private static let laterCounts =
    "The hub was set back, and the device's later change is in the row now. To take the hub's value, use --set."

  /// Opens a conflict of the lost time again. The hub was set back, and has settled this conflict by stamps since then.
  /// But by the table's rules a person decides. Each conflict is opened only once, and never after a person's decision.
  ///
  /// If the hub's conflict stays settled, the device receives it again, because the device has it open.
  /// - Returns: whether the conflict was opened.
  private func openAgain(_ line: ConflictRecord) throws -> Bool {
    guard line.state == .open, let known = try store.conflict(called: line.id, by: device.histories),
      known.decision == nil, known.record.state == .settled, known.record.kind == .updateUpdate,
      known.record.unit == nil
    else { return false }
    let id = known.record.id
    // Stamps alone decided the conflict if the change is of an earlier epoch.
    guard let place = store.place(of: known.record.table), known.record.asksPerson(by: store.tables[place].rules),
      try ConflictTable.since(id, in: store.database) == nil, try knowsReport(of: id),
      try store.addReport(id, called: line.id, isFound: true)
    else {
      try ConflictTable.retell(id, in: store.database)
      return false
    }
    let isDevices = known.record.winners.contains { $0.winner == .device }
    try ConflictTable.openSettled(id, note: isDevices ? Self.laterCounts : nil, in: store.database)
    return true
  }

  /// Whether the device made this bundle after it received the hub's own report of the conflict.
  ///
  /// If not, the device may have found the conflict itself. For such a conflict the hub's result counts, because the
  /// device may have seen one change before it made the other.
  private func knowsReport(of id: ConflictID) throws -> Bool {
    guard changes.epoch == store.identity.epoch,
      let sent = try Ledger.written(changes.received.rawValue, for: manifest.from.name, in: store.database),
      let noted = try ConflictTable.noted(id, in: store.database)
    else { return false }
    return sent >= noted
  }

  private func check(_ line: ConflictRecord) throws {
    guard line.device == device.id else { throw LineProblem("it is about another device's change") }
    guard line.generation.rawValue < changes.sequence.rawValue else {
      throw LineProblem("its generation is not below the number of the export")
    }
  }

  /// - Parameter former: all tables that were ever in the dataset. nil at first; this method sets it when it needs it.
  private func check(tableOf line: ConflictRecord, among former: inout Set<Name>?) throws {
    if let place = store.place(of: line.table) {
      guard line.key.values.count == store.tables[place].schema.key.count else {
        throw LineProblem("its key is none of the table \(line.table)")
      }
      return
    }
    let tables = try former ?? formerTables()
    former = tables
    guard tables.contains(line.table) else {
      throw LineProblem("the dataset has no table \(line.table.shortened)")
    }
  }

  private func formerTables() throws -> Set<Name> {
    Set(
      try VersionTable.definitions(in: store.database).flatMap { past in
        try DatasetDefinition(json: past.source).tables.map(\.name)
      })
  }

  /// Returns the ids of this device and of its related histories. The conflicts of all of them count as the device's.
  private func family() throws -> [ReplicaID] {
    let parted = try device.histories.flatMap { try store.branches(of: $0).map(\.id) }
    return try device.histories + parted + store.heirs(of: device.id).map(\.id)
  }

  /// Returns the id for a report. nil if the hub knows the conflict already.
  ///
  /// The id in the line stays if it is the digest that the format requires. Any other id gets replaced, because a
  /// stranger could choose an id that another conflict has. The device still knows the conflict by its own id. The
  /// digest may differ because the row's key or a column's name has changed since.
  private func newID(of line: ConflictRecord, among family: [ReplicaID]) throws -> ConflictID? {
    if try store.conflict(called: line.id, by: family) != nil { return nil }
    let isRight = device.histories.contains { line.isNamed(asChangeOf: $0) }
    let own = keys.translated(line).name(asChangeOf: device.id)
    for id in isRight ? [line.id, own] : [own] {
      guard let known = try ConflictTable.conflict(id, in: store.database) else { return id }
      if family.contains(known.record.device) { return nil }
    }
    // An earlier build accepted any id from any device. So a conflict of another device may have this id, and the
    // report gets a different one.
    return own.meeting(line.hubValues ?? [])
  }
}
