import SatchelWorkspace

/// The result of merging the lost time.
public struct RecoveryReport: Sendable {
  /// The number of emissions whose rows were merged.
  public var emissions = 0
  /// The number of rows that came back, wholly or in part.
  public var rows = 0
  /// The number of settled conflicts that keep a lost value, because a newer value won.
  public var kept = 0
  /// The number of rows that cannot be written because of other rows. A person decides about them.
  public var obstructed = 0
  /// The number of rows in which a counter or a set had another value in the lost time. The row lacks the hub's own
  /// changes of that time.
  public var counts = 0
  /// The number of rows with a counter or a set that came back as a whole. They contain the devices' changes of the
  /// lost time. A device may deliver such a change once more.
  public var whole = 0
  /// The number of attached files that came back.
  public var files = 0
  /// The files among them that are kept beside a present file.
  public var beside: [ArrivingAttachments.Arrival] = []
  /// The number of rows that left a device in the lost time. A person checks them.
  public var gone = 0
  /// The number of changes that became conflicts, because no device delivered their rows again.
  public var abandoned = 0
  /// The number of collected bundles whose files are missing or damaged. Their changes are not merged.
  public var unreadable = 0

  public init() {}
}
