/// SQLite's functions of date and time.
let dateFunctions: Set<[UInt8]> = Set(
  ["date", "time", "datetime", "julianday", "unixepoch", "strftime"].map { Array($0.utf8) })

/// The part of an SQL expression that makes functions of date and time use the present time or the local time zone; nil
/// if there is none. For example, the part is the word `now`, or a call without a time argument.
public func presentTime(in expression: String) -> String? {
  let words = ["now", "localtime", "utc"]
  var bytes = Array(expression.utf8)[...]
  while let start = bytes.firstIndex(of: UInt8(ascii: "'")) {
    bytes = bytes[(start + 1)...]
    guard let end = bytes.firstIndex(of: UInt8(ascii: "'")) else { break }
    let text = Array(bytes[..<end]).asciiLowercased
    if let word = words.first(where: { Array($0.utf8) == text }) { return "'\(word)'" }
    bytes = bytes[(end + 1)...]
  }
  let tokens = Array(SQLTokens(expression))
  for (place, token) in tokens.enumerated() where dateFunctions.contains(token.text) {
    guard tokens[(place + 1)...].first?.isSign("(") == true, lacksTime(token, tokens[(place + 1)...], expression) else {
      continue
    }
    return String(decoding: token.text, as: UTF8.self) + "()"
  }
  return nil
}

/// Whether a call of a date function has no argument, or a call of `strftime` has only its format.
private func lacksTime(_ function: SQLTokens.Token, _ call: ArraySlice<SQLTokens.Token>, _ expression: String) -> Bool {
  var depth = 0
  for (place, token) in zip(call.indices, call) {
    if token.isSign("(") { depth += 1 }
    if token.isSign(")") { depth -= 1 }
    if depth == 1, token.isSign(",") { return false }
    guard depth == 0 else { continue }
    if function.isWord("strftime") { return true }
    // `SQLTokens` leaves out text in quotes. Therefore this line checks the bytes between the two parentheses.
    let inside = Array(expression.utf8)[call[call.startIndex].end..<token.end - 1]
    return place == call.startIndex + 1 && inside.allSatisfy { $0 == 32 || (9...13).contains($0) }
  }
  return false
}
