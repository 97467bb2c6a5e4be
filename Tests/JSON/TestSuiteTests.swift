import Foundation
import SatchelJSON
import TestSupport
import Testing

/// The texts of nst/JSONTestSuite. They are kept beside the repository.
private enum Suite {
  static let folder = PackageFolder.data("jsontestsuite/test_parsing")

  /// Texts with duplicate members. RFC 8259 allows them, but Satchel refuses them, because readers differ about which
  /// member counts.
  static let duplicates: Set = ["y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"]

  static func files() throws -> [URL] {
    let found = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return try #require(found, "the JSON test suite is missing: expected it in \(folder.path)")
  }
}

@Test("every text of the JSON test suite gets its verdict, from the parser and from a scanner that skips")
func testSuite() throws {
  let files = try Suite.files()
  #expect(files.count >= 318)
  for file in files {
    let name = file.lastPathComponent
    let bytes = [UInt8](try Data(contentsOf: file))
    let parses = (try? JSONValue.parse(bytes)) != nil
    var scanner = JSONScanner(bytes)
    let skips: Bool
    do {
      try scanner.skipValue()
      try scanner.finish()
      skips = true
    } catch { skips = false }
    if Suite.duplicates.contains(name) {
      #expect(!parses && skips, "\(name)")
    } else {
      #expect(parses == skips, "\(name)")
      if name.hasPrefix("y_") { #expect(parses, "\(name)") }
      if name.hasPrefix("n_") { #expect(!parses, "\(name)") }
    }
  }
}

@Test("texts that the suite leaves open are refused, except a real that rounds to zero")
func openCases() throws {
  let accepted = try Suite.files().filter { $0.lastPathComponent.hasPrefix("i_") }.filter {
    (try? JSONValue.parse([UInt8](Data(contentsOf: $0)))) != nil
  }.map(\.lastPathComponent)
  #expect(accepted.sorted() == ["i_number_double_huge_neg_exp.json", "i_number_real_underflow.json"])
}

@Test("a text's meaning survives writing it, compact and pretty")
func rewriting() throws {
  for file in try Suite.files() {
    guard let value = try? JSONValue.parse([UInt8](try Data(contentsOf: file))) else { continue }
    #expect(try JSONValue.parse(value.compactBytes) == value, "\(file.lastPathComponent)")
    #expect(try JSONValue.parse(value.prettyBytes) == value, "\(file.lastPathComponent)")
  }
}
