import Foundation
import SatchelPlatform
import Testing

/// `sync` without the path of a stick finds the plugged-in stick.
@Suite("The stick that is plugged in")
struct PluggedStickTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.openBesideStick()
  }

  private func plug(_ names: String...) throws { try camp.plug(names) }

  private func hasExport(_ stick: String) -> Bool {
    FileManager.default.fileExists(atPath: camp.path("\(stick)/SATCHEL/camp/hub/tablet/camp-tablet-hub-1.satchel"))
  }

  @Test("the only stick is used and named, and the hub finds it too")
  func one() throws {
    try plug("blue")
    let outcome = camp.device("tablet", "sync")
    #expect(outcome.code == 0 && outcome.out.hasPrefix("The stick is \(camp.path("blue")).\n"), "\(outcome)")
    #expect(outcome.out.hasSuffix("Done: the stick is safe to remove.\n"), "\(outcome)")
    #expect(hasExport("blue"))
    let taken = camp.hub("sync", "--json")
    #expect(try taken.code == 0 && taken.json["stick"]?.stringValue == camp.path("blue"), "\(taken)")
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "mine")
    #expect(camp.hub("sync", "--quiet").out.isEmpty)
  }

  @Test("among several media, the only one with a folder SATCHEL is used, and the others are named")
  func oneThatIsUsed() throws {
    try plug("archive", "blue")
    try camp.makeFolder("blue/SATCHEL")
    let outcome = camp.device("tablet", "sync")
    #expect(outcome.code == 0, "\(outcome)")
    #expect(
      outcome.out.hasPrefix(
        "The stick is \(camp.path("blue")): no other has a folder SATCHEL. Not used: \(camp.path("archive")).\n"),
      "\(outcome)")
    #expect(hasExport("blue") && !hasExport("archive"))
  }

  @Test("if no stick is plugged in, nothing is done, and the next step is named")
  func none() throws {
    try plug()
    let before = try camp.everything()
    let outcome = camp.device("tablet", "sync")
    #expect(outcome.code == 1 && outcome.error.contains("No stick is plugged in"), "\(outcome)")
    #expect(outcome.error.contains("For a folder: satchel -C \(camp.path("tablet")) sync DIR\n"), "\(outcome)")
    let document = try camp.hub("sync", "--json").json
    #expect(document["ok"] == false && document["error"]?["reason"] == "not-mounted", "\(document)")
    #expect(try camp.everything() == before)
  }

  @Test("if several sticks may be meant, nothing is done, and the command for each stick is named")
  func several() throws {
    try plug("blue", "my red's")
    for isUsed in [false, true] {
      if isUsed { for name in ["blue", "my red's"] { try camp.makeFolder("\(name)/SATCHEL") } }
      let before = try camp.everything()
      let outcome = camp.device("tablet", "sync")
      let start = "satchel -C \(camp.path("tablet")) sync "
      #expect(outcome.code == 2 && outcome.error.contains("2 sticks are plugged in"), "\(outcome)")
      #expect(outcome.error.contains(start + camp.path("blue") + "\n"), "\(outcome)")
      #expect(outcome.error.contains(start + "'" + camp.path(#"my red'\''s"#) + "'\n"), "\(outcome)")
      let hint = try #require(try camp.hub("sync", "--json").json["error"]?["hint"]?.stringValue)
      #expect(hint.contains("satchel-hub -C \(camp.path("hub")) sync \(camp.path("blue"))"), "\(hint)")
      #expect(try camp.everything() == before)
    }
  }

  @Test("a medium that holds the workspace is not taken for a stick")
  func ownMedium() throws {
    try plug("tablet")
    let alone = camp.device("tablet", "sync", "--json")
    #expect(try alone.code == 1 && alone.json["error"]?["reason"] == "not-mounted", "\(alone)")
    try plug("tablet", "blue")
    #expect(camp.device("tablet", "sync").out.hasPrefix("The stick is \(camp.path("blue")).\n"))
  }

  @Test("a folder without a workspace is named before a stick is looked for")
  func noWorkspace() throws {
    try plug()
    let outcome = camp.device("elsewhere", "sync", "--json")
    #expect(try outcome.code == 1 && outcome.json["error"]?["reason"] != "not-mounted", "\(outcome)")
  }
}
