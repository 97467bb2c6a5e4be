import SatchelValues

/// The disagreement of a change with another change: the columns that disagree, and the result of the policies.
public struct Disagreement: Hashable, Sendable {
  public let kind: ConflictKind
  public let state: ConflictState
  /// The winner of each column that disagrees; empty if the row as a whole disagrees.
  public let winners: [Int: Winner]
  /// The winner, if the row as a whole disagrees.
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
