import Foundation
import SatchelJSON
import Testing

@Suite("Files that no row names any more")
struct UnnamedFileTests: PhotoStory {
  let camp: CommandLineFixture

  init() throws { camp = try Self.openCamp() }

  private func compact(_ words: String...) throws -> JSONValue {
    let outcome = camp.hubAnywhere(["-C", camp.path("hub"), "compact", "--json"] + words)
    #expect(outcome.code == 0, "\(outcome.error)")
    return try outcome.json
  }

  private func exchange() throws {
    for _ in 0..<2 { for device in ["tablet", "phone"] { try camp.carry(device) } }
  }

  private func share() throws {
    try photo("trees/oak.jpg", in: "tablet", String(repeating: "x", count: 3000))
    try review("r1", "lake", "trees/oak.jpg", in: "tablet/data.sqlite")
    try photo("elm.jpg", in: "hub", "an elm")
    try review("r2", "lake", "elm.jpg", in: "office.sqlite")
    // The office has copied this file into the folder, but no row names it yet.
    try photo("new.jpg", in: "hub", "not named yet")
    try exchange()
  }

  @Test(
    "compact removes a file once no row names it and every device is known to know that; a rehearsal counts"
  )
  func deletedRow() throws {
    try share()
    #expect(try compact()["attached"] == 0)
    try camp.sql("office.sqlite", "DELETE FROM reviews WHERE id = 'r1'")
    // No device has received the deletion yet, so a device may still name the file in another row. The hub keeps the
    // file.
    #expect(try compact()["attached"] == 0)
    try exchange()
    let before = try camp.everything()
    let rehearsal = camp.hub("compact", "--dry-run")
    #expect(rehearsal.out.contains("Would remove 1 file that no row names any more, 2 KiB.\n"), "\(rehearsal.out)")
    #expect(try camp.everything() == before)
    #expect(camp.hub("compact").out.contains("Removed 1 file that no row names any more, 2 KiB.\n"))
    #expect(!FileManager.default.fileExists(atPath: camp.path("hub/files/trees")))
    #expect((content("elm.jpg", in: "hub"), content("new.jpg", in: "hub")) == ("an elm", "not named yet"))
    #expect(try compact()["attached"] == 0)
    // A new file under the old name counts as another file.
    try photo("trees/oak.jpg", in: "hub", "another oak")
    try review("r3", "lake", "trees/oak.jpg", in: "office.sqlite")
    try exchange()
    for place in ["tablet", "phone"] { #expect(content("trees/oak.jpg", in: place) == "another oak") }
    for tool in [camp.hub("doctor"), camp.device("tablet", "doctor")] { #expect(tool.code == 0, "\(tool.out)") }
  }

  @Test("what a conflict names stays, whatever was decided")
  func conflict() throws {
    try share()
    try photo("mine.jpg", in: "tablet", "mine")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET photo = 'mine.jpg' WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE reviews SET photo = 'elm.jpg' WHERE id = 'r1'")
    try exchange()
    try exchange()
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts") == "1")
    #expect(try compact()["attached"] == 0)
    #expect((content("mine.jpg", in: "hub"), content("trees/oak.jpg", in: "hub") != nil) == ("mine", true))
  }

  @Test("a file that is kept beside another one stays as long as a row names that one")
  func beside() throws {
    for (place, words) in [("tablet", "ann's"), ("phone", "ben's")] {
      try photo("IMG_1.jpg", in: place, words)
      try review("r-\(place)", "lake", "IMG_1.jpg", in: "\(place)/data.sqlite")
      try camp.carry(place)
    }
    try exchange()
    #expect(try compact()["attached"] == 0)
    try camp.sql("office.sqlite", "DELETE FROM reviews")
    try exchange()
    try exchange()
    #expect(try compact()["attached"] == 2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("hub/files")).isEmpty)
  }

  @Test("as long as a bundle waits to be taken, all files stay, and compact says so")
  func waiting() throws {
    try share()
    try camp.sql("office.sqlite", "DELETE FROM reviews WHERE id = 'r1'")
    try exchange()
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r9', 'lake', 'trees/oak.jpg')")
    camp.device("tablet", "export")
    let bundle = try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-")
    let dropped = camp.path("hub/bundles/inbox/dropped.satchel")
    try FileManager.default.copyItem(atPath: bundle, toPath: dropped)
    let outcome = camp.hub("compact")
    #expect(outcome.out.contains("All of files/ stays. First settle 1 bundle"), "\(outcome.out)")
    camp.hub("import", dropped)
    #expect(try (compact()["attached"], compact()["attached_wait"]) == (0, 0))
    #expect(content("trees/oak.jpg", in: "hub") != nil)
  }

  @Test("a file that a person wrote again in the hub's folder belongs to that person, and stays")
  func rewritten() throws {
    try share()
    try camp.sql("office.sqlite", "DELETE FROM reviews WHERE id = 'r1'")
    try exchange()
    try photo("trees/oak.jpg", in: "hub", "for another purpose")
    #expect(try compact()["attached"] == 0)
    #expect(content("trees/oak.jpg", in: "hub") == "for another purpose")
  }

  @Test(
    "on a device compact removes what came from the hub and no row names, after the hub knows; the app's own files stay"
  )
  func device() throws {
    try share()
    try photo("own.jpg", in: "tablet", "never named")
    try camp.sql("tablet/data.sqlite", "DELETE FROM reviews")
    #expect(try camp.device("tablet", "compact", "--json").json["attached"] == 0)
    try camp.carry("tablet", rounds: 2)
    let before = try camp.everything()
    #expect(
      camp.device("tablet", "compact", "--dry-run").out.contains("Would remove 1 file that no row names any more"))
    #expect(try camp.everything() == before)
    let done = try camp.device("tablet", "compact", "--json").json
    #expect((done["attached"], done["attached_bytes"]) == (1, 6))
    #expect(content("elm.jpg", in: "tablet") == nil)
    #expect(content("trees/oak.jpg", in: "tablet") != nil && content("own.jpg", in: "tablet") != nil)
    #expect(try files("tablet")["lost"] == 0)
    // When a row names the file again, the file comes back to the device.
    try photo("elm.jpg", in: "hub", "an elm")
    try review("r5", "lake", "elm.jpg", in: "office.sqlite")
    try camp.carry("tablet", rounds: 2)
    #expect(content("elm.jpg", in: "tablet") == "an elm")
  }
}
