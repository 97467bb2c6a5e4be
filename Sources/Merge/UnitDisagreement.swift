import SatchelDataset
import SatchelValues

extension Disagreement {
  /// The disagreement of a delete in a unit, if another writer had deleted the row or marked it as deleted.
  ///
  /// Its state follows from the policy alone, as for a hidden row.
  public static func repeatedDelete(by policy: Policy) -> Disagreement {
    Disagreement(kind: .updateDelete, state: policy.stateOfUncompared)
  }

  /// The disagreement of a change that is not applied, because it belongs to a unit.
  ///
  /// Columns that would have been merged are not applied either: the hub's value stays in each column.
  /// - Parameter state: the state of the unit.
  public func inUnit(_ change: Change, state: ConflictState) -> Disagreement {
    var winners = winners.mapValues { _ in Winner.hub }
    if case .update(let changes) = change, kind == .updateUpdate || kind == .unit {
      for column in changes.map(\.column) { winners[column] = .hub }
    }
    return Disagreement(kind: kind, state: state, winners: winners)
  }

  /// Whether the device's change was applied as it was sent.
  public var isWonByDevice: Bool {
    winners.isEmpty ? rowWinner == .device : !winners.values.contains(.hub)
  }
}
