import SatchelValues

/// A disagreement between a device's change and the changes of others: which columns disagree, and how the policies
/// decide.
public struct Disagreement: Hashable, Sendable {
  public let kind: ConflictKind
  public let state: ConflictState
  /// The winner for each column that disagrees; empty if the rows disagree as a whole.
  public let winners: [Int: Winner]
  /// The winner, if the rows disagree as a whole.
  public let rowWinner: Winner
  /// Whether a person decides because the stamps do not show which change is the later one.
  public let isInDoubt: Bool

  public init(
    kind: ConflictKind, state: ConflictState, winners: [Int: Winner] = [:], rowWinner: Winner = .hub,
    isInDoubt: Bool = false
  ) {
    self.kind = kind
    self.state = state
    self.winners = winners
    self.rowWinner = rowWinner
    self.isInDoubt = isInDoubt
  }
}
