import Foundation
import TestSupport
import Testing

/// The model of the protocol, which `make histories` plays for any time.
@Suite("The protocol's model")
struct ModelTests {
  private static let script = PackageFolder.file("Tests/Model/histories.py").path

  @Test("random histories of hubs that go back, lost databases, copies and other users converge, and nothing is lost")
  func histories() throws {
    let result = try StockTool.python3.run([Self.script, "400"], in: "/")
    #expect(result.status == 0, "\(result.text)\(result.complaint)")
    #expect(result.text.contains("400 histories: all converged, and nothing was lost"))
  }

  @Test("leaving a rule out is detected", arguments: ["received", "sealed", "copies", "unseen", "lost"])
  func rule(name: String) throws {
    let result = try StockTool.python3.run([Self.script, "150", "--without", name], in: "/")
    #expect(result.status == 1, "\(result.text)\(result.complaint)")
  }
}
