/// The form of minisign's files: lines of text, the first an untrusted comment.
enum CommentedFile {
  static let sizeLimit = 2048
  static let untrustedPrefix = "untrusted comment: "
  static let trustedPrefix = "trusted comment: "

  /// The lines of a file that ends with a line end; nil if their number is not `count`.
  static func lines(of bytes: [UInt8], count: Int) -> [ArraySlice<UInt8>]? {
    guard bytes.last == 0x0a else { return nil }
    let lines = bytes.dropLast().split(separator: 0x0a, omittingEmptySubsequences: false)
    return lines.count == count ? lines : nil
  }

  /// The lines of a key's file, which people edit: the end of the last line may be missing, and lines may end as on
  /// Windows.
  static func forgivingLines(of bytes: [UInt8], count: Int) -> [ArraySlice<UInt8>]? {
    let ended = bytes.last == 0x0a ? bytes : bytes + [0x0a]
    return lines(of: ended, count: count)?.map { $0.last == 0x0d ? $0.dropLast() : $0 }
  }

  /// The comment of a line that begins with `prefix`; nil if it does not, or if the comment must not be shown.
  static func comment(in line: ArraySlice<UInt8>, after prefix: String) -> String? {
    guard line.starts(with: prefix.utf8),
      let comment = String(validating: line.dropFirst(prefix.utf8.count), as: UTF8.self)
    else { return nil }
    return isFit(comment) ? comment : nil
  }

  /// Whether a comment is safe to show on one line of a terminal: no control characters but the tab.
  static func isFit(_ comment: String) -> Bool {
    comment.unicodeScalars.allSatisfy { ($0.value >= 0x20 || $0 == "\t") && !(0x7f...0x9f).contains($0.value) }
  }
}
