import SatchelMerge
import SatchelValues

/// What others did to a row since a device had it, where nobody knows any more on which emission the device stood: it was away for longer than
/// the hub remembers.
extension HubStore {
  /// Tells it by the values from which the device's change started: what is different at the hub, somebody else has changed. What was deleted
  /// does not come back by an insert: the key's number tells that there was a row.
  /// - Parameter device: whose own change is none of others', where the log still has it.
  func changesByOthers(
    against change: Change, onto hub: Row?, with past: RowNumbers.Entry?, by device: ReplicaID
  ) throws -> OthersChanges {
    var others = OthersChanges(newest: past?.stamp ?? .zero)
    switch change {
    // A number without a stamp is one of a row that never was: its key was given away just now, or is owed.
    case .insert: others.presence = try hub == nil && others.newest != .zero && !isOwn(past, device)
    case .update(let changes):
      guard let hub else { break }
      for change in changes where hub[change.column] != change.was { others.columns[change.column] = others.newest }
    case .delete(let was):
      guard let hub else { break }
      for (column, value) in was.values.enumerated() where hub[column] != value { others.columns[column] = others.newest }
    }
    return others
  }

  private func isOwn(_ past: RowNumbers.Entry?, _ device: ReplicaID) throws -> Bool {
    var isOwn = false
    try eachChange(of: past) { entry in
      isOwn = entry.device == device.text
      return .enough
    }
    return isOwn
  }
}
