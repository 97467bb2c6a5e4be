import Testing

/// The hub finds the same conflicts in a device's export, whether the export arrives before or after a new epoch
/// begins.
@Suite("Exports before and after a new epoch begins")
struct EpochOrderTests {
  /// The writes of the device and the office, and the expected result.
  struct Meeting: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let rules: String
    /// The office's writes. The hub logs each write before the next one.
    let office: [String]
    let device: String
    var knowsOffice = false
    /// An earlier write on the device that capture does not record.
    var unseen: String?
    /// The expected rows and conflicts at the hub.
    let result: String
  }

  private static let meetings = [
    Meeting(
      testDescription: "rows are merged as a whole, and each side changed another column",
      rules: #""conflict": "manual", "merge": "row""#, office: ["UPDATE things SET a = 'office' WHERE id = 1"],
      device: "UPDATE things SET b = 'device' WHERE id = 1", result: "1|office|-|0|update/update open"),
    Meeting(
      testDescription: "rows are merged as a whole, and no policy mixes them",
      rules: #""conflict": "newest", "merge": "row""#, office: ["UPDATE things SET a = 'office' WHERE id = 1"],
      device: "UPDATE things SET b = 'device' WHERE id = 1", result: "1|office|-|0|update/update open"),
    Meeting(
      testDescription: "rows are merged as a whole, and both sides wrote the same",
      rules: #""conflict": "manual", "merge": "row""#,
      office: ["UPDATE things SET a = 'office', b = 'both' WHERE id = 1"],
      device: "UPDATE things SET b = 'both' WHERE id = 1", result: "1|office|both|0|"),
    Meeting(
      testDescription: "rows are merged as a whole, and the device had the office's change",
      rules: #""conflict": "manual", "merge": "row""#, office: ["UPDATE things SET a = 'office' WHERE id = 1"],
      device: "UPDATE things SET b = 'device' WHERE id = 1", knowsOffice: true, result: "1|office|device|0|"),
    Meeting(
      testDescription: "columns are merged, and each side changed another column", rules: #""conflict": "manual""#,
      office: ["UPDATE things SET a = 'office' WHERE id = 1"], device: "UPDATE things SET b = 'device' WHERE id = 1",
      result: "1|office|device|0|"),
    Meeting(
      testDescription: "the office changed a value there and back", rules: #""conflict": "manual""#,
      office: ["UPDATE things SET a = 'office' WHERE id = 1", "UPDATE things SET a = '-' WHERE id = 1"],
      device: "UPDATE things SET a = 'device' WHERE id = 1", result: "1|-|-|0|update/update open"),
    Meeting(
      testDescription: "the device deleted a row that the office changed there and back",
      rules: #""conflict": "manual""#,
      office: ["UPDATE things SET a = 'office' WHERE id = 1", "UPDATE things SET a = '-' WHERE id = 1"],
      device: "DELETE FROM things WHERE id = 1", result: "1|-|-|0|delete/update open"),
    Meeting(
      testDescription: "no other side changed the value, and the device started from a value that the hub never had",
      rules: #""conflict": "manual""#, office: [], device: "UPDATE things SET a = 'device' WHERE id = 1",
      unseen: "UPDATE things SET a = 'unseen' WHERE id = 1", result: "1|device|-|0|"),
    Meeting(
      testDescription: "both sides counted", rules: #""columns": { "n": "sum" }"#,
      office: ["UPDATE things SET n = n + 2 WHERE id = 1"], device: "UPDATE things SET n = n + 5 WHERE id = 1",
      result: "1|-|-|7|"),
    Meeting(
      testDescription: "the office marked a row as deleted that the device changed",
      rules: #""conflict": "manual", "delete": "soft", "deleted": "n""#,
      office: ["UPDATE things SET n = 1 WHERE id = 1"], device: "UPDATE things SET a = 'device' WHERE id = 1",
      result: "1|-|-|1|update/delete open"),
    Meeting(
      testDescription: "the device made a row with the key of a row that the office made and deleted",
      rules: #""conflict": "manual""#,
      office: ["INSERT INTO things VALUES (2, 'office', '-', 0)", "DELETE FROM things WHERE id = 2"],
      device: "INSERT INTO things VALUES (2, 'device', '-', 0)", result: "1|-|-|0|update/delete open"),
  ]

  @Test("a disagreement that the log shows is found in either order", arguments: meetings, [false, true])
  func sameDisagreement(meeting: Meeting, isEpochFirst: Bool) throws {
    let camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE things (id INTEGER PRIMARY KEY, a TEXT, b TEXT, n INTEGER NOT NULL DEFAULT 0);
      INSERT INTO things VALUES (1, '-', '-', 0);
      """, CommandLineFixture.definition(#"{ "things": { \#(meeting.rules) } }"#), devices: ["tablet", "phone"])
    for write in meeting.office {
      try camp.sql("office.sqlite", write)
      try camp.answer(meeting.knowsOffice ? "tablet" : "phone")
    }
    if let unseen = meeting.unseen { try camp.writeUnseen("tablet/data.sqlite", unseen) }
    camp.awaitLaterTime()
    try camp.sql("tablet/data.sqlite", meeting.device)
    let export = try camp.export("tablet")
    if isEpochFirst { #expect(camp.hub("restore", "--in-place").code == 0) }
    let imported = camp.hub("import", export)
    #expect(imported.code == 0, "\(imported.error)")
    let rows = try camp.rows("office.sqlite", "SELECT id, a, b, n FROM things ORDER BY id")
    let conflicts = try camp.rows("office.sqlite", "SELECT kind || ' ' || state FROM satchel_conflicts")
    #expect("\(rows)|\(conflicts)" == meeting.result)
  }
}
