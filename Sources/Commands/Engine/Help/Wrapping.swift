/// Breaks words into lines of at most `width` columns. A longer word has a line of its own. Later lines begin with
/// `indent`, which counts as part of the width. All lines but the last end with `continuation`.
func wrap(_ words: [String], width: Int, indent: String = "", continuation: String = "") -> [String] {
  var lines: [String] = []
  var line = ""
  for word in words {
    let start = lines.isEmpty ? "" : indent
    if line.isEmpty {
      line = start + word
    } else if line.displayWidth + 1 + word.displayWidth + continuation.displayWidth <= width {
      line += " " + word
    } else {
      lines.append(line + continuation)
      line = indent + word
    }
  }
  return line.isEmpty ? lines : lines + [line]
}

/// Refills plain text. An empty line separates paragraphs. A line that begins with a space stays as it is.
func refill(_ text: String, width: Int) -> [String] {
  var lines: [String] = []
  var paragraph: [String] = []
  func flush() {
    lines += wrap(paragraph, width: width)
    paragraph = []
  }
  for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
    if line.isEmpty || line.first == " " {
      flush()
      lines.append(String(line))
    } else {
      paragraph += line.split(separator: " ").map(String.init)
    }
  }
  flush()
  return lines
}

extension String {
  /// Columns on a terminal: one for each Unicode scalar.
  var displayWidth: Int { unicodeScalars.count }
}
