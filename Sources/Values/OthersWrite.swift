/// A column of a row that somebody other than a device wrote since the oldest emission on which the device may be.
public struct OthersWrite: Hashable, Sendable {
  public let column: Name
  /// Of the newest of these writes; nil: the row's own stamp.
  public let stamp: Stamp?
  /// The newest emission that lacks the last of these writes; nil: all of those lack it on which the device may be.
  public let after: EmissionNumber?

  public init(column: Name, stamp: Stamp?, after: EmissionNumber?) {
    self.column = column
    self.stamp = stamp
    self.after = after
  }
}
