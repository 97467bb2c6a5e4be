import SatchelValues

/// Returns an identifier in the form that SQL reads literally. A name becomes SQL in this function only.
public func quoted(_ identifier: String) -> String {
  var result = "\""
  for scalar in identifier.unicodeScalars {
    if scalar == "\"" { result += "\"" }
    result.unicodeScalars.append(scalar)
  }
  return result + "\""
}

/// A text as an SQL literal.
public func quotedText(_ text: String) -> String {
  var result = "'"
  for scalar in text.unicodeScalars {
    if scalar == "'" { result += "'" }
    result.unicodeScalars.append(scalar)
  }
  return result + "'"
}

public func quoted(_ name: Name) -> String { quoted(name.text) }

/// Quoted names with commas between them, each after `prefix`, for example `"T"."a", "T"."b"`.
public func quotedList(_ names: some Sequence<Name>, prefix: String = "") -> String {
  names.map { prefix + quoted($0) }.joined(separator: ", ")
}
