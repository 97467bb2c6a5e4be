/// The limits on a text, which keep the cost of reading it low. A text beyond a limit is refused with a `JSONError`.
public struct JSONLimits: Hashable, Sendable {
  /// The limit on the depth of nested arrays and objects. It is at most 1,024, because `JSONValue` is parsed and freed
  /// by recursion.
  public let maxDepth: Int
  /// The limit on the bytes of one string or key, as written between its quotes.
  public let maxStringBytes: Int
  /// The limit on the bytes of one number's literal.
  public let maxNumberBytes: Int
  /// The limit on the elements and members of the whole text. Nested elements and members count, too.
  public let maxMembers: Int

  public init(
    maxDepth: Int = 64, maxStringBytes: Int = 64 << 20, maxNumberBytes: Int = 128, maxMembers: Int = 1_000_000
  ) {
    precondition((0...1024).contains(maxDepth), "a depth that recursion bears")
    self.maxDepth = maxDepth
    self.maxStringBytes = maxStringBytes
    self.maxNumberBytes = maxNumberBytes
    self.maxMembers = maxMembers
  }
}
