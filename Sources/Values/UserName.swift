/// Whether a text can be the name of a user in a bundle: at most 100 bytes, without control characters. The empty
/// text means that no user is known yet.
public func isUserName(_ text: String) -> Bool {
  text.utf8.count <= 100 && isWithoutControls(text)
}

/// Whether a text has no control characters, which a terminal would execute.
func isWithoutControls(_ text: String) -> Bool {
  text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
}
