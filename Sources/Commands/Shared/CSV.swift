import SatchelValues

/// Comma-separated values (RFC 4180), as spreadsheets write and read them.
enum CSV {
  /// The fields of each line. Empty lines are skipped. nil if a quote is not closed.
  ///
  /// Spreadsheets of some languages separate fields by semicolons, and tables that are pasted have tabs. The separator
  /// that is most frequent in the first line counts for the whole text. Excel may name it in a line before the first
  /// one, such as `sep=;`.
  static func rows(_ text: String) -> [[String]]? {
    var rows: [[String]] = []
    var row: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    var bytes = Array(text.utf8)[...]
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes = bytes.dropFirst(3) }
    let separator = namedSeparator(&bytes) ?? separator(of: bytes)
    func end() {
      row.append(String(decoding: field, as: UTF8.self))
      field = []
    }
    func endLine() {
      end()
      if row != [""] { rows.append(row) }
      row = []
    }
    while let byte = bytes.popFirst() {
      switch byte {
      case UInt8(ascii: "\"") where isQuoted && bytes.first == UInt8(ascii: "\""):
        field.append(byte)
        bytes = bytes.dropFirst()
      case UInt8(ascii: "\""): isQuoted.toggle()
      case separator where !isQuoted: end()
      case UInt8(ascii: "\n") where !isQuoted: endLine()
      case UInt8(ascii: "\r") where !isQuoted: break
      default: field.append(byte)
      }
    }
    if isQuoted { return nil }
    if !field.isEmpty || !row.isEmpty { endLine() }
    return rows
  }

  private static let separators = [",", ";", "\t"].map { UInt8(ascii: $0) }

  /// The separator that the first line names, as in `sep=;`. Removes this line. nil if there is no such line.
  private static func namedSeparator(_ bytes: inout ArraySlice<UInt8>) -> UInt8? {
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    guard let last = line.last, separators.contains(last), line.dropLast().elementsEqual("sep=".utf8) else {
      return nil
    }
    bytes = bytes.dropFirst(line.count)
    return last
  }

  private static func separator(of bytes: ArraySlice<UInt8>) -> UInt8 {
    var counts: [UInt8: Int] = [:]
    var isQuoted = false
    for byte in bytes {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if isQuoted { continue }
      if byte == UInt8(ascii: "\n") { break }
      counts[byte, default: 0] += 1
    }
    return separators.reduce(separators[0]) { counts[$1, default: 0] > counts[$0, default: 0] ? $1 : $0 }
  }

  /// Lines of fields, as spreadsheets read them. Characters that control a terminal or reverse the text, and line
  /// breaks in a field, become U+FFFD.
  static func text(_ rows: [[String]]) -> String {
    rows.map { $0.map(quoted).joined(separator: ",") + "\r\n" }.joined()
  }

  private static func quoted(_ field: String) -> String {
    let words = visible(field)
    let safe = isFormula(field) ? "'\(words)" : words
    guard safe.utf8.contains(where: { $0 == 0x22 || $0 == 0x2c }) else { return safe }
    return "\"" + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }

  /// Whether a spreadsheet would run the text as a formula. Some spreadsheets do so even after quotes and spaces, and
  /// with the wide signs of East Asian texts. A number is not a formula.
  private static func isFormula(_ text: String) -> Bool {
    let rest = text.unicodeScalars.drop { "\"' ".unicodeScalars.contains($0) }
    guard let first = rest.first, "=+-@\t\r\n\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}".unicodeScalars.contains(first) else {
      return false
    }
    return !isNumber(text)
  }

  /// Whether a text is a number. A number has digits. It may also have a sign, a decimal point and an exponent.
  private static func isNumber(_ text: String) -> Bool {
    var bytes = Array(text.utf8)[...]
    func skip(_ signs: String) { if let first = bytes.first, signs.utf8.contains(first) { bytes.removeFirst() } }
    func digits() -> Bool {
      let count = bytes.prefix { (48...57).contains($0) }.count
      bytes = bytes.dropFirst(count)
      return count > 0
    }
    skip("+-")
    guard digits() else { return false }
    if bytes.first == UInt8(ascii: ".") {
      skip(".")
      guard digits() else { return false }
    }
    if let first = bytes.first, "eE".utf8.contains(first) {
      skip("eE")
      skip("+-")
      guard digits() else { return false }
    }
    return bytes.isEmpty
  }
}
