import SatchelMerge
import SatchelValues

extension StepMerger {
  /// Returns the columns with equal values that are logged with a step, as changes that change no value.
  func writtenTwice(
    _ pending: Pending, over hub: Row?, _ result: MergeResult, in place: Int
  ) throws -> [ColumnChange] {
    if pending.decided { return [] }
    return try scope.writtenTwice(pending.step.change, over: hub, result, from: base, in: place)
  }
}
