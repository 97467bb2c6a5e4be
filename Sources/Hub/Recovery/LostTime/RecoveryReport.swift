import SatchelWorkspace

/// The result of merging the lost time.
public struct RecoveryReport: Sendable {
  /// The number of emissions whose rows were merged.
  public var emissions = 0
  /// The number of rows that came back, wholly or in part.
  public var rows = 0
  /// The number of settled conflicts that keep a value beside a newer value.
  public var kept = 0
  /// The number of values of rows that cannot be written beside the present rows. A person decides about them.
  public var obstructed = 0
  /// The number of rows with a counter or a set that had another value in the lost time. The hub's own changes of that
  /// time are missing in it.
  public var counts = 0
  /// The number of rows with a counter or a set that came back as a whole. The devices' changes of that time are in
  /// them. A change that comes later may be one of these.
  public var whole = 0
  /// The number of attached files that came back.
  public var files = 0
  /// Those of them that are kept beside a present file.
  public var beside: [ArrivingAttachments.Arrival] = []
  /// The number of rows that a device lost in the lost time. A person checks them.
  public var gone = 0
  /// The number of changes that waited for rows which no device delivered again.
  public var abandoned = 0
  /// The number of collected bundles whose files are missing or damaged. Their changes are not merged.
  public var unreadable = 0

  public init() {}
}
