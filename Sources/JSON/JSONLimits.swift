/// The limits on a JSON text. They bound the cost of reading it. A text beyond a limit is refused with a `JSONError`.
public struct JSONLimits: Hashable, Sendable {
  /// The limit on the depth of nested arrays and objects. It must be at most 1,024, because recursive functions parse
  /// and free a `JSONValue`.
  public let maxDepth: Int
  /// The limit on the bytes of one string or key, counted between its quotes in the text.
  public let maxStringBytes: Int
  /// The limit on the bytes of one number's literal.
  public let maxNumberBytes: Int
  /// The limit on the elements and members of the whole text, including nested ones.
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
