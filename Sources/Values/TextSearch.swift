extension String {
  /// Whether another text is somewhere in this one, byte for byte. An empty text is in every text.
  ///
  /// Swift's own search in strings is in a library that the static tools do not have.
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
