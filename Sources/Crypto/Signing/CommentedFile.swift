/// The text format of minisign's files. The first line is an untrusted comment.
enum CommentedFile {
  static let sizeLimit = 2048
  static let untrustedPrefix = "untrusted comment: "
  static let trustedPrefix = "trusted comment: "

  /// The lines of a file. nil: the file does not end with a line feed, or the number of its lines is not `count`.
  static func lines(of bytes: [UInt8], count: Int) -> [ArraySlice<UInt8>]? {
    guard bytes.last == 0x0a else { return nil }
    let lines = bytes.dropLast().split(separator: 0x0a, omittingEmptySubsequences: false)
    return lines.count == count ? lines : nil
  }

  /// The lines of a key's file. People edit such files. Therefore the last line may lack its line feed, and lines may
  /// end as on Windows.
  static func forgivingLines(of bytes: [UInt8], count: Int) -> [ArraySlice<UInt8>]? {
    let ended = bytes.last == 0x0a ? bytes : bytes + [0x0a]
    return lines(of: ended, count: count)?.map { $0.last == 0x0d ? $0.dropLast() : $0 }
  }

  /// The comment in a line that begins with `prefix`. nil: the line does not begin with `prefix`, or the comment is not
  /// safe to show.
  static func comment(in line: ArraySlice<UInt8>, after prefix: String) -> String? {
    guard line.starts(with: prefix.utf8),
      let comment = String(validating: line.dropFirst(prefix.utf8.count), as: UTF8.self)
    else { return nil }
    return isFit(comment) ? comment : nil
  }

  /// Whether a comment can safely be shown on one line of a terminal. It may have no control character except the tab.
  static func isFit(_ comment: String) -> Bool {
    comment.unicodeScalars.allSatisfy { ($0.value >= 0x20 || $0 == "\t") && !(0x7f...0x9f).contains($0.value) }
  }
}
