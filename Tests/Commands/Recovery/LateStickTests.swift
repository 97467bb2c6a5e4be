import Foundation
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

@Suite("Sticks that come late to a device")
struct LateStickTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.carry("tablet", rounds: 2)
  }

  private func rename(to name: String) throws {
    try camp.sql("office.sqlite", "UPDATE sites SET name = '\(name)' WHERE id = 'lake'")
  }

  @Test("a late stick from a time when the hub's clock was ahead is no trouble, also after the archive was emptied")
  func clockAhead() throws {
    let late = camp.path("late.satchel")
    try camp.by(SetClock(camp.platform.clock.milliseconds() + 5 * 86_400_000)) {
      try rename(to: "early")
      try FileManager.default.copyItem(atPath: camp.emit("tablet"), toPath: late)
    }
    let corrected = camp.hub("doctor", "--repair")
    #expect(corrected.code == 0, "\(corrected.out)\(corrected.error)")
    for name in ["second", "third"] {
      try rename(to: name)
      #expect(camp.device("tablet", "import", try camp.emit("tablet", full: true)).code == 0)
    }
    let came = camp.device("tablet", "import", late, "--json")
    #expect(came.code == 0, "\(came.error)")
    #expect(try came.json["bundles"]?.arrayValue?.first?["verdict"] == "repeated", "\(came.out)")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "third")
    #expect(!camp.device("tablet", "status").out.contains("set back"))
  }
}
