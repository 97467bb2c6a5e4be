/// How much goes to another core at a time: enough that waking it costs little (of an export in pieces of 256 it was an eighth), and so
/// little that it may wait in memory.
public struct BatchSize: Sendable {
  private static let mostItems = 1024
  private static let mostBytes = 256 << 10

  private var items = 0
  private var bytes = 0

  public init() {}

  /// - Parameter bytes: how many the next item keeps in memory, roughly.
  public mutating func add(_ bytes: Int) {
    items += 1
    self.bytes += bytes
  }

  public var isFull: Bool { items >= Self.mostItems || bytes >= Self.mostBytes }
  /// Whether it holds large blobs.
  public var isLarge: Bool { bytes > 1 << 20 }
  /// How many batches may be under way while one is made behind this one: one that is worked on, and one that waits; of large blobs none.
  public var mostAtOnce: Int { isLarge ? 0 : 2 }
}
