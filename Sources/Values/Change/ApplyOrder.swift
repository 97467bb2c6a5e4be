/// The position of a step among all steps that are applied together.
public struct ApplyOrder: Hashable, Comparable, Sendable {
  public let generation: Generation
  /// The position within the generation. Steps with lower numbers are applied first.
  public let order: Int

  public init(generation: Generation, order: Int) {
    self.generation = generation
    self.order = order
  }

  /// The position before all steps.
  public static let first = ApplyOrder(generation: Generation(.min), order: .min)

  public static func < (a: ApplyOrder, b: ApplyOrder) -> Bool { (a.generation, a.order) < (b.generation, b.order) }
}
