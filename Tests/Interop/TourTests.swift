import Foundation
import TestSupport
import Testing

@Suite("The documents' tours")
struct TourTests {
  /// The folder of the tools, which is the folder of the tests' program.
  private static let tools = Bundle.main.executableURL?.deletingLastPathComponent().path ?? ""
  private static let top = PackageFolder.url.path

  @Test(
    "the commands in a document do what it says, as they are printed",
    arguments: [
      "README.md", "docs/GEOPACKAGE.md", "docs/guides/operator.md", "docs/guides/field-user.md",
      "docs/guides/developer.md", "docs/guides/docking.md", "docs/guides/carriers.md",
      "docs/guides/migrations.md", "docs/guides/scopes.md", "docs/guides/window.md",
    ])
  func tour(document: String) throws {
    let done = try StockTool.bash.run(["scripts/tour.sh", Self.tools, document], in: Self.top)
    #expect(done.status == 0, "\(done.text)\(done.complaint)")
    #expect(!done.complaint.lowercased().contains("warning"), "\(done.complaint)")
    if document.hasSuffix("GEOPACKAGE.md") {
      #expect(done.lines.filter { $0.hasPrefix("Feature Count: ") } == ["Feature Count: 1", "Feature Count: 3"])
      #expect(
        done.lines.filter { $0.hasPrefix("Extent: ") }.last == "Extent: (16.900000, 49.360000) - (17.400000, 49.500000)"
      )
    }
  }

  @Test("the demonstration of the README plays to its end, and its own check finds every row in its place")
  func demonstration() throws {
    let folder = try TemporaryFolder()
    let done = try StockTool.bash.run(["scripts/demo.sh", folder("demo"), Self.tools], in: Self.top)
    #expect(done.status == 0, "\(done.text)\(done.complaint)")
    #expect(done.text.contains("Everything is as it should be."))
  }

  @Test("each recipe plays to its end, in seconds", arguments: ["survey", "qfield", "clinic", "ship"])
  func recipe(name: String) throws {
    let folder = try TemporaryFolder()
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    var done: ToolResult?
    let time = try ContinuousClock().measure {
      done = try runProgram(
        at: "/usr/bin/env", ["PATH=\(Self.tools):\(path)", "\(Self.top)/examples/recipes/\(name).sh"], in: folder.path)
    }
    let result = try #require(done)
    #expect(result.status == 0 && result.text.contains("So it is: "), "\(result.text)\(result.complaint)")
    // Another test may use the processor at the same time. So three times the allowed time is accepted.
    #expect(time < .seconds(15), "\(time)")
  }

  @Test("no recipe is forgotten")
  func recipes() throws {
    let scripts = try FileManager.default.contentsOfDirectory(atPath: Self.top + "/examples/recipes").filter {
      $0.hasSuffix(".sh")
    }
    #expect(Set(scripts) == ["survey.sh", "qfield.sh", "clinic.sh", "ship.sh", "expect.sh"])
  }
}
