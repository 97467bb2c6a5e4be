/// A statement for a device: others wrote a column of a row. Writes count only if they were made after the oldest
/// emission that the device may have.
public struct OthersWrite: Hashable, Sendable {
  public let column: Name
  /// The stamp of the newest of these writes; nil: it is the row's own stamp.
  public let stamp: Stamp?
  /// The newest emission that does not contain the last of these writes. nil: no emission that the device may have
  /// contains it.
  public let after: EmissionNumber?

  public init(column: Name, stamp: Stamp?, after: EmissionNumber?) {
    self.column = column
    self.stamp = stamp
    self.after = after
  }
}
