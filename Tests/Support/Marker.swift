import Foundation
import Glibc
import SatchelValues

/// A text that is nowhere else, and the ways in which it may be written into a file.
public struct Marker: Sendable {
  public let text: String
  private let patterns: [[UInt8]]

  /// - Parameter text: ASCII, at least eight letters and digits. For a shorter text, too few base64 letters are the
  ///   same at every offset. The last character should be the same in all markers, because some base64 shows only half
  ///   of it.
  public init(_ text: String) {
    self.text = text
    let bytes = Array(text.utf8)
    let hexadecimal = Hexadecimal.text(of: bytes)
    let base64 = (0..<3).map { shift -> [UInt8] in
      // The first and the last letters depend on the bytes around the text.
      let all = Array(Data([UInt8](repeating: 0, count: shift) + bytes).base64EncodedString().utf8)
      let first = (shift * 8 + 5) / 6
      let last = (shift + bytes.count) * 8 / 6
      return Array(all[first..<last])
    }
    // UTF-16 of either order has a zero between any two letters of the text.
    let spread = Array(bytes.flatMap { [UInt8(0), $0] }.dropFirst())
    patterns = [bytes, spread, Array(hexadecimal.utf8), Array(hexadecimal.uppercased().utf8)] + base64
  }

  /// Whether the text is in these bytes as UTF-8, UTF-16 of either order, hexadecimal digits or base64.
  public func isIn(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { all in patterns.contains { Self.contains(all, $0) } }
  }

  /// Finds the first letter with the C library, because tests search millions of bytes in code that is not optimised.
  private static func contains(_ all: UnsafeRawBufferPointer, _ pattern: [UInt8]) -> Bool {
    guard var place = all.baseAddress else { return false }
    let last = place + (all.count - pattern.count)
    while place <= last, let found = memchr(place, Int32(pattern[0]), last - place + 1) {
      if memcmp(found, pattern, pattern.count) == 0 { return true }
      place = UnsafeRawPointer(found) + 1
    }
    return false
  }
}
