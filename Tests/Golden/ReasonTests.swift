import Foundation
import SatchelValues
import TestSupport
import Testing

@Suite("The words by which programs recognise failures")
struct ReasonTests {
  @Test("docs/JSON.md lists each word, and no other")
  func documented() throws {
    let page = try String(contentsOf: PackageFolder.file("docs/JSON.md"), encoding: .utf8)
    let section = try #require(page.components(separatedBy: "\n## Reasons\n").last).components(separatedBy: "\n## ")[0]
    let words = section.components(separatedBy: "\n").filter { $0.hasPrefix("| `") }.dropFirst().map {
      String($0.dropFirst(3).prefix { $0 != "`" })
    }
    #expect(words.count > 100)
    #expect(words == words.sorted())
    #expect(Set(words).count == words.count)
    #expect(Set(words) == Set(Reason.allCases.map(\.rawValue)))
  }

  @Test("each word has a place in the code that gives it")
  func used() throws {
    let sources = PackageFolder.file("Sources")
    let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
    var code = ""
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift", file.lastPathComponent != "Reason.swift" else { continue }
      code += try String(contentsOf: file, encoding: .utf8)
    }
    let names = Set(code.matches(of: /\.([a-zA-Z]+)/).map { String($0.1) })
    for reason in Reason.allCases { #expect(names.contains("\(reason)"), "\(reason)") }
  }
}
