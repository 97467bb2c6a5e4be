/// How much goes to another core at a time: enough that waking it costs little (of an export in pieces of 256 it was an eighth), and so
/// little that it may wait in memory.
struct BatchSize: Sendable {
  /// How many batches may be under way: one that is worked on, and one that waits.
  static let mostAtOnce = 2
  private static let mostItems = 1024
  private static let mostBytes = 256 << 10

  private var items = 0
  private var bytes = 0

  mutating func add(_ bytes: Int) {
    items += 1
    self.bytes += bytes
  }

  mutating func add(_ other: BatchSize) {
    items += other.items
    bytes += other.bytes
  }

  mutating func remove(_ other: BatchSize) {
    items -= other.items
    bytes -= other.bytes
  }

  var isFull: Bool { items >= Self.mostItems || bytes >= Self.mostBytes }
  /// Behind one of large blobs comes no other before it is done.
  var isLarge: Bool { bytes > 1 << 20 }
}
