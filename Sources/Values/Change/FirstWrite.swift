/// The first write of a row in a generation. If it is the same in two copies of a database, both copies contain the
/// same work.
public struct FirstWrite: Hashable, Sendable {
  /// The time of the write by the device's clock. In one database, two writes of a row have different stamps, unless
  /// the clock was set back.
  public let stamp: Stamp
  /// Whether the row was not written again after this write.
  public let isOnly: Bool

  public init(stamp: Stamp, isOnly: Bool) {
    self.stamp = stamp
    self.isOnly = isOnly
  }

  /// Decodes the number in a table of pre-images. It is negative if the row was written again.
  public init(stored: Int64) { self.init(stamp: Stamp(abs(max(stored, -Int64.max))), isOnly: stored > 0) }

  public var stored: Int64 { isOnly ? stamp.rawValue : -stamp.rawValue }
}
