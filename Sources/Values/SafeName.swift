/// Whether a name may be part of a bundle's file name on each medium. FAT ignores case and refuses many characters.
public func isSafeName(_ name: String) -> Bool {
  let bytes = Array(name.utf8)
  guard (1...40).contains(bytes.count), let first = bytes.first, isLetterOrDigit(first) else { return false }
  return bytes.allSatisfy { isLetterOrDigit($0) || $0 == 45 || $0 == 95 } && !isReserved(bytes)
}

/// Whether Windows reserves a name for its devices, so that it cannot open a folder of this name. The digit in a
/// reserved name may also be a superscript.
func isReserved(_ name: [UInt8]) -> Bool {
  let text = String(decoding: name, as: UTF8.self)
  if ["con", "prn", "aux", "nul", "conin$", "conout$"].contains(text) { return true }
  guard text.hasPrefix("com") || text.hasPrefix("lpt") else { return false }
  let rest = Array(name.dropFirst(3))
  return rest.count == 1 && (48...57).contains(rest[0])
    || ["\u{b9}", "\u{b2}", "\u{b3}"].contains { rest == Array($0.utf8) }
}

public let safeNameHint =
  "Use 1 to 40 of a-z, 0-9, - and _, beginning with a letter or digit; not con, nul and the like."

private func isLetterOrDigit(_ byte: UInt8) -> Bool { (97...122).contains(byte) || (48...57).contains(byte) }
