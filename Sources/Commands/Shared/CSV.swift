/// Comma-separated values (RFC 4180), as spreadsheets write them.
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
}
