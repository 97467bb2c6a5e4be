import Foundation
import SatchelJSON
import TestSupport
import Testing

/// Reads `docs/JSON.md`, which lists the fields of each command's document.
struct JSONReference {
  private struct Field {
    let path: String
    let words: String
    /// Whether only some runs of the command print this field.
    var isRare: Bool { words.hasPrefix("Only ") }
  }

  /// The listed fields by section. A section is a command of a tool, or an object that several commands share.
  private var sections: [String: [Field]] = [:]

  init() throws {
    let text = try String(contentsOf: PackageFolder.file("docs/JSON.md"), encoding: .utf8)
    var names: [String] = []
    for line in text.components(separatedBy: "\n") {
      if line.hasPrefix("#") {
        names = Self.quoted(line)
        for name in names { sections[name] = [] }
      } else if line.hasPrefix("| `"), let path = Self.quoted(line).first {
        let words = line.components(separatedBy: " | ").dropFirst().joined(separator: " | ")
        for name in names { sections[name]?.append(Field(path: path, words: words)) }
      }
    }
  }

  /// The texts between backticks in a line.
  private static func quoted(_ line: String) -> [String] {
    line.components(separatedBy: "`").enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
  }

  var commands: Set<String> { Set(sections.keys.filter { $0.hasPrefix("satchel") }) }

  /// All fields of a section, including the fields of objects to which the section links.
  private func fields(of name: String) -> [Field] {
    (sections[name] ?? []).flatMap { field -> [Field] in
      // An example of such a link: "a [conflict](#object-conflict)".
      guard let link = field.words.components(separatedBy: "](#object-").dropFirst().first?.prefix(while: { $0 != ")" })
      else {
        return [field]
      }
      let inner = fields(of: "object \(link)").map { inner in
        Field(path: "\(field.path).\(inner.path)", words: field.isRare ? "Only \(inner.words)" : inner.words)
      }
      return [field] + inner
    }
  }

  /// Differences between a command's documents and the list: fields that are not listed, and listed fields that no
  /// document has.
  func differences(_ command: String, _ documents: [JSONValue]) -> [String] {
    let listed = fields(of: command) + fields(of: "every document")
    // The field of a list is listed by its elements, as `x[]`.
    let paths = Set(
      listed.map(\.path) + listed.map(\.path).filter { $0.hasSuffix("[]") }.map { String($0.dropLast(2)) })
    var seen: Set<String> = []
    for document in documents { Self.collect(document, "", paths, &seen) }
    return seen.subtracting(paths).sorted().map { "\(command): \($0) is not in docs/JSON.md" }
      + listed.filter { !$0.isRare && !seen.contains($0.path) }.map {
        "\(command): \($0.path) is in docs/JSON.md, and was not printed"
      }
  }

  /// Collects the paths of a document's fields. `tables.*` replaces all names that are data, and `x[]` for each
  /// element of a list. It does not go below a path that is not listed.
  private static func collect(_ value: JSONValue, _ place: String, _ listed: Set<String>, _ seen: inout Set<String>) {
    func isListed(_ path: String) -> Bool {
      listed.contains { $0 == path || $0.hasPrefix(path + ".") || $0.hasPrefix(path + "[]") }
    }
    if let members = value.objectValue {
      for member in members {
        let start = place.isEmpty ? "" : place + "."
        let path = !isListed(start + member.name) && isListed(start + "*") ? start + "*" : start + member.name
        seen.insert(path)
        // Below a name that is data, there is usually the value of a row. Its content is collected only if the list
        // describes it.
        if path.hasSuffix("*"), !listed.contains(where: { $0.hasPrefix(path + ".") || $0.hasPrefix(path + "[]") }) {
          continue
        }
        collect(member.value, path, listed, &seen)
      }
    } else if let list = value.arrayValue {
      for element in list {
        if element.objectValue == nil, element.arrayValue == nil { continue }
        collect(element, place + "[]", listed, &seen)
        if element.objectValue != nil { seen.insert(place + "[]") }
      }
    }
  }
}
