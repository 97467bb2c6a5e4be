import Foundation
import SatchelDataset
import SatchelJSON
import TestSupport
import Testing

/// Compares `docs/DATASET.md` with the parser and with the schema.
@Suite("The page about the dataset's definition")
struct ReferencePageTests {
  private let page: String
  private let schema: JSONValue

  init() throws {
    func read(_ name: String) throws -> Data { try Data(contentsOf: PackageFolder.url.appending(path: name)) }
    page = String(decoding: try read("docs/DATASET.md"), as: UTF8.self)
    schema = try JSONValue.parse(Array(read("docs/schema/dataset.schema.json")))
  }

  /// The sections of the page, each with its heading and its text.
  private var sections: [(heading: Substring, text: Substring)] {
    page.components(separatedBy: "\n### ").dropFirst().map { section in
      let end = section.firstIndex(of: "\n") ?? section.endIndex
      return (Substring(section[..<end]), Substring(section[end...]))
    }
  }

  @Test("every member of the schema has a section")
  func members() {
    let table = schema["$defs"]?["table"]?["properties"]?.objectValue ?? []
    let names = ((schema["properties"]?.objectValue ?? []) + table).map(\.name)
    #expect(names.count > 20)
    for name in names {
      #expect(sections.contains { $0.heading.contains("`\(name)`") }, "\(name)")
    }
  }

  @Test("every section has an example with its member, and every example is a definition")
  func examples() throws {
    for (heading, text) in sections {
      let parts = text.components(separatedBy: "```json\n").dropFirst()
      #expect(!parts.isEmpty, "\(heading)")
      let examples = parts.map { $0.components(separatedBy: "```")[0] }
      for example in examples { _ = try DatasetDefinition(json: Array(example.utf8)) }
      let names = heading.split(separator: "`").enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
      for name in names where !name.contains(" ") {
        #expect(examples.contains { $0.contains("\"\(name)\":") }, "\(heading): \(name)")
      }
    }
  }

  @Test("comments and the schema's place are allowed everywhere, and change nothing")
  func comments() throws {
    let plain = #"{ "dataset": "d", "version": 1, "tables": { "t": { "unit": { "parent": "p" } }, "p": {} } }"#
    let explained = """
      { "$schema": "x", "comment": "a", "dataset": "d", "version": 1, "attachments": { "comment": "b" },
        "tables": { "t": { "comment": "c", "unit": { "parent": "p", "comment": "d" },
          "references": { "q": { "table": "p", "comment": "e" } } }, "p": {} } }
      """
    let (one, other) = (
      try DatasetDefinition(json: Array(plain.utf8)), try DatasetDefinition(json: Array(explained.utf8))
    )
    #expect(one.tables.map(\.unit) == other.tables.map(\.unit) && one.attachments == other.attachments)
  }
}
