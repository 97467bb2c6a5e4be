/// The size of a batch of items that another core works on.
///
/// A batch must be large enough that waking the other core costs little. With batches of 256 items, waking took an
/// eighth of an export. It must be small enough to wait in memory.
public struct BatchSize: Sendable {
  private static let mostItems = 1024
  private static let mostBytes = 256 << 10

  private var items = 0
  private var bytes = 0

  public init() {}

  /// - Parameter bytes: the approximate size of the next item in memory.
  public mutating func add(_ bytes: Int) {
    items += 1
    self.bytes += bytes
  }

  public var isFull: Bool { items >= Self.mostItems || bytes >= Self.mostBytes }
  /// Whether the batch has large blobs.
  var isLarge: Bool { bytes > 1 << 20 }
  /// The most other batches in progress while a batch is filled: one in work and one waiting. 0 if the batch has
  /// large blobs, to save memory.
  public var mostAtOnce: Int { isLarge ? 0 : 2 }
}
