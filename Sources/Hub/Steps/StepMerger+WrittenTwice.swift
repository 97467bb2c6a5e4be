import SatchelMerge
import SatchelValues

extension StepMerger {
  /// Returns the columns to which a step writes the value that they have already. The log records these writes too.
  func writtenTwice(
    _ pending: Pending, over hub: Row?, _ result: MergeResult, in place: Int
  ) throws -> [ColumnChange] {
    if pending.decided { return [] }
    return try scope.writtenTwice(pending.step.change, over: hub, result, from: base, in: place)
  }
}
