import SatchelJSON
import Testing

/// People do not know primary keys. Therefore a conflict shows the row's label, such as a name.
@Suite("The labels of rows in conflicts")
struct RowLabelTests {
  private let world: TwoDeviceFixture
  private var camp: CommandLineFixture { world.camp }

  init() throws {
    world = try TwoDeviceFixture(
      """
      CREATE TABLE wells (id INTEGER PRIMARY KEY, name TEXT, depth REAL);
      CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT)
      """,
      #""wells": { "label": "name" }, "notes": {}"#)
    try world.sql(
      "office", "INSERT INTO wells VALUES (7, 'Old mill', 12), (8, 'Church', 9); INSERT INTO notes VALUES ('n', 'a')")
    try world.answer("tablet")
  }

  /// Both sides change the same row, so that a conflict is open.
  private func disagree(_ device: String, _ office: String) throws {
    try world.sql("tablet", device)
    try world.sql("office", office)
    try world.deliver("tablet")
  }

  @Test("a list, one conflict, CSV and JSON have the label of the row as it is now, although another column differs")
  func label() throws {
    try disagree(
      "UPDATE wells SET depth = 13 WHERE id = 7", "UPDATE wells SET depth = 14, name = 'New mill' WHERE id = 7")
    #expect(camp.hub("conflicts").out.contains("wells [7] New mill"))
    let conflict = try #require(try world.conflicts().first)
    #expect(conflict["label"]?.stringValue == "New mill")
    let id = try #require(conflict["id"]?.stringValue)
    let shown = camp.hub("conflicts", "show", id).out
    #expect(shown.contains("wells [7] New mill: both sides changed the same column"), "\(shown)")
    let lines = camp.hub("conflicts", "export").out.split(whereSeparator: \.isNewline)
    #expect(lines.first?.hasSuffix(",label") == true)
    #expect(lines.last?.hasSuffix(",New mill") == true)
    #expect(camp.hub("report", camp.path("r.html"), camp.path("r.csv")).code == 0)
    for report in ["r.html", "r.csv"] {
      let text = String(decoding: try camp.read(report), as: UTF8.self)
      #expect(text.contains("wells [7] New mill"), "\(report)")
    }
    try world.answer("tablet")
    #expect(camp.device("tablet", "conflicts", "--all").out.contains("wells [7] New mill"))
  }

  @Test("if the row is gone, a value of one of the sides is the label")
  func goneRow() throws {
    try disagree("UPDATE wells SET name = 'Mill pond', depth = 2 WHERE id = 7", "DELETE FROM wells WHERE id = 7")
    #expect(camp.hub("conflicts").out.contains("wells [7] Mill pond"))
  }

  @Test("if the row is gone and no side names it, the hub knows the label from its log")
  func goneRowOfLog() throws {
    try disagree("UPDATE wells SET depth = 2 WHERE id = 7", "DELETE FROM wells WHERE id = 7")
    #expect(camp.hub("conflicts").out.contains("wells [7] Old mill"))
  }

  @Test("a table without a label shows the key alone")
  func noLabel() throws {
    try disagree("UPDATE notes SET words = 'b'", "UPDATE notes SET words = 'c'")
    #expect(camp.hub("conflicts").out.contains("notes [n]\n"))
    #expect(try world.conflicts().first?["label"] == .null)
  }

  @Test("a label cannot command the terminal")
  func hostileLabel() throws {
    try disagree(
      "UPDATE wells SET depth = 13 WHERE id = 7", "UPDATE wells SET depth = 14, name = char(27) || '[2J' WHERE id = 7")
    #expect(!camp.hub("conflicts").out.contains("\u{1b}"))
  }

  @Test("a label that is no column of the table is refused, with the column that was probably meant")
  func unknownColumn() throws {
    try camp.sql("other.sqlite", "CREATE TABLE wells (id INTEGER PRIMARY KEY, name TEXT)")
    try camp.write(
      "bad.json", #"{ "dataset": "camp", "version": 1, "tables": { "wells": { "label": "nme" } } }"#)
    let outcome = camp.hubAnywhere("dataset", "check", camp.path("bad.json"), camp.path("other.sqlite"))
    #expect(outcome.code != 0)
    #expect(outcome.error.contains("tables.wells.label"), "\(outcome.error)")
    #expect(outcome.error.contains("Did you mean \"name\"?"), "\(outcome.error)")
  }
}
