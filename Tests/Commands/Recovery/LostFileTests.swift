import SatchelJSON
import Testing

@Suite("Files that are gone from a device")
struct LostFileTests: PhotoStory {
  let camp: CommandLineFixture

  init() throws { camp = try Self.openCamp() }

  @Test("a file that a user deleted is asked for by the next export, and comes again with the hub's next bundle, once")
  func deleted() throws {
    try photo("lake.jpg", in: "hub", "a lake")
    try review("r1", "lake", "lake.jpg", in: "office.sqlite")
    try camp.carry("tablet", rounds: 3)
    #expect(content("lake.jpg", in: "tablet") == "a lake")
    #expect(try files("tablet")["lost"] == 0)
    try camp.remove("tablet/files/lake.jpg")
    #expect(try (files("tablet")["lost"], files("tablet")["not_asked"]) == (1, 1))
    let status = camp.device("tablet", "status").out
    #expect(status.contains("the next export asks for them") && status.contains("Next: satchel sync DIR"))
    let asked = camp.device("tablet", "export")
    #expect(asked.out.contains("0 changes.\nIt requests 1 file that is missing from files/ here.\n"), "\(asked.out)")
    #expect(camp.device("tablet", "status").out.contains("an export asked for them"))
    #expect(try camp.device("tablet", "export", "--json").json["new"] == false)
    let file = try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-")
    #expect(camp.hub("import", file).out.contains("It asks for 1 file that is gone there.\n"))
    #expect(try camp.hub("emit", "--device", "tablet", "--json").json["emissions"]?.arrayValue?.first?["files"] == 1)
    camp.device("tablet", "import", try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-"))
    #expect(content("lake.jpg", in: "tablet") == "a lake")
    #expect(try files("tablet")["lost"] == 0)
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.hub("emit", "--device", "tablet", "--json").json["emissions"]?.arrayValue?.first?["new"] == false)
    #expect(try camp.device("tablet", "export", "--json").json["new"] == false)
    #expect(try files("hub")["waiting"]?.arrayValue?.contains { $0["device"] == "tablet" } == false)
  }

  @Test(
    "a new card: what the device took itself and delivered comes back too, and what it never delivered is not asked for"
  )
  func newCard() throws {
    try photo("lake.jpg", in: "hub", "a lake")
    try review("r1", "lake", "lake.jpg", in: "office.sqlite")
    try photo("oak.jpg", in: "tablet", "an oak")
    try review("r2", "lake", "oak.jpg", in: "tablet/data.sqlite")
    try camp.carry("tablet", rounds: 2)
    try photo("elm.jpg", in: "tablet", "an elm")
    try review("r3", "lake", "elm.jpg", in: "tablet/data.sqlite")
    try camp.remove("tablet/files")
    let status = try files("tablet")
    #expect((status["lost"], status["missing"]?.arrayValue?.count) == (2, 3))
    try camp.carry("tablet")
    #expect((content("lake.jpg", in: "tablet"), content("oak.jpg", in: "tablet")) == ("a lake", "an oak"))
    #expect(content("elm.jpg", in: "tablet") == nil)
  }

  @Test("an export that asks and is lost is made up for by the next one, and asking twice brings nothing twice")
  func askedTwice() throws {
    try photo("lake.jpg", in: "hub", "a lake")
    try review("r1", "lake", "lake.jpg", in: "office.sqlite")
    camp.answer("tablet", 2)
    camp.deliver("tablet", 1)
    try camp.remove("tablet/files/lake.jpg")
    camp.device("tablet", "export")
    try camp.sql("tablet/data.sqlite", "INSERT INTO sites VALUES ('moor', 1)")
    // Export 2, which requests the file, has not arrived. Export 3 requests it again. While the hub's answer is on its
    // way, export 4 requests it once more.
    camp.deliver("tablet", 3)
    camp.hub("emit", "--device", "tablet")
    #expect(try blobs(emission(3, for: "tablet")) == 1)
    try camp.sql("tablet/data.sqlite", "INSERT INTO sites VALUES ('fen', 1)")
    camp.device("tablet", "export")
    camp.device("tablet", "import", camp.path(emission(3, for: "tablet")))
    camp.deliver("tablet", 5)
    // Exports 2 and 4 arrive late. They are overtaken, so the hub ignores their requests.
    for late in [2, 4] { camp.hub("import", camp.path("tablet/bundles/sent/camp-tablet-hub-\(late).satchel")) }
    camp.answer("tablet", 4)
    #expect(try blobs(emission(4, for: "tablet")) == 0)
    #expect(content("lake.jpg", in: "tablet") == "a lake")
  }

  @Test("a file whose row left the user's sight meanwhile does not come back")
  func outOfScope() throws {
    try photo("lake.jpg", in: "hub", "a lake")
    try review("r1", "lake", "lake.jpg", in: "office.sqlite")
    camp.answer("tablet", 2)
    try camp.remove("tablet/files/lake.jpg")
    camp.deliver("tablet", 1)
    try camp.sql("office.sqlite", "UPDATE reviews SET site = 'cave'")
    camp.answer("tablet", 3)
    #expect(try blobs(emission(3, for: "tablet")) == 0)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM reviews") == "0")
    #expect(try files("tablet")["lost"] == 0)
  }

  @Test("who asks for a file that this device never had does not get it")
  func guessing() throws {
    try photo("cave.jpg", in: "hub", "a secret")
    try review("r1", "cave", "cave.jpg", in: "office.sqlite")
    try review("r2", "lake", "cave.jpg", in: "tablet/data.sqlite")
    try camp.sql(
      "tablet/data.sqlite",
      """
      INSERT INTO satchel_attachments (path, sent, delivered, leaving, asked) VALUES ('cave.jpg', 0, 1, 0, 0)
      """)
    let asked = try camp.device("tablet", "export", "--json").json
    #expect(asked["files_lost"] == 1)
    camp.hub("import", camp.path(export(1)))
    camp.answer("tablet", 2)
    #expect(try blobs(emission(2, for: "tablet")) == 0)
    #expect(content("cave.jpg", in: "tablet") == nil)
  }
}
