import SatchelConflicts
import SatchelDataset
import SatchelRows
import SatchelValues

/// Finds out which changes a user could make when the device had the rows, although the user does not see them now.
///
/// The right to change a row does not depend on the new values: `BulkDecisionRights` writes no values that decide about
/// rights. So it is found once a row, however many changes of the row a bundle brings.
final class LostRights {
  /// The values that decide whether a rule lets the user write a row.
  private struct Asked: Hashable {
    let version: Int64
    let attributes: [Field]?
    /// The row's values that the rule may read.
    let values: [Value]

    init(_ moment: FormerMoment, _ values: [Value]) {
      (version, attributes, self.values) = (moment.version, moment.attributes, values)
    }
  }

  private let scope: ScopeStore
  private let device: EnrolledDevice
  private let held: EverHeldRows
  private let writes: FormerWriteRules
  private var changeable: [StepMerger.RowReference: Bool] = [:]
  /// Whether rows are new rows of the device that are kept out, as far as this call of `note` looked them up. Very many
  /// rows may name one row, and a row may have very many conflicts.
  private var keptOut: [StepMerger.RowReference: Bool] = [:]
  private var store: HubStore { scope.store }

  /// - Parameters:
  ///   - scope: the scope of the user who made the changes.
  ///   - device: the device before the bundle that is merged, with this user.
  init(_ scope: ScopeStore, _ device: EnrolledDevice) {
    (self.scope, self.device) = (scope, device)
    (held, writes) = (EverHeldRows(scope.store, device, user: device.user), FormerWriteRules(scope))
  }

  /// Records for each of these new conflicts whether its user could make the change. A device from which the hub
  /// accepts no changes never could.
  func note(_ conflicts: [ConflictID]) throws {
    if device.refusal != nil { return }
    keptOut = [:]
    for id in conflicts {
      guard let record = try ConflictTable.conflict(id, in: store.database)?.record,
        let place = store.place(of: record.table)
      else { continue }
      if try could(record, in: place) { try store.addFormerRight(id) }
    }
  }

  /// Whether the user could make the change. A new row under the key of a row that is there needs both rights: the row
  /// may be deleted before a person decides.
  private func could(_ record: ConflictRecord, in place: Int) throws -> Bool {
    let isThere = try store.rows[place].contains(record.key)
    if isThere, try !couldChange(record.key, in: place) { return false }
    return try isThere && record.operation != .insert || couldMake(record, in: place)
  }

  private func couldChange(_ key: RowKey, in place: Int) throws -> Bool {
    let row = StepMerger.RowReference(place: place, key: key)
    if let known = changeable[row] { return known }
    let moments = try held.moments(of: key, in: place)
    let rows = try store.rows(key, in: place, at: moments.map(\.cursor))
    let deciding = try scope.deciding(in: place).sorted()
    var asked: Set<Asked> = []
    let could = try zip(moments, rows).contains { moment, row in
      guard let row, asked.insert(Asked(moment, deciding.map { row[$0] })).inserted else { return false }
      return try writes.couldWrite(row, in: place, at: moment)
    }
    changeable[row] = could
    return could
  }

  /// Whether the user could make a row below rows that the user sees no more.
  private func couldMake(_ record: ConflictRecord, in place: Int) throws -> Bool {
    guard case .insert(let row)? = try? record.change(in: store.tables[place].schema),
      try !isBelowUnknown(row, in: place)
    else { return false }
    var asked: Set<Asked> = []
    return try held.moments().contains { moment in
      guard asked.insert(Asked(moment, [])).inserted else { return false }
      return try writes.couldMake(row, in: place, at: moment)
    }
  }

  /// Whether a row names a row that the device never had: a hidden row, or a missing row that the device did not make.
  private func isBelowUnknown(_ row: Row, in place: Int) throws -> Bool {
    for key in store.tables[place].schema.foreignKeys where key.columns.allSatisfy({ !row[$0].isNull }) {
      guard let parent = try store.parent(of: row, along: key) else {
        if try isOwnNewRow(row, along: key) { continue }
        return true
      }
      if try !scope.maySee(parent.key, in: parent.place) && !held.contains(parent.key, in: parent.place) { return true }
    }
    return false
  }

  /// Whether a row names a new row of the same device that waits too.
  private func isOwnNewRow(_ row: Row, along key: ForeignKey) throws -> Bool {
    guard let place = store.place(of: key.parent) else { return true }
    let schema = store.tables[place].schema
    let values = schema.key.compactMap { column in
      key.parentColumns.firstIndex(of: schema.columns[column]).map { row[key.columns[$0]] }
    }
    guard values.count == schema.key.count else { return false }
    let parent = StepMerger.RowReference(place: place, key: RowKey(values))
    if let known = keptOut[parent] { return known }
    let isKeptOut = try ConflictTable.isKeptOut(parent.key, of: key.parent, device: device.id, in: store.database)
    keptOut[parent] = isKeptOut
    return isKeptOut
  }
}
