import Foundation
import SatchelDataset
import Testing

private let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

@Test("every test that docs/SECURITY.md names is there")
func namedTests() throws {
  let page = try String(contentsOf: root.appending(path: "docs/SECURITY.md"), encoding: .utf8)
  let names = try ["## Threats", "## What a device's bundle may cost"].flatMap { title in
    let section = try #require(page.components(separatedBy: title).last).components(separatedBy: "\n## ")[0]
    let rows = section.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2)
    #expect(rows.count > 5)
    return rows.map { $0.split(separator: "|").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "" }
  }
  let tests = try #require(FileManager.default.enumerator(atPath: root.appending(path: "Tests").path)).compactMap {
    $0 as? String
  }
  let sources = try tests.filter { $0.hasSuffix(".swift") }
    .map { try String(contentsOf: root.appending(path: "Tests/\($0)"), encoding: .utf8) }
  for name in names { #expect(sources.contains { $0.contains("\"\(name)\"") }, "\(name)") }
}

@Test("the definition that docs/DESIGN.md shows is one")
func shownDefinition() throws {
  let page = try String(contentsOf: root.appending(path: "docs/DESIGN.md"), encoding: .utf8)
  let shown = page.components(separatedBy: "```json\n").dropFirst().compactMap {
    $0.components(separatedBy: "```").first
  }
  let definitions = shown.filter { $0.contains("\"dataset\"") }
  #expect(definitions.count == 1)
  for text in definitions { #expect(try DatasetDefinition(json: Array(text.utf8)).tables.count == 2) }
}
