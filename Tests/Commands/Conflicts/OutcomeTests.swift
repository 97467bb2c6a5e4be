import Testing

/// How the import on a device explains the result of a change that was in conflict at the hub.
@Suite("The outcome of a change that met another one")
struct OutcomeTests {
  @Test(
    "the import says whose value counts, or that a person decides",
    arguments: [
      ("a", "your value counts."), ("b", "the office's value counts."), ("c", "the office decides."),
    ])
  func outcome(column: String, words: String) throws {
    let camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE trees (id TEXT PRIMARY KEY, a TEXT, b TEXT, c TEXT);
      INSERT INTO trees VALUES ('oak', '0', '0', '0');
      """,
      CommandLineFixture.definition(
        #"{ "trees": { "columns": { "a": "device", "b": "hub", "c": "manual" } } }"#), devices: ["tablet"])
    try camp.sql("tablet/data.sqlite", "UPDATE trees SET \(column) = 'field'")
    try camp.sql("office.sqlite", "UPDATE trees SET \(column) = 'office'")
    let stick = camp.path("stick")
    try camp.makeFolder("stick")
    #expect(camp.device("tablet", "sync", stick).code == 0)
    #expect(camp.hub("sync", stick).code == 0)
    let outcome = camp.device("tablet", "sync", stick)
    #expect(outcome.out.contains("1 change of yours met another one at the hub: \(words)"), "\(outcome.out)")
    let value = try camp.rows("tablet/data.sqlite", "SELECT \(column) FROM trees")
    #expect(value == (column == "a" ? "field" : "office"))
  }
}
