import SatchelJSON
import Testing

/// Visits refer to a UNIQUE column of trees that is not the primary key. The tests change values in that column.
@Suite("Changes of a value to which rows refer")
struct ReferredValueTests {
  enum Declaration: CaseIterable { case schema, dataset }

  private func survey(_ declaration: Declaration) throws -> TreeFixture {
    let tree = "INSERT INTO trees VALUES (1, 'oak', 'Oak');"
    let survey =
      switch declaration {
      case .dataset: try TreeFixture(TreeFixture.named + tree, trees: "", visits: TreeFixture.toNames)
      case .schema:
        try TreeFixture(
          TreeFixture.named.replacing("tree TEXT", with: "tree TEXT REFERENCES trees (uuid)") + tree, trees: "",
          visits: "")
      }
    try survey.camp.round(["tablet", "phone"])
    return survey
  }

  /// The names of trees, each with the references of its visits.
  private func references(_ camp: CommandLineFixture, _ database: String) throws -> String {
    try camp.rows(database, "SELECT t.uuid, v.tree FROM visits AS v JOIN trees AS t ON t.uuid = v.tree")
  }

  @Test(
    "a value to which others' rows refer stays, and comes back to its device", arguments: Declaration.allCases,
    [true, false])
  func change(declaration: Declaration, importsFirst: Bool) throws {
    let survey = try survey(declaration)
    let camp = survey.camp
    try camp.sql("phone/data.sqlite", "INSERT INTO visits VALUES (1, 'oak', 'seen')")
    try camp.sql("tablet/data.sqlite", "UPDATE trees SET uuid = 'elm', name = 'Elm'")
    try camp.round(["phone"])
    if importsFirst { try camp.answer("tablet") }
    try camp.round(["tablet", "phone"])
    for database in TreeFixture.databases {
      #expect(try references(camp, database) == "oak|oak", "\(database)")
    }
    #expect(try survey.conflicts("office.sqlite") == "trees|foreign key|open")
    #expect(try survey.conflicts("tablet/data.sqlite") == "trees|foreign key|open")
    let id = try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts")
    let refused = camp.hub("conflicts", "resolve", id, "--keep", "device")
    #expect(refused.code == 1 && refused.error.contains("There are rows of visits that refer to it."))
    #expect(try camp.rows("office.sqlite", "SELECT uuid FROM trees") == "oak")
    try camp.sql("office.sqlite", "UPDATE visits SET tree = NULL")
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "device").code == 0)
    try camp.round(["tablet", "phone"])
    for database in TreeFixture.databases { #expect(try camp.rows(database, "SELECT uuid FROM trees") == "elm") }
  }

  @Test("a value that changes with all rows that refer to it is taken", arguments: Declaration.allCases)
  func together(declaration: Declaration) throws {
    let survey = try survey(declaration)
    let camp = survey.camp
    try camp.sql("phone/data.sqlite", "INSERT INTO visits VALUES (1, 'oak', 'seen')")
    try camp.round(["phone", "tablet"])
    try camp.sql("tablet/data.sqlite", "UPDATE trees SET uuid = 'elm'; UPDATE visits SET tree = 'ELM'")
    try camp.round(["tablet", "phone"])
    try expectEverywhere("elm|ELM", survey)
  }

  @Test("a value that is only spelled in another way is taken", arguments: Declaration.allCases)
  func spelling(declaration: Declaration) throws {
    let survey = try survey(declaration)
    let camp = survey.camp
    try camp.sql("phone/data.sqlite", "INSERT INTO visits VALUES (1, 'oak', 'seen')")
    try camp.sql("tablet/data.sqlite", "UPDATE trees SET uuid = 'OAK'")
    try camp.round(["phone", "tablet", "phone"])
    try expectEverywhere("OAK|oak", survey)
  }

  /// Expects the tree's name and its reference in all databases, and expects no conflict.
  private func expectEverywhere(_ expected: String, _ survey: TreeFixture) throws {
    for database in TreeFixture.databases {
      #expect(try references(survey.camp, database) == expected, "\(database)")
    }
    #expect(try survey.conflicts("office.sqlite") == "")
  }

  @Test("a bundle that gave a value to which rows refer by now is not taken back", arguments: Declaration.allCases)
  func revert(declaration: Declaration) throws {
    let survey = try survey(declaration)
    let camp = survey.camp
    try camp.sql("tablet/data.sqlite", "UPDATE trees SET uuid = 'elm'")
    try camp.round(["tablet", "phone"])
    try camp.sql("phone/data.sqlite", "INSERT INTO visits VALUES (1, 'elm', 'seen')")
    try camp.deliver("phone")
    #expect(camp.hub("revert", "tablet/2").code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT uuid FROM trees") == "elm")
    #expect(try survey.conflicts("office.sqlite") == "trees|foreign key|open")
  }
}
