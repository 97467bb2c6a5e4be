import Foundation
import SatchelPlatform
import Testing

/// People read local times, with their zone; JSON has UTC.
@Suite("Local times in the output")
struct LocalTimeOutputTests {
  /// The machine's clock, five and a half hours east of UTC.
  private struct EasternClock: WallClock {
    func milliseconds() -> Int64 { SystemClock().milliseconds() }
    func pause(milliseconds: Int64) { SystemClock().pause(milliseconds: milliseconds) }
    func secondsEast(at milliseconds: Int64) -> Int64 { 19_800 }
  }

  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    let usual = camp.platform
    camp.platform = Platform(files: usual.files, clock: EasternClock(), random: usual.random)
    try camp.openWoods(
      "CREATE TABLE trees (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT)")
  }

  @Test("the ledger shows local times, and UTC in JSON")
  func ledger() throws {
    #expect(camp.device("tablet", "log").out.contains("+05:30"))
    #expect(camp.hub("log").out.contains("+05:30"))
    let entry = try #require(camp.device("tablet", "log", "--json").json["entries"]?.arrayValue?.first)
    #expect(entry["at"]?.stringValue?.hasSuffix("Z") == true)
  }

  @Test("a last day ends at local midnight")
  func lastDay() throws {
    #expect(camp.hub("user", "set", "ann", "--expires", "2090-12-31").code == 0)
    #expect(camp.hub("user", "list").out.contains("2091-01-01T00:00:00+05:30"))
    let users = try #require(camp.hub("user", "list", "--json").json["users"]?.arrayValue)
    #expect(users.contains { $0["expires"]?.stringValue == "2090-12-31T18:30:00Z" })
  }

  @Test("a day in revert --since is a local day")
  func since() throws {
    let outcome = camp.hub("revert", "--device", "tablet", "--since", "2090-01-01")
    #expect(outcome.code != 0 && outcome.error.contains("2090-01-01T00:00:00+05:30"), "\(outcome.error)")
    #expect(camp.hub("revert", "--device", "tablet", "--since", "2090-01-01T00:00:00+0530").code == 2)
  }
}
