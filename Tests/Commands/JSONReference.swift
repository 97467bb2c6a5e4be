import Foundation
import SatchelJSON
import Testing

/// `docs/JSON.md`: which fields each command's document has.
struct JSONReference {
  private struct Field {
    let path: String
    let words: String
    /// It is not in every run of the command.
    var isRare: Bool { words.hasPrefix("Only ") }
  }

  /// By the names of commands, with the tool's, and of objects that several commands show.
  private var sections: [String: [Field]] = [:]

  init() throws {
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(contentsOf: package.appending(path: "docs/JSON.md"), encoding: .utf8)
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

  /// What stands between backticks.
  private static func quoted(_ line: String) -> [String] {
    line.components(separatedBy: "`").enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
  }

  var commands: Set<String> { Set(sections.keys.filter { $0.hasPrefix("satchel") }) }

  /// All fields of a section, those of the objects that it names among them.
  private func fields(of name: String) -> [Field] {
    (sections[name] ?? []).flatMap { field -> [Field] in
      // "a [conflict](#object-conflict)"
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

  /// What documents of a command show that is not listed, and what is listed and in none of them.
  func differences(_ command: String, _ documents: [JSONValue]) -> [String] {
    let listed = fields(of: command) + fields(of: "every document")
    // A list is named by its elements.
    let paths = Set(
      listed.map(\.path) + listed.map(\.path).filter { $0.hasSuffix("[]") }.map { String($0.dropLast(2)) })
    var seen: Set<String> = []
    for document in documents { Self.collect(document, "", paths, &seen) }
    return seen.subtracting(paths).sorted().map { "\(command): \($0) is not in docs/JSON.md" }
      + listed.filter { !$0.isRare && !seen.contains($0.path) }.map {
        "\(command): \($0.path) is in docs/JSON.md, and was not printed"
      }
  }

  /// The paths of what a document holds, as far as they are listed: `tables.*` stands for names that are data, `x[]`
  /// for each of a list.
  private static func collect(_ value: JSONValue, _ place: String, _ listed: Set<String>, _ seen: inout Set<String>) {
    func isListed(_ path: String) -> Bool {
      listed.contains { $0 == path || $0.hasPrefix(path + ".") || $0.hasPrefix(path + "[]") }
    }
    if let members = value.objectValue {
      for member in members {
        let start = place.isEmpty ? "" : place + "."
        let path = !isListed(start + member.name) && isListed(start + "*") ? start + "*" : start + member.name
        seen.insert(path)
        // What stands under a name that is data is a value of a row, unless more is said of it.
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
