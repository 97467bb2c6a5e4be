import SatchelConflicts

/// The limits for the waiting changes of one device, in all tables together. There are limits because each import reads
/// the values of all waiting changes into memory.
struct HeldLimit: Sendable {
  /// The greatest number of waiting changes. Even a change with small values takes some kilobytes of memory.
  var changes = 20_000
  var bytes: Int64 = 128 << 20

  /// Whether `more` changes may wait, in addition to the `known` changes that wait already. If the total is below the
  /// limit of the bytes, a single change of any size may be added.
  func allows(_ more: ConflictSize, besides known: ConflictSize) -> Bool {
    if known.count + more.count > changes { return false }
    return known.bytes < bytes && (more.count == 1 || known.bytes + more.bytes <= bytes)
  }

  /// Whether no more changes may wait.
  func isReached(by known: ConflictSize) -> Bool { known.count >= changes || known.bytes >= bytes }
}
