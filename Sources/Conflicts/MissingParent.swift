import SatchelValues

/// The messages for a row whose parent is missing, or hidden from the user who made the change.
public enum MissingParent {
  private static let gone = " to which it refers is not there."
  private static let hidden = " to which it refers may not be seen by this user."

  public static func words(goneFrom table: Name) -> String { "The row of \(table)" + gone }
  public static func words(hiddenIn table: Name) -> String { "The row of \(table)" + hidden }

  /// The message that the user may see. It describes a hidden parent like a missing one.
  fileprivate static func forUser(_ words: String) -> String {
    words.hasSuffix(hidden) ? words.dropLast(hidden.count) + gone : words
  }
}

extension ConflictRecord {
  /// Changes the record of a change whose parent is hidden, so that it equals the record for a deleted parent.
  public mutating func showParentAsMissing() {
    kind = .foreignKey
    note = note.map(MissingParent.forUser)
  }
}
