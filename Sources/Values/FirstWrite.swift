/// The first write that a change of a row is made of, by which two copies of one database know that they have the
/// change in common.
public struct FirstWrite: Hashable, Sendable {
  /// When it was, by the clock as it stood then: no two writes of a row in one database have the same, but where that
  /// clock was set back.
  public let stamp: Stamp
  /// Whether nothing was written into the row after it.
  public let isOnly: Bool

  public init(stamp: Stamp, isOnly: Bool) {
    self.stamp = stamp
    self.isOnly = isOnly
  }

  /// As it lies in a table of pre-images: below zero where more was written.
  public init(stored: Int64) { self.init(stamp: Stamp(abs(max(stored, -Int64.max))), isOnly: stored > 0) }

  public var stored: Int64 { isOnly ? stamp.rawValue : -stamp.rawValue }
}
