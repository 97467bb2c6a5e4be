import SatchelValues

/// Spans of stamps that replicas gave while the hub's clock was wrong. These stamps do not show the order of changes.
public struct DoubtfulTimes: Sendable {
  /// A span of stamps, both of its ends included.
  public typealias Span = ClosedRange<Stamp>

  private let spans: [Span]

  public init(_ spans: [Span]) { self.spans = spans }

  /// All stamps show the order of changes.
  public static let none = DoubtfulTimes([])

  public var isEmpty: Bool { spans.isEmpty }

  public func contains(_ stamp: Stamp) -> Bool { spans.contains { $0.contains(stamp) } }

  /// Whether two stamps do not show the later one of two changes. A stamp after a span is later than all that was
  /// written while the stamps of the span were given. So the later one of the two stamps decides.
  public func contain(laterOf one: Stamp, _ other: Stamp) -> Bool { contains(max(one, other)) }
}
