import SatchelJSON

/// The part of an answer that may be too long for memory. It is printed piece by piece while it is read.
struct AnswerStream {
  /// The last member of the JSON document, an array.
  let member: String
  /// Calls `show` with the elements of the array, in pieces.
  let elements: (_ show: ([JSONValue]) throws -> Void) throws -> Void
  /// Calls `show` with the text for people, in pieces.
  let text: (_ show: (TerminalText) -> Void) throws -> Void
}

extension AnswerStream {
  /// Shows a JSON document whose last member is this array. Nothing is shown before the first piece is read.
  /// - Parameter head: the other members. There is at least one.
  func print(after head: [JSONValue.Member], _ show: (TerminalText) -> Void) throws {
    // The end of the document. It is cut off here, and printed after the array.
    let end = "\n}\n"
    let document = TerminalText(document: .object(head)).string.dropLast(end.count)
    let beginning = "\(document),\n  \"\(member)\": ["
    var isFirst = true
    try elements { elements in
      var text = ""
      for element in elements {
        text += isFirst ? "\(beginning)\n" : ",\n"
        isFirst = false
        text += Self.indented(TerminalText(document: element).string)
      }
      show(TerminalText(ofOwnMaking: text))
    }
    show(TerminalText(ofOwnMaking: isFirst ? "\(beginning)]\(end)" : "\n  ]\(end)"))
  }

  /// Indents a JSON document for the array, without its last line end. A JSON string contains no line end, so the split
  /// is safe.
  private static func indented(_ document: String) -> String {
    document.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
  }
}
