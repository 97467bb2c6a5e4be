import SatchelDataset
import SatchelValues

extension Disagreement {
  /// The disagreement of a delete in a unit, if another writer had already deleted or marked the row.
  ///
  /// The policy alone decides its state, so that it is the same for a hidden row.
  public static func repeatedDelete(by policy: Policy) -> Disagreement {
    Disagreement(kind: .updateDelete, state: policy.stateOfUncompared)
  }

  /// The disagreement of a change that is not taken because its unit is not taken.
  ///
  /// In each column that the change wrote, the hub's value stays, even if the column alone could have been merged.
  /// - Parameter state: the state of the unit.
  public func inUnit(_ change: Change, state: ConflictState) -> Disagreement {
    var winners = winners.mapValues { _ in Winner.hub }
    if case .update(let changes) = change, kind == .updateUpdate || kind == .unit {
      for column in changes.map(\.column) { winners[column] = .hub }
    }
    return Disagreement(kind: kind, state: state, winners: winners)
  }

  /// Whether the hub took the device's change as it was sent.
  public var isWonByDevice: Bool {
    winners.isEmpty ? rowWinner == .device : !winners.values.contains(.hub)
  }
}
