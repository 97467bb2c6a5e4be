import SatchelMerge
import SatchelValues

/// The words of a conflict about a counter or a set of a row that existed before its device joined.
public enum UnknownStart {
  private static let text =
    "This row is from before the device joined. Nothing shows which part of the two values is the same. "
    + "Enter the right value."

  /// The words if a disagreement is of this kind; nil: it is of another kind.
  /// - Parameter first: the first write of the change.
  public static func words(
    for disagreement: Disagreement, of change: Change, first: FirstWrite?, by rules: MergeRules
  ) -> String? {
    rules.lacksStart(change, first: first, in: disagreement) ? text : nil
  }
}
