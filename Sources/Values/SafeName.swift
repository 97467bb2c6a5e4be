/// Whether a name may be part of a bundle's file name on any medium: FAT tells no case apart and refuses many characters.
public func isSafeName(_ name: String) -> Bool {
  let bytes = Array(name.utf8)
  guard (1...40).contains(bytes.count), let first = bytes.first, isLetterOrDigit(first) else { return false }
  return bytes.allSatisfy { isLetterOrDigit($0) || $0 == 45 || $0 == 95 }
}

public let safeNameHint = "Use 1 to 40 of a-z, 0-9, - and _, beginning with a letter or digit."

private func isLetterOrDigit(_ byte: UInt8) -> Bool { (97...122).contains(byte) || (48...57).contains(byte) }
