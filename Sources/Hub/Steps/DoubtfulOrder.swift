import SatchelMerge

/// The words of a conflict that a person decides because the hub's clock was wrong.
enum DoubtfulOrder {
  static let words =
    "The clock of this hub was wrong. So the times of the two changes do not show which change is the later one."
}

extension Disagreement {
  /// The note of a conflict: the given words, and why the stamps decide nothing. nil if there is nothing to say.
  func words(after note: String?) -> String? {
    let words = [note, isInDoubt ? DoubtfulOrder.words : nil].compactMap(\.self)
    return words.isEmpty ? nil : words.joined(separator: " ")
  }
}
