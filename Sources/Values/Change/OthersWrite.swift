/// A column of a row that another replica than a device wrote since the oldest possible emission of the device.
public struct OthersWrite: Hashable, Sendable {
  public let column: Name
  /// The stamp of the newest of these writes; nil: the row's own stamp.
  public let stamp: Stamp?
  /// The newest emission that lacks the last of these writes; nil: all possible emissions of the device lack it.
  public let after: EmissionNumber?

  public init(column: Name, stamp: Stamp?, after: EmissionNumber?) {
    self.column = column
    self.stamp = stamp
    self.after = after
  }
}
