import SatchelJSON
import TestSupport
import Testing

/// The member `prove` of a dataset decides which exports carry digests of rows. Requests for digests count too.
@Suite("When an export carries digests of rows")
struct ProofRuleTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  private func open(prove rule: String) throws {
    let definition = """
      { "dataset": "camp", "version": 1, "prove": \(rule), "tables": { "notes": {} } }
      """
    try camp.open("CREATE TABLE notes (id INTEGER PRIMARY KEY, words TEXT)", definition, devices: ["tablet"])
  }

  /// Writes a row on the tablet and exports. Returns whether the bundle has digests.
  private func export(_ words: String...) throws -> Bool {
    try camp.sql("tablet/data.sqlite", "INSERT INTO notes (words) VALUES ('new')")
    let outcome = camp.deviceAnywhere(["-C", camp.path("tablet"), "export", "--json"] + words)
    let file = try #require(try outcome.json["file"]?.stringValue, "\(outcome.error)")
    let entries = try StockTool.bash("-euc", "zstd -dc '\(file)' | tar -t", in: camp.root).lines
    let isThere = entries.contains("state.json")
    #expect(try (outcome.json["proof"]?.boolValue == true) == isThere)
    return isThere
  }

  @Test("with \"never\" an export has digests only if a person or a doctor that found nothing wrong requests them")
  func never() throws {
    try open(prove: #""never""#)
    #expect(try !export())
    #expect(try export("--prove"))
    #expect(try !export())
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    #expect(try export())
    #expect(try !export())
  }

  @Test("with \"always\" each export has digests")
  func always() throws {
    try open(prove: #""always""#)
    #expect(try export() && export())
  }

  @Test("with a number the first export has digests, and later an export that is so many behind the last such export")
  func counted() throws {
    try open(prove: "3")
    #expect(try [export(), export(), export(), export()] == [true, false, false, true])
    // A requested export with digests counts like any other.
    #expect(try [export("--prove"), export(), export(), export()] == [true, false, false, true])
  }

  @Test("the first export after each full bundle has digests")
  func afterFullBundle() throws {
    try open(prove: "3")
    #expect(try [export(), export()] == [true, false])
    #expect(camp.hub("import", try camp.export("tablet")).code == 0)
    try camp.answer("tablet", full: true)
    #expect(try [export(), export()] == [true, false])
  }
}
