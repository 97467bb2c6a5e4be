import SatchelValues

/// The result of deciding many conflicts at once.
public struct ResolvedAll: Sendable {
  public var resolved: [ConflictRecord] = []
  /// The conflicts that were skipped, with the reason.
  public var left: [(record: ConflictRecord, why: WorkspaceError)] = []

  public init() {}
}
