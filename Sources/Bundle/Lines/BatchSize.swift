/// Counts the items of a batch that another core handles.
///
/// A batch is large enough that waking the other core costs little: in batches of 256 items, waking took an eighth of
/// an export. A batch is also small enough to wait in memory.
public struct BatchSize: Sendable {
  private static let mostItems = 1024
  private static let mostBytes = 256 << 10

  private var items = 0
  private var bytes = 0

  public init() {}

  /// - Parameter bytes: the approximate memory of the next item.
  public mutating func add(_ bytes: Int) {
    items += 1
    self.bytes += bytes
  }

  public var isFull: Bool { items >= Self.mostItems || bytes >= Self.mostBytes }
  /// Whether the batch holds large blobs.
  var isLarge: Bool { bytes > 1 << 20 }
  /// The most batches in progress while the next batch is filled. The number is 2: one in work and one waiting. If the
  /// batch holds large blobs, the number is 0.
  public var mostAtOnce: Int { isLarge ? 0 : 2 }
}
