/// The first write of a row's change. It shows two copies of one database that they share the change.
public struct FirstWrite: Hashable, Sendable {
  /// When it was, by the clock of that time. No two writes of a row in one database have the same stamp, unless that
  /// clock was set back.
  public let stamp: Stamp
  /// Whether nothing was written into the row after it.
  public let isOnly: Bool

  public init(stamp: Stamp, isOnly: Bool) {
    self.stamp = stamp
    self.isOnly = isOnly
  }

  /// As stored in a table of pre-images: below zero if more was written.
  public init(stored: Int64) { self.init(stamp: Stamp(abs(max(stored, -Int64.max))), isOnly: stored > 0) }

  public var stored: Int64 { isOnly ? stamp.rawValue : -stamp.rawValue }
}
