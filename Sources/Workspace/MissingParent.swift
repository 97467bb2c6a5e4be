import SatchelValues

/// The words of a conflict about a row whose parent is not there, or is hidden from the user who made the change.
public enum MissingParent {
  private static let gone = " to which it refers is not there."
  private static let hidden = " to which it refers is not to be seen by this user."

  public static func words(goneFrom table: Name) -> String { "The row of \(table)" + gone }
  public static func words(hiddenIn table: Name) -> String { "The row of \(table)" + hidden }

  /// The words for the user: a hidden parent is told as one that is gone.
  fileprivate static func forUser(_ words: String) -> String {
    words.hasSuffix(hidden) ? words.dropLast(hidden.count) + gone : words
  }
}

extension ConflictRecord {
  /// Makes the record of a change whose parent is hidden the same as if the parent were gone.
  mutating func showParentAsMissing() {
    kind = .foreignKey
    note = note.map(MissingParent.forUser)
  }
}
