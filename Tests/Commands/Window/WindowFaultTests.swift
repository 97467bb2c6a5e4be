import Foundation
import SatchelPlatform
import Testing

@testable import SatchelCommands

/// Syncs that fail, as the window shows them.
@Suite("Failed syncs in the window of a device", .serialized)
struct WindowFaultTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.plug(["blue"])
  }

  /// Presses the stick's button. Returns the page with the result.
  private func sync(_ browser: Browser) -> String {
    browser.work("/sync", ["stick": camp.path("blue"), "mark": browser.get("/").hidden("mark")]).text
  }

  /// Gives the stick room for so many bytes, and writes rows with many more bytes.
  private func writeMore(than bytes: Int64) throws {
    var files = try #require(camp.platform.files as? TroubledFiles)
    files.sticks[camp.path("blue")] = bytes
    camp.platform = Platform(files: files, clock: SystemClock(), random: SystemRandom())
    try camp.sql(
      "tablet/data.sqlite",
      """
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO reviews SELECT 'big' || i, 'lake', 'ann', 1, hex(randomblob(2000)) FROM n
      """)
  }

  @Test("work that did not fit on the stick is not under way, and the first page leads to the result")
  func fullStick() throws {
    try writeMore(than: 100 << 10)
    try camp.inWindow { browser throws in
      let result = sync(browser)
      for words in ["The stick is full.", "Your work could not be put on the stick."] {
        #expect(result.contains(words), "\(words) in \(result)")
      }
      let home = browser.get("/").text
      #expect(home.contains("Some of your work is not at the office yet."), "\(home)")
      #expect(!home.contains("Your work is under way."), "\(home)")
      #expect(home.contains("<a href=\"work\">The synchronisation with stick blue is not complete</a>"), "\(home)")
    }
  }

  @Test("a stick with some parts of the work is not said to have all of it")
  func partOnStick() throws {
    try writeMore(than: 204 << 10)
    try camp.inWindow { browser throws in
      let result = sync(browser)
      #expect(result.contains("A part of your work is on the stick."), "\(result)")
      #expect(result.contains("Plug in the next stick") && !result.contains("Your work is on the stick."), "\(result)")
    }
  }

  @Test("a sync of damaged data says what to do, and neither that nothing is lost nor that the work is on the stick")
  func damaged() throws {
    try camp.loseDatabase(of: "tablet", leaving: "this is no database, but it has more than a hundred bytes of text")
    try camp.inWindow { browser throws in
      let result = sync(browser)
      #expect(result.contains("The data is damaged. Close the app, and delete nothing."), "\(result)")
      for words in ["Nothing is lost.", "Your work is on the stick.", "There is nothing new to carry"] {
        #expect(!result.contains(words), "\(words) in \(result)")
      }
    }
  }
}
