import Foundation
import TestSupport
import Testing

@Suite("The documents' tours")
struct TourTests {
  /// The tools lie beside the tests' own program.
  private static let tools = Bundle.main.executableURL?.deletingLastPathComponent().path ?? ""
  private static let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  @Test(
    "the commands in a document do what it says, as they are printed",
    arguments: ["README.md", "docs/GEOPACKAGE.md", "docs/guides/operator.md"])
  func tour(document: String) throws {
    let done = try StockTool.bash.run(["scripts/tour.sh", Self.tools, document], in: Self.top)
    #expect(done.status == 0, "\(done.text)\(done.complaint)")
    #expect(!done.complaint.lowercased().contains("warning"), "\(done.complaint)")
    if document.hasSuffix("GEOPACKAGE.md") {
      #expect(done.lines.filter { $0.hasPrefix("Feature Count: ") } == ["Feature Count: 1", "Feature Count: 3"])
      #expect(done.lines.filter { $0.hasPrefix("Extent: ") }.last == "Extent: (16.900000, 49.360000) - (17.400000, 49.500000)")
    }
  }
}
