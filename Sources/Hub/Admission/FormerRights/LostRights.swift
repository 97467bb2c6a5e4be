import SatchelConflicts
import SatchelDataset
import SatchelRows
import SatchelValues

/// Finds the new conflicts whose user had the right to make the change. The user does not see the rows now, but saw
/// them when the device had them.
///
/// The right to change a row does not depend on the new values, because `BulkDecisionRights` writes no values that
/// decide about rights. So the right is looked up once for each row of a bundle, not for each change.
final class LostRights {
  /// The values that decide whether a rule lets the user write a row.
  private struct Asked: Hashable {
    let version: Int64
    let attributes: [Field]?
    /// The values of the row that the rule may read.
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
  /// For each row, whether it is a new row of the device that is kept out. The answers hold for one call of `note`. The
  /// answers are remembered, because very many rows may name one row, and a row may have very many conflicts.
  private var keptOut: [StepMerger.RowReference: Bool] = [:]
  private var store: HubStore { scope.store }

  /// - Parameters:
  ///   - scope: the scope of the user who made the changes.
  ///   - device: the device's record from before the bundle that is merged, with this user.
  init(_ scope: ScopeStore, _ device: EnrolledDevice) {
    (self.scope, self.device) = (scope, device)
    (held, writes) = (EverHeldRows(scope.store, device, user: device.user), FormerWriteRules(scope))
  }

  /// For each of these new conflicts, records a former right if the user could make the change. Records nothing for a
  /// device from which the hub accepts no changes.
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

  /// Whether the user could make the change. If a new row has the key of an existing row, the user needs both rights:
  /// to make a row and to change this one. The existing row may be deleted before a person decides.
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

  /// Whether the user could make this row, although the user does not see the rows above it any more.
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

  /// Whether a row names a row that the device never had. That is a hidden row, or a missing row that the device did
  /// not make.
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

  /// Whether a row names a new row of the same device that is kept out too.
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
