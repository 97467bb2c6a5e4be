import SatchelValues

/// An identifier in quotes, so that SQL reads it literally. Only this function turns a name into SQL.
public func quoted(_ identifier: String) -> String { wrapped(identifier, in: "\"") }

/// A text as an SQL literal.
public func quotedText(_ text: String) -> String { wrapped(text, in: "'") }

/// The text between two quotes, with each quote in it doubled.
private func wrapped(_ text: String, in quote: Unicode.Scalar) -> String {
  let mark = String(quote)
  // Each command builds the SQL of all triggers. Therefore a text without quotes takes this short way.
  if !text.utf8.contains(UInt8(ascii: quote)) { return mark + text + mark }
  var result = mark
  for scalar in text.unicodeScalars {
    if scalar == quote { result += mark }
    result.unicodeScalars.append(scalar)
  }
  return result + mark
}

public func quoted(_ name: Name) -> String { quoted(name.text) }

/// Quoted names with commas between them, each after `prefix`, for example `"T"."a", "T"."b"`.
public func quotedList(_ names: some Sequence<Name>, prefix: String = "") -> String {
  names.map { prefix + quoted($0) }.joined(separator: ", ")
}
