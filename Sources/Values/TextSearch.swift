extension String {
  /// Whether another text is part of this text, byte for byte. The empty text is part of each text.
  ///
  /// Swift's own search is in a library that the static tools do not have.
  public func hasPart(_ part: String) -> Bool {
    guard let first = part.utf8.first else { return true }
    var rest = utf8[...]
    while let start = rest.firstIndex(of: first) {
      rest = rest[start...]
      if rest.starts(with: part.utf8) { return true }
      rest.removeFirst()
    }
    return false
  }
}
