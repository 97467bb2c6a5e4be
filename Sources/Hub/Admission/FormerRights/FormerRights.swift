import SatchelBundle
import SatchelConflicts
import SatchelDataset
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// The rights of a device's user when the device made its changes, as the hub's own records show them.
///
/// A device states its emission and the time of its writing. The hub trusts neither statement alone. An emission counts
/// only if no earlier bundle of the device proved a later emission. A time counts only if it is before the hub removed
/// the right.
final class FormerRights {
  /// A right that the user had, and the time when the hub removed it.
  struct Grant {
    /// The last emission that showed all rows on which the right depends.
    let emission: Emission
    let until: Stamp
  }

  private typealias Subject = HiddenRows.Subject

  /// The change that took a row out of the user's scope after an emission.
  private struct Loss: Hashable {
    let subject: Subject
    let cursor: Cursor
  }

  private let scope: ScopeStore
  private let device: EnrolledDevice
  private let writes: FormerWriteRules
  /// The emissions for this user in the present epoch, oldest first.
  private let emissions: [Emission]
  /// The number of emissions, from the first in `emissions`, that the device may have had when it made its changes.
  private let receivedCount: Int
  private var knownHeld: [[RowSet]]?
  /// For each row, the cursor of its last insert when the row was first looked up.
  private var made: [Subject: Cursor] = [:]
  private var lost: [Loss: Stamp] = [:]
  private var writable: [Loss: Bool] = [:]
  private var takenLate: [StepMerger.RowReference: Bool] = [:]
  private var hidden = HiddenRows()
  /// For each row that was accepted late, the rows above it that the user does not see.
  private var hiddenAbove: [StepMerger.RowReference: HiddenRows.Group] = [:]
  private var store: HubStore { scope.store }

  /// - Parameters:
  ///   - scope: the scope of the user who made the changes.
  ///   - device: the device's record from before this bundle.
  ///   - known: all emissions that the device may have.
  init(_ scope: ScopeStore, device: EnrolledDevice, _ changes: Manifest.Changes, among known: [Emission]) {
    (self.scope, self.device, writes) = (scope, device, FormerWriteRules(scope))
    let identity = scope.store.identity
    emissions = known.filter {
      $0.number >= max(device.proved, identity.firstEmission) && Name($0.user) == Name(scope.user.name)
    }
    let isKnown = changes.epoch == identity.epoch && known.contains { $0.number == changes.received }
    receivedCount = isKnown ? emissions.prefix { $0.number <= changes.received }.count : 0
  }

  /// Returns the right to change or delete a row that exists here. nil if no such right is known.
  func toChange(_ key: RowKey, _ row: Row, in place: Int) throws -> Grant? {
    guard receivedCount > 0 else { return nil }
    if try isTakenLate(key, in: place) { return try toMake(row, in: place) }
    guard let number = try store.numbers[place].number(of: key) else { return nil }
    let subject = Subject(place: place, key: key, number: number)
    let shown = try shownBy()
    guard let grant = try grant(hidden.add([subject], shownBy: shown)), try couldWrite(subject, at: grant.emission)
    else { return nil }
    return grant
  }

  private func couldWrite(_ subject: Subject, at emission: Emission) throws -> Bool {
    let asked = Loss(subject: subject, cursor: emission.cursor)
    if let known = writable[asked] { return known }
    let then = try store.row(subject.key, in: subject.place, at: emission.cursor)
    let could = try then.map { try writes.couldWrite($0, in: subject.place, at: FormerMoment(emission)) } ?? false
    writable[asked] = could
    return could
  }

  /// Returns the right to make a row whose parents the user could see at the time of the change. nil if no such right
  /// is known.
  func toMake(_ row: Row, in place: Int) throws -> Grant? {
    guard receivedCount > 0 else { return nil }
    guard let above = try hiddenRows(above: row, in: place), let grant = try grant(above),
      try writes.couldMake(row, in: place, at: FormerMoment(grant.emission))
    else { return nil }
    return grant
  }

  // MARK: rows that emissions have shown

  private func held() throws -> [[RowSet]] {
    if let knownHeld { return knownHeld }
    // The hub stores each set as the difference from the next set. So it must read all sets.
    let all = try store.emissions(of: device.id)
    let sets = try store.heldSets(of: device.id, after: all)
    let held = emissions.compactMap { emission in all.firstIndex { $0.number == emission.number }.map { sets[$0] } }
    knownHeld = held
    return held
  }

  /// Returns a function. For a row, it finds the emissions with this row, as indexes in `emissions`. A row that was
  /// deleted and made again counts as another row.
  private func shownBy() throws -> (Subject) throws -> RowSet {
    let (held, cursors) = (try held(), emissions.map(\.cursor))
    return { [self] row in
      let made = try newestInsert(of: row)
      return RowSet(
        held.indices.lazy.filter { cursors[$0] >= made && held[$0][row.place].contains(row.number) }
          .map(Int64.init))
    }
  }

  /// The cursor of a row's last insert after the oldest of `emissions`. Zero if there is none.
  private func newestInsert(of row: Subject) throws -> Cursor {
    if let known = made[row] { return known }
    let past = try store.past(of: row.key, in: row.place)
    let found = try store.newestInsert(of: past, after: emissions.first?.cursor ?? .zero)?.cursor ?? .zero
    made[row] = found
    return found
  }

  /// Returns the last emission with all of these rows, and the time until which the user could see them.
  private func grant(_ rows: HiddenRows.Group) throws -> Grant? {
    let shownBy = hidden.shownBy(rows)
    func showsAll(_ index: Int) -> Bool {
      // If `shownBy` is nil, no row above is hidden. In that case, only changed attributes of the user can have removed
      // the right. With unchanged attributes, this emission shows no former right.
      shownBy?.contains(Int64(index)) ?? (emissions[index].attributes != scope.user.attributes)
    }
    guard let index = (0..<receivedCount).last(where: showsAll) else { return nil }
    let emission = emissions[index]
    var until = try hidden.firstLoss(of: rows, after: emission.cursor) { try lostAt($0, after: emission.cursor) }
    let later = (index + 1..<emissions.count).first {
      !showsAll($0) || store.haveOtherRights(emissions[$0], emission)
    }
    if let later {
      let made = try Ledger.written(emissions[later].number.rawValue, for: device.name, in: store.database) ?? 0
      until = min(until, Stamp(milliseconds: made))
    }
    return Grant(emission: emission, until: until)
  }

  /// Returns the first time after an emission at which others changed the visibility of a row. That is a change of a
  /// deciding value in the row itself, or in a row above it.
  private func lostAt(_ row: Subject, after cursor: Cursor) throws -> Stamp {
    if let known = lost[Loss(subject: row, cursor: cursor)] { return known }
    // A tree may have any depth, so this is a loop and not a recursion.
    var path = [try visit(row, after: cursor)]
    while true {
      let last = path.count - 1
      if let parent = path[last].parents.popLast() {
        if let known = lost[Loss(subject: parent, cursor: cursor)] {
          path[last].first = min(path[last].first, known)
        } else {
          path.append(try visit(parent, after: cursor))
        }
        continue
      }
      let done = path.removeLast()
      lost[Loss(subject: done.row, cursor: cursor)] = done.first
      if path.isEmpty { return done.first }
      path[last - 1].first = min(path[last - 1].first, done.first)
    }
  }

  /// A row that `lostAt` visits on its way up.
  private struct Visit {
    let row: Subject
    /// The time of the first change of a value that decides about rights. It covers this row, and the rows above it
    /// that were visited so far.
    var first: Stamp
    /// The rows above that were not visited yet.
    var parents: [Subject]
  }

  private func visit(_ row: Subject, after cursor: Cursor) throws -> Visit {
    // A row may be above itself. For such a row, `lost` has this entry already, and that ends the way up.
    lost[Loss(subject: row, cursor: cursor)] = Stamp(Int64.max)
    let schema = store.tables[row.place].schema
    let deciding = try scope.deciding(in: row.place)
    var first = Stamp(Int64.max)
    try store.eachChange(of: store.past(of: row.key, in: row.place), after: cursor) { entry in
      let isOwn = entry.device == device.id.text
      if !isOwn, !deciding.isDisjoint(with: entry.columns(in: schema)) { first = min(first, entry.timeAtHub) }
      return .more
    }
    let above = try store.rows[row.place].row(row.key).map { try parents(of: $0, in: row.place) } ?? []
    let subjects = try above.compactMap { parent in
      try store.numbers[parent.place].number(of: parent.key).map {
        Subject(place: parent.place, key: parent.key, number: $0)
      }
    }
    return Visit(row: row, first: first, parents: subjects)
  }

  // MARK: the rows above

  private func inherited(in place: Int) -> [ForeignKey] {
    store.tables[place].parentKeys(in: store.dataset) + store.tables[place].treeKeys
  }

  private func parents(of row: Row, in place: Int) throws -> [(place: Int, key: RowKey)] {
    try inherited(in: place).compactMap { try store.parent(of: row, along: $0) }
  }

  /// A row that `hiddenRows` visits on its way up: the new row, or a row above it that was accepted late.
  private struct Climb {
    /// nil for the new row.
    let row: StepMerger.RowReference?
    /// The rows above that were not visited yet.
    var parents: [(place: Int, key: RowKey)]
    var hidden: Set<Subject> = []
    /// The groups of hidden rows above those parents of this row that were accepted late.
    var above: [HiddenRows.Group] = []
  }

  /// Returns the rows above a new row that the user does not see now. Above a row that was accepted late, the search
  /// goes on. It visits each such row once. nil if a row above does not exist, or if a row is above itself.
  private func hiddenRows(above row: Row, in place: Int) throws -> HiddenRows.Group? {
    guard let parents = try rowsAbove(row, in: place) else { return nil }
    let shownBy = try shownBy()
    var open: Set<StepMerger.RowReference> = []
    var path = [Climb(row: nil, parents: parents)]
    while true {
      let last = path.count - 1
      guard let parent = path[last].parents.popLast() else {
        let done = path.removeLast()
        let group = try hidden.add(done.hidden, below: done.above, shownBy: shownBy)
        if let row = done.row { hiddenAbove[row] = group }
        if path.isEmpty { return group }
        path[last - 1].above.append(group)
        continue
      }
      if try scope.maySee(parent.key, in: parent.place) { continue }
      guard try isTakenLate(parent.key, in: parent.place) else {
        if let number = try store.numbers[parent.place].number(of: parent.key) {
          path[last].hidden.insert(Subject(place: parent.place, key: parent.key, number: number))
        }
        continue
      }
      let reference = StepMerger.RowReference(place: parent.place, key: parent.key)
      if let known = hiddenAbove[reference] {
        path[last].above.append(known)
        continue
      }
      guard open.insert(reference).inserted, let above = try store.rows[parent.place].row(parent.key),
        let parents = try rowsAbove(above, in: parent.place)
      else { return nil }
      path.append(Climb(row: reference, parents: parents))
    }
  }

  /// The rows that a row names as its parents. nil if one of them does not exist.
  private func rowsAbove(_ row: Row, in place: Int) throws -> [(place: Int, key: RowKey)]? {
    var found: [(place: Int, key: RowKey)] = []
    for key in inherited(in: place) where !key.columns.contains(where: { row[$0].isNull }) {
      guard let parent = try store.parent(of: row, along: key) else { return nil }
      found.append(parent)
    }
    return found
  }

  /// Whether the device made this row late and the hub accepted it. Late: the rows above had already left the user's
  /// scope.
  private func isTakenLate(_ key: RowKey, in place: Int) throws -> Bool {
    let row = StepMerger.RowReference(place: place, key: key)
    if let known = takenLate[row] { return known }
    let bundles = try ConflictTable.bundlesOfLateInserts(
      key, of: store.tables[place].name, device: device.id, user: scope.user.name, in: store.database)
    // Another writer may have deleted the accepted row, and made another row with its key. That row does not count.
    let isTaken =
      try !bundles.isEmpty
      && store.newestInsert(of: store.past(of: key, in: place))?.bundle.map {
        bundles.contains(BundleID(unchecked: $0))
      } ?? false
    takenLate[row] = isTaken
    return isTaken
  }

  /// Records that a new row was accepted late.
  func noteTakenLate(_ key: RowKey, in place: Int) { takenLate[.init(place: place, key: key)] = true }

  /// Forgets the results about rows above late rows. The caller has undone deletes, so the results may be wrong now.
  func forgetRowsAbove() { hiddenAbove = [:] }
}

extension LogEntry {
  /// The time when the change took effect at the hub. A device's change took effect when its bundle was merged.
  fileprivate var timeAtHub: Stamp { device == nil ? stamp : Stamp(milliseconds: at) }
}
