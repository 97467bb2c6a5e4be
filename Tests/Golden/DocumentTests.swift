import Foundation
import Testing

private let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

@Test("every test that docs/SECURITY.md names is there")
func namedTests() throws {
  let page = try String(contentsOf: root.appending(path: "docs/SECURITY.md"), encoding: .utf8)
  let threats = try #require(page.components(separatedBy: "## Threats").last).components(separatedBy: "\n## ")[0]
  let names = threats.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2).map {
    $0.split(separator: "|").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
  }
  #expect(names.count > 20)
  let tests = try #require(FileManager.default.enumerator(atPath: root.appending(path: "Tests").path)).compactMap {
    $0 as? String
  }
  let sources = try tests.filter { $0.hasSuffix(".swift") }
    .map { try String(contentsOf: root.appending(path: "Tests/\($0)"), encoding: .utf8) }
  for name in names { #expect(sources.contains { $0.contains("\"\(name)\"") }, "\(name)") }
}
