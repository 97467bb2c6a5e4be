import Foundation
import SatchelDataset
import TestSupport
import Testing

@Test("every test that docs/SECURITY.md names is there")
func namedTests() throws {
  let page = try String(contentsOf: PackageFolder.file("docs/SECURITY.md"), encoding: .utf8)
  let names = try ["## Threats", "## What a device's bundle may cost"].flatMap { title in
    let section = try #require(page.components(separatedBy: title).last).components(separatedBy: "\n## ")[0]
    let rows = section.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2)
    #expect(rows.count > 5)
    return rows.map { $0.split(separator: "|").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "" }
  }
  let sources = try testSources().map { withWholeTexts($0.text) }
  for name in names { #expect(sources.contains { $0.contains("\"\(name)\"") }, "\(name)") }
}

/// The path and the text of each Swift file below `Tests`.
private func testSources() throws -> [(path: String, text: String)] {
  let files = try #require(FileManager.default.enumerator(atPath: PackageFolder.file("Tests").path))
  return try files.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    .map { ($0, try String(contentsOf: PackageFolder.file("Tests/\($0)"), encoding: .utf8)) }
}

@Test("`make histories` plays every suite of random histories")
func suitesOfHistories() throws {
  let makefile = try String(contentsOf: PackageFolder.file("Makefile"), encoding: .utf8)
  let rest = try #require(makefile.components(separatedBy: "\nHISTORY_TESTS = ").last)
  let list = rest.components(separatedBy: "\n\n")[0]
  let suites = try testSources().filter { $0.path.hasSuffix("Tests.swift") && $0.text.contains(#/historySeeds\(/#) }
    .compactMap { $0.path.dropLast(".swift".count).split(separator: "/").last }
  for suite in suites { #expect(list.contains(suite), "\(suite)") }
  #expect(suites.count > 7)
}

/// Source code in which each string of several lines is put on one line.
private func withWholeTexts(_ source: String) -> String {
  source.replacingOccurrences(of: #"\\\n\s*"#, with: "", options: .regularExpression)
    .replacingOccurrences(of: #""""\n\s*([\s\S]*?)\n\s*""""#, with: "\"$1\"", options: .regularExpression)
}

@Test("the definition that docs/DESIGN.md shows is one")
func shownDefinition() throws {
  let page = try String(contentsOf: PackageFolder.file("docs/DESIGN.md"), encoding: .utf8)
  let shown = page.components(separatedBy: "```json\n").dropFirst().compactMap {
    $0.components(separatedBy: "```").first
  }
  let definitions = shown.filter { $0.contains("\"dataset\"") }
  #expect(definitions.count == 1)
  for text in definitions { #expect(try DatasetDefinition(json: Array(text.utf8)).tables.count == 2) }
}

/// The Markdown files at the root, in `docs`, and beside the bundles and recipes, with their text.
private func documents() throws -> [(path: String, text: String)] {
  let folders = ["", "docs", "docs/decisions", "docs/guides", "bundles", "examples/recipes"]
  return try folders.flatMap { folder in
    try FileManager.default.contentsOfDirectory(atPath: PackageFolder.file(folder).path)
      .filter { $0.hasSuffix(".md") }
      .map { name in
        let path = folder.isEmpty ? name : "\(folder)/\(name)"
        return (path, try String(contentsOf: PackageFolder.file(path), encoding: .utf8))
      }
  }
}

@Test("every link between the documents leads to a file")
func links() throws {
  var count = 0
  for (path, text) in try documents() {
    for match in text.matches(of: #/\]\(([^)#\s]+)[^)]*\)/#) where !match.1.contains("://") {
      let target = PackageFolder.file(path).deletingLastPathComponent().appending(path: String(match.1))
      #expect(FileManager.default.fileExists(atPath: target.standardized.path), "\(path): \(match.1)")
      count += 1
    }
  }
  #expect(count > 30)
}

/// The text of all Swift files below `Sources`, as one text.
private func sources() throws -> String {
  let folder = PackageFolder.file("Sources")
  let files = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
  return try files.filter { $0.hasSuffix(".swift") }
    .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined()
}

@Test("docs/TABLES.md names every table that Satchel makes, and no other")
func tables() throws {
  let page = try String(contentsOf: PackageFolder.file("docs/TABLES.md"), encoding: .utf8)
  let listed = Set(page.matches(of: #/`(satchel_[a-z_]+)(?:_T)?`/#).map { String($0.1) })
  let code = try sources()
  let made = Set(code.matches(of: #/CREATE TABLE (satchel_[a-z_]+) \(/#).map { String($0.1) })
  #expect(made.count > 20)
  #expect(made.subtracting(listed) == [])
  for name in listed.subtracting(made) where name != "satchel_" { #expect(code.contains(name), "\(name)") }
}

@Test("the glossary explains the words that the screens show")
func glossary() throws {
  let page = try String(contentsOf: PackageFolder.file("docs/GLOSSARY.md"), encoding: .utf8)
  let screens = try #require(page.components(separatedBy: "\n## Words of the screens").last)
  let labels = screens.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2)
    .flatMap { $0.split(separator: "|")[0].split(separator: ",") }
    .map { $0.trimmingCharacters(in: .whitespaces) }
    .filter { $0.first?.isUppercase ?? false }
  let code = try sources()
  #expect(labels.count > 10)
  for label in labels { #expect(code.contains("\"\(label)\""), "\(label)") }
}
