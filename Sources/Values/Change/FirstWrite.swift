/// The first write of a row's change. If two copies of one database have the same first write, they share the change.
public struct FirstWrite: Hashable, Sendable {
  /// The time of the write, by the device's clock at that time. No two writes of a row in one database have the same
  /// stamp, unless the clock was set back.
  public let stamp: Stamp
  /// Whether the row was not written again after this write.
  public let isOnly: Bool

  public init(stamp: Stamp, isOnly: Bool) {
    self.stamp = stamp
    self.isOnly = isOnly
  }

  /// Reads the number that a table of pre-images stores. It is below zero if the row was written again.
  public init(stored: Int64) { self.init(stamp: Stamp(abs(max(stored, -Int64.max))), isOnly: stored > 0) }

  public var stored: Int64 { isOnly ? stamp.rawValue : -stamp.rawValue }
}
