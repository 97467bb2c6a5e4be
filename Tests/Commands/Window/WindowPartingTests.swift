import Foundation
import Testing

@testable import SatchelCommands

/// The window of a device whose hub was set back, or of which two copies work.
@Suite("Parted histories in the window of a device", .serialized)
struct WindowPartingTests {
  typealias Parting = PartedHubFixture.Parting

  private let parted: PartedHubFixture
  private var camp: CommandLineFixture { parted.camp }

  init() throws { parted = try PartedHubFixture() }

  @Test(
    "the window says what happened in each language, and the stick of the office that continues ends it",
    arguments: [(Parting.otherHistory, "it carries the proof to the hub"), (Parting.otherHub, "--fingerprint WORDS")])
  func shown(parting: Parting, way: String) throws {
    _ = try parted.part(parting)
    try camp.plug(["blue"])
    try camp.inWindow { browser throws in
      for language in WindowLanguage.allCases {
        let (page, words) = (browser.get("/", language: language.code).text, WindowWords(language))
        #expect(page.contains(words(.otherHistory)) && page.contains(words(.wrong)), "\(language): \(page)")
        #expect(!page.contains(words(.everything)), "\(language): \(page)")
      }
      let home = browser.get("/")
      let page = home.text
      #expect(page.contains("Nothing is lost. Go on with your work and with the sticks"), "\(page)")
      #expect(page.contains(way), "\(page)")

      try camp.sql("office.sqlite", "UPDATE sites SET name = 'three' WHERE id = 'lake'")
      #expect(camp.hub("sync", camp.path("blue")).code == 0)
      let result = browser.work("/sync", ["stick": camp.path("blue"), "mark": home.hidden("mark")]).text
      #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "three", "\(result)")
      let after = browser.get("/").text
      #expect(!after.contains("there are two offices") && !after.contains("Something is wrong here."), "\(after)")
    }
  }
}
