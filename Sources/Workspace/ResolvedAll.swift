import SatchelValues

/// What deciding many conflicts at once did.
public struct ResolvedAll: Sendable {
  public var resolved: [ConflictRecord] = []
  /// Those that were left, with the reason.
  public var left: [(record: ConflictRecord, why: WorkspaceError)] = []

  public init() {}
}
