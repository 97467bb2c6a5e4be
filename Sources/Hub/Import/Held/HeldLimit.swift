import SatchelConflicts

/// The limits for the waiting changes of one device, in all tables together. Each import reads all waiting changes, and
/// has their values in memory.
struct HeldLimit: Sendable {
  /// Each change takes some kilobytes of memory, however small its values are.
  var changes = 20_000
  var bytes: Int64 = 128 << 20

  /// Whether more changes may wait beside the changes that wait already. A single change may exceed the limit of the
  /// bytes, because it may be larger than the limit.
  func allows(_ more: ConflictSize, besides known: ConflictSize) -> Bool {
    if known.count + more.count > changes { return false }
    return known.bytes < bytes && (more.count == 1 || known.bytes + more.bytes <= bytes)
  }

  /// Whether no more changes may wait.
  func isReached(by known: ConflictSize) -> Bool { known.count >= changes || known.bytes >= bytes }
}
