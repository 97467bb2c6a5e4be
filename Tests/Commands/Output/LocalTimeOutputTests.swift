import Foundation
import SatchelPlatform
import Testing

/// Text for people has local times with their time zone. JSON has UTC.
@Suite("Local times in the output")
struct LocalTimeOutputTests {
  /// A clock whose time zone is five and a half hours east of UTC.
  private struct EasternClock: WallClock {
    /// Milliseconds by which the clock is ahead; if negative, the clock is behind.
    var ahead: Int64 = 0

    func milliseconds() -> Int64 { SystemClock().milliseconds() + ahead }
    func pause(milliseconds: Int64) { SystemClock().pause(milliseconds: milliseconds) }
    func secondsEast(at milliseconds: Int64) -> Int64 { 19_800 }
  }

  private static let day: Int64 = 86_400_000

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

  /// Expects these words in the output. Expects that each time in the output is a local time.
  private func expect(_ words: String, in outcome: CommandLineFixture.Outcome) {
    let parts = (outcome.out + outcome.error).split(whereSeparator: \.isWhitespace)
    #expect(parts.joined(separator: " ").contains(words), "\(outcome)")
    let times = parts.filter { $0.hasPrefix("20") && $0.contains(":") }
    #expect(!times.isEmpty && times.allSatisfy { $0.contains("+05:30") }, "\(times)")
  }

  @Test("texts that send the operator to date show local times, as date does")
  func clockFaults() throws {
    #expect(camp.hub("backup", camp.path("hub.satchel"), "--with-keys").code == 0)
    for (ahead, words) in [(-30 * Self.day, "clock was set back"), (400 * Self.day, "clock went far ahead")] {
      camp.by(EasternClock(ahead: ahead)) {
        expect(words, in: camp.hub("emit", "--device", "tablet"))
        expect(words, in: camp.hub("status"))
        expect(words, in: camp.hub("doctor"))
      }
    }
    camp.by(EasternClock(ahead: -30 * Self.day)) {
      expect("But tablet brought changes with times up to", in: camp.hub("doctor", "--repair"))
      let restored = camp.hubAnywhere(
        "restore", camp.path("hub.satchel"), camp.path("new"), "--keys", camp.path("hub/keys"))
      expect("and the backup has a later time", in: restored)
    }
  }

  @Test("the hub's status shows local times in warnings about its clock, and for the work of a former user")
  func status() throws {
    camp.hub("user", "add", "ben", "tier=1")
    #expect(camp.hub("device", "set", "tablet", "--user", "ben").code == 0)
    expect("Earlier work of ann that it brings counts until", in: camp.hub("status"))
    camp.by(EasternClock(ahead: -1_800_000)) {
      expect("and devices were sent times up to", in: camp.hub("status"))
    }
  }

  @Test("people read in local time when a bundle or a backup was made, and programs in UTC")
  func made() throws {
    try camp.sql("tablet/data.sqlite", "INSERT INTO trees VALUES (1, 'oak')")
    let (bundle, backup) = (try camp.export("tablet"), camp.path("hub.satchel"))
    expect("is whole, and signed by a key", in: camp.hub("verify", bundle))
    expect("Made 20", in: camp.hub("inspect", bundle))
    expect("made 20", in: camp.hub("backup", backup))
    expect("made 20", in: camp.hub("backup", "--verify", backup))
    expect(
      "as it was on 20",
      in: camp.hubAnywhere("restore", backup, camp.path("new"), "--keys", camp.path("hub/keys"), "--dry-run"))
    for outcome in [camp.hub("inspect", bundle, "--json"), camp.hub("backup", "--verify", backup, "--json")] {
      #expect(try outcome.json["created"]?.stringValue?.hasSuffix("Z") == true)
    }
  }

  @Test("the exports of two copies are shown with the local times at which they were made")
  func copies() throws {
    try camp.copy("tablet", to: "copy")
    for (number, folder) in ["tablet", "copy"].enumerated() {
      try camp.sql("\(folder)/data.sqlite", "INSERT INTO trees VALUES (\(number), 'oak')")
      camp.hub("import", try camp.export(folder))
    }
    expect("EXPORT MADE CHANGES", in: camp.hub("device", "fork", "tablet"))
  }
}
