/// Whether a text can be a user's name in a bundle: at most 100 bytes, without control characters. Empty: nobody is
/// known yet.
public func isUserName(_ text: String) -> Bool {
  text.utf8.count <= 100 && isWithoutControls(text)
}

/// Whether no terminal obeys anything in a text: it has no control characters.
func isWithoutControls(_ text: String) -> Bool {
  text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
}
