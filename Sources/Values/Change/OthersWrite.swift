/// The hub's statement to a device that others wrote a column of a row. It covers only writes after the oldest
/// emission on which the device may be.
public struct OthersWrite: Hashable, Sendable {
  public let column: Name
  /// The stamp of the newest of these writes; nil if it equals the row's stamp.
  public let stamp: Stamp?
  /// The newest emission without the last of these writes. nil if no emission on which the device may be contains
  /// that write.
  public let after: EmissionNumber?

  public init(column: Name, stamp: Stamp?, after: EmissionNumber?) {
    self.column = column
    self.stamp = stamp
    self.after = after
  }
}
