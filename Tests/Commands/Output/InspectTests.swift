import SatchelCommands
import SatchelJSON
import TestSupport
import Testing

@Suite("The output of inspect")
struct InspectTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE reviews SET stars = 2, words = 'loud' || char(27) || '[31m' WHERE id = 'r1';
      INSERT INTO reviews VALUES ('r7', 'hill', 'ann', 5, NULL);
      """)
    camp.device("tablet", "export")
  }

  private var file: String { camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel") }

  @Test("who, whom, when, and what changed by table")
  func summary() {
    let shown = camp.hub("inspect", file).out
    for word in ["tablet", "hub", "Sequence", "ann", "Made", "Signed by", "reviews"] {
      #expect(shown.contains(word), "\(word)")
    }
    #expect(!shown.contains("stars"))
  }

  @Test("the rows as a difference that people can read, in which nothing commands the terminal")
  func rows() {
    let shown = camp.hub("inspect", "--rows", file).out
    #expect(shown.contains("~ reviews [r1]\n  - stars: 4\n  + stars: 2\n  - words: quiet\n  + words: loud"))
    #expect(shown.contains("+ reviews [r7]\n  + id: r7\n"))
    #expect(!shown.contains("\u{1B}"))
  }

  @Test("the rows for programs")
  func json() throws {
    let rows = try #require(try camp.hub("inspect", "--rows", "--json", file).json["rows"]?.arrayValue)
    #expect(rows.count == 2)
    let update = try #require(rows.first { $0["op"]?.stringValue == "update" })
    #expect(update["set"]?["stars"]?.integerValue == 2 && update["was"]?["stars"]?.integerValue == 4)
    #expect(update["key"]?.arrayValue?.first?.stringValue == "r1")
  }
}
