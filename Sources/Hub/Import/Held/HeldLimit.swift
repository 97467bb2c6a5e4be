import SatchelConflicts

/// The limits for the waiting changes of one device, in all tables together. Each import reads all waiting changes, and
/// has their values in memory.
struct HeldLimit: Sendable {
  /// Each change takes some kilobytes of memory, however small its values are.
  var changes = 20_000
  var bytes: Int64 = 128 << 20

  /// Whether more changes may wait beside the changes that wait already. A single change may exceed the limit of the
  /// bytes, because it may be larger than the limit.
  func allows(_ more: HeldTotal, besides known: HeldTotal) -> Bool {
    if known.changes + more.changes > changes { return false }
    return known.bytes < bytes && (more.changes == 1 || known.bytes + more.bytes <= bytes)
  }

  /// Whether no more changes may wait.
  func isReached(by known: HeldTotal) -> Bool { known.changes >= changes || known.bytes >= bytes }
}
