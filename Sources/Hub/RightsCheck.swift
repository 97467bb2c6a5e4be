import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Completes the conflicts that a device found when rows went from it.
///
/// The device cannot know whether such a row was deleted or left its user's sight. The hub knows, and shows its own row
/// to the person who decides.
struct RightsCheck {
  private let scope: ScopeStore
  private var store: HubStore { scope.store }

  /// - Parameter scope: of the user who made the changes.
  init(_ scope: ScopeStore) { self.scope = scope }

  /// Makes a conflict one about a lost right, if the hub has the row that the device lost.
  /// - Returns: what the user may not see.
  func complete(_ record: inout ConflictRecord) throws -> HiddenPart {
    guard let place = store.place(of: record.table), record.state != .settled || record.kind == .updateDelete else {
      return .nothing
    }
    switch record.kind {
    case .updateDelete:
      guard let found = try scope.find(record.key, in: place), !found.maySee else { return .nothing }
      record.kind = .revoked
      record.hubValues = store.tables[place].schema.fields(found.row)
      return .row
    case .foreignKey:
      guard let parent = try hiddenParent(of: record, in: place) else { return .nothing }
      record.kind = .revoked
      record.note = MissingParent.words(hiddenIn: parent)
      return .parent
    default: return .nothing
    }
  }

  /// The table of a row to which a change refers, and which the user may not see; nil: there is none.
  private func hiddenParent(of record: ConflictRecord, in place: Int) throws -> Name? {
    let schema = store.tables[place].schema
    guard record.operation != .delete, let written = record.deviceValues else { return nil }
    for key in schema.foreignKeys {
      let values = key.columns.compactMap { column in written.first { $0.name == schema.columns[column] }?.value }
      guard values.count == key.columns.count, let parent = try store.parent(values, along: key) else { continue }
      if try !scope.maySee(parent.key, in: parent.place) { return key.parent }
    }
    return nil
  }
}
