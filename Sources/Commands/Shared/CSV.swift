/// Comma-separated values (RFC 4180), as spreadsheets write and read them.
enum CSV {
  /// The fields of each line; lines without any are passed over. nil: a quote is not closed.
  static func rows(_ text: String) -> [[String]]? {
    var rows: [[String]] = []
    var row: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    var bytes = Array(text.utf8)[...]
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes = bytes.dropFirst(3) }
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
      case UInt8(ascii: ",") where !isQuoted: end()
      case UInt8(ascii: "\n") where !isQuoted: endLine()
      case UInt8(ascii: "\r") where !isQuoted: break
      default: field.append(byte)
      }
    }
    if isQuoted { return nil }
    if !field.isEmpty || !row.isEmpty { endLine() }
    return rows
  }

  /// Lines of fields as spreadsheets read them.
  static func text(_ rows: [[String]]) -> String {
    rows.map { $0.map(quoted).joined(separator: ",") + "\r\n" }.joined()
  }

  /// A spreadsheet takes what begins so for a formula, and would run it.
  private static func quoted(_ text: String) -> String {
    let isFormula = text.utf8.first.map { Array("=+-@\t\r".utf8).contains($0) } ?? false
    let safe = isFormula && Double(text) == nil ? "'\(text)" : text
    guard safe.utf8.contains(where: { [0x22, 0x2c, 0x0a, 0x0d].contains($0) }) else { return safe }
    return "\"" + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }
}
