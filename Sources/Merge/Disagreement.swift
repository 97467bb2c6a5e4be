import SatchelValues

/// A change that met another one: what disagrees, and what the policies made of it.
public struct Disagreement: Hashable, Sendable {
  public let kind: ConflictKind
  public let state: ConflictState
  /// Whose value stands, for each column that disagrees; empty where the row as a whole does.
  public let winners: [Int: Winner]
  /// Whose image of the row stands, where the row as a whole disagrees.
  public let rowWinner: Winner

  public init(kind: ConflictKind, state: ConflictState, winners: [Int: Winner] = [:], rowWinner: Winner = .hub) {
    self.kind = kind
    self.state = state
    self.winners = winners
    self.rowWinner = rowWinner
  }
}
