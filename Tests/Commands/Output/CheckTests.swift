import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// The output of `satchel-hub check` for a monitoring program.
@Suite("A hub that is watched")
struct CheckTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  @Test("a sound hub is OK, with its figures, and prints nothing for cron")
  func sound() {
    let outcome = camp.hub("check", "--silent-days", "14", "--conflicts", "0")
    #expect(outcome.code == 0 && outcome.out == "SATCHEL OK - hub: all is well | devices=2 conflicts=0\n", "\(outcome)")
    let quiet = camp.hub("check", "-q")
    #expect(quiet.code == 0 && quiet.transcript.isEmpty, "\(quiet)")
  }

  @Test("silent devices, open conflicts and old backups are a WARNING if a limit asks for them")
  func limits() throws {
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'theirs' WHERE id = 'r1'")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    for name in ["tablet", "phone"] { try camp.letBeSilent(name, days: 15) }
    #expect(camp.hub("check").code == 0)
    for (words, part) in [
      (["--silent-days", "14"], "no bundle for 14 days from: phone, tablet"),
      (["--conflicts", "0"], "1 open conflict"), (["--backup-days", "7"], "there is no backup"),
    ] {
      let outcome = camp.hubAnywhere(["-C", camp.path("hub"), "check"] + words)
      #expect(outcome.code == 1 && outcome.out.hasPrefix("SATCHEL WARNING - hub: \(part) | "), "\(outcome)")
      #expect(camp.hubAnywhere(["-C", camp.path("hub"), "check", "-q"] + words).error == outcome.out)
    }
    #expect(camp.hub("check", "--silent-days", "16", "--conflicts", "1").code == 0)
    // The check does not report a revoked device as silent.
    for name in ["tablet", "phone"] { camp.hub("device", "revoke", name) }
    #expect(camp.hub("check", "--silent-days", "14").code == 0)
    #expect(camp.hub("check", "--conflicts", "few").code == 2)
  }

  @Test("a hub that takes no bundle is CRITICAL")
  func critical() throws {
    try camp.sql("office.sqlite", CommandLineFixture.dropTriggers)
    let outcome = camp.hub("check")
    #expect(outcome.code == 2 && outcome.out.hasPrefix("SATCHEL CRITICAL - hub: capture is damaged"), "\(outcome)")
  }

  @Test("a hub that cannot work at all is CRITICAL, and says so on standard output")
  func broken() throws {
    try FileManager.default.moveItem(atPath: camp.path("hub/keys/own.key"), toPath: camp.path("own.key"))
    let keyless = camp.hub("check")
    #expect(keyless.code == 2 && keyless.out.hasPrefix("SATCHEL CRITICAL - hub: "), "\(keyless)")
    try FileManager.default.moveItem(atPath: camp.path("own.key"), toPath: camp.path("hub/keys/own.key"))
    try camp.remove("office.sqlite")
    for folder in [camp.path("hub"), camp.path("nowhere")] {
      let outcome = camp.hubAnywhere("-C", folder, "check")
      #expect(outcome.code == 2 && outcome.out.hasPrefix("SATCHEL CRITICAL - "), "\(outcome)")
    }
  }

  @Test("a refused file is a WARNING until a person has seen to it")
  func refused() throws {
    try camp.writeDamagedBundle("junk.satchel")
    #expect(camp.hub("import", camp.path("junk.satchel")).code == 3)
    let outcome = camp.hub("check")
    #expect(outcome.code == 1 && outcome.out.contains("1 file refused"), "\(outcome)")
  }
}
