import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// A person can put any number of files on a stick.
@Suite("Sticks full of junk")
struct JunkTests {
  let camp: CommandLineFixture
  private let stick: String
  private let folder = "stick/SATCHEL/camp/hub/tablet"

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    stick = camp.path("stick")
    try camp.makeFolder(folder)
  }

  private func export(_ name: String) throws {
    let id = name == "tablet" ? "r1" : "r2"
    try camp.sql("\(name)/data.sqlite", "UPDATE reviews SET stars = stars - 1 WHERE id = '\(id)'")
    #expect(camp.device(name, "sync", stick).code == 0)
  }

  private func quarantined() throws -> [String] { try HostFileSystem().list(camp.path("hub/bundles/quarantine")) }

  private func refusals() throws -> String {
    try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_ledger WHERE verdict = 'refused'")
  }

  @Test("a file without a known signature is recorded once, by name, digest and reason, and never copied")
  func unsigned() throws {
    try camp.write("\(folder)/camp-tablet-hub-7.satchel", "junk")
    for round in 1...3 { #expect(camp.hub("sync", stick).code == (round == 1 ? 3 : 0)) }
    #expect(try quarantined() == [])
    let noted = try camp.rows("office.sqlite", "SELECT detail, digest FROM satchel_ledger WHERE verdict = 'refused'")
    let digest = try StockTool.b2sum(camp.path("\(folder)/camp-tablet-hub-7.satchel"), in: camp.root).text.prefix(128)
    #expect(noted == "not-a-bundle: camp-tablet-hub-7.satchel|\(digest)", "\(noted)")
    #expect(try HostFileSystem().list(camp.path("hub/bundles/inbox")).isEmpty)
    // This file has the same name but another content, so it counts as a new file.
    try camp.write("\(folder)/camp-tablet-hub-7.satchel", "other junk")
    #expect(camp.hub("sync", stick).code == 3)
    #expect(try refusals() == "2")
  }

  /// Puts a bundle of an unknown device on the stick. A copy of the hub has enrolled this device, but the hub itself
  /// has not.
  private func putStrangersBundle() throws {
    let stranger = try CommandLineFixture(copyOf: camp)
    stranger.hub("device", "provision", "radio", "--user", "ann", "--into", stranger.path("radio"))
    try stranger.sql("radio/data.sqlite", "UPDATE reviews SET stars = 1")
    try HostFileSystem().copy(
      try stranger.export("radio"), to: camp.path("\(folder)/camp-tablet-hub-9.satchel"), mode: 0o644)
  }

  @Test("a stranger's bundle on a stick is copied nowhere, and a damaged one of a known device is kept once")
  func signed() throws {
    try putStrangersBundle()
    #expect(camp.hub("sync", stick).code == 3)
    #expect(try quarantined() == [])
    try camp.remove("\(folder)/camp-tablet-hub-9.satchel")
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('big', 'lake', 'ann', 1, hex(randomblob(300000)))")
    try export("tablet")
    let path = camp.path("\(folder)/camp-tablet-hub-1.satchel")
    var bytes = try Data(contentsOf: URL(filePath: path))
    bytes[bytes.count - 100_000] ^= 1
    try bytes.write(to: URL(filePath: path))
    for round in 1...2 { #expect(camp.hub("sync", stick).code == (round == 1 ? 3 : 0)) }
    #expect(try quarantined().count == 2)
  }

  @Test("a file that was refused earlier is named with the day, and the sync ends well", arguments: [false, true])
  func earlier(isRehearsal: Bool) throws {
    try camp.write("\(folder)/camp-tablet-hub-7.satchel", "junk")
    let first = camp.hub("sync", stick)
    #expect(first.code == 3 && first.error.contains("This is not a Satchel bundle"), "\(first)")
    let more = isRehearsal ? ["--dry-run"] : []
    let words = ["-C", camp.path("hub"), "sync", stick] + more
    let outcome = camp.hubAnywhere(words)
    #expect(outcome.code == 0, "\(outcome)")
    let day = camp.platform.clock.localDay(milliseconds: camp.platform.clock.milliseconds())
    #expect(outcome.out.contains("Refused earlier (\(day)): camp-tablet-hub-7.satchel. This is not"), "\(outcome.out)")
    let document = try #require(try camp.hubAnywhere(words + ["--json"]).json["bundles"]?.arrayValue?.first)
    #expect(document["verdict"] == "refused-earlier" && document["error"]?["reason"] == "not-a-bundle", "\(document)")
    #expect(document["refused_at"]?.stringValue?.hasSuffix("Z") == true, "\(document)")
  }

  @Test("a device refuses a file once, too")
  func earlierAtDevice() throws {
    try camp.makeFolder("stick/SATCHEL/camp/tablet/hub")
    try camp.write("stick/SATCHEL/camp/tablet/hub/camp-hub-tablet-9.satchel", "junk")
    #expect(camp.device("tablet", "sync", stick).code == 3)
    let outcome = camp.device("tablet", "sync", stick)
    #expect(outcome.code == 0 && outcome.out.contains("Refused earlier ("), "\(outcome)")
  }

  @Test("a bundle of a stranger is refused in each sync, because its device can be enrolled")
  func curable() throws {
    try putStrangersBundle()
    for _ in 1...2 { #expect(camp.hub("sync", stick).code == 3) }
  }

  @Test("a bundle with the damage of another copy is refused as a new file, and a sound copy is imported")
  func copiedAgain() throws {
    let row = "INSERT INTO reviews VALUES ('big', 'lake', 'ann', 1, hex(randomblob(2500000)))"
    try camp.sql("tablet/data.sqlite", row)
    try export("tablet")
    let path = camp.path("\(folder)/camp-tablet-hub-1.satchel")
    let sound = try Data(contentsOf: URL(filePath: path))
    // The two copies have the same first MiB, and are damaged after it at different places.
    for offset in [100_000, 200_000] {
      var bytes = sound
      bytes[bytes.count - offset] ^= 1
      try bytes.write(to: URL(filePath: path))
      #expect(camp.hub("sync", stick).code == 3)
      #expect(camp.hub("sync", stick).code == 0)
    }
    try sound.write(to: URL(filePath: path))
    let outcome = camp.hub("sync", stick)
    #expect(outcome.code == 0 && outcome.out.contains("Bundle 1 of tablet: 2 changes taken."), "\(outcome)")
  }

  @Test("while files were left alone, files that were refused earlier do not end a sync well")
  func leftAlone() throws {
    for number in 1...101 { try camp.write("\(folder)/camp-tablet-hub-\(number).satchel", "junk \(number)") }
    for _ in 1...2 {
      let outcome = camp.hub("sync", stick)
      #expect(outcome.code == 3 && outcome.error.contains("1 more file on the stick was left alone"), "\(outcome)")
    }
  }

  @Test("the good ones come first, 100 of one kind are refused in a sync, and it says how many more were left alone")
  func bound() throws {
    for name in ["tablet", "phone"] { try export(name) }
    try camp.makeFolder("stick/SATCHEL/camp/hub/a")
    for number in 1...30 { try camp.write("stick/SATCHEL/camp/hub/a/camp-a-hub-\(number).satchel", "junk \(number)") }
    for number in 1...150 { try camp.write("\(folder)/camp-tablet-hub-\(number + 100).satchel", "junk \(number)") }
    let outcome = camp.hub("sync", stick)
    #expect(outcome.code == 3)
    #expect(
      outcome.out.hasPrefix("Bundle 1 of phone: 1 change taken.\nBundle 1 of tablet: 1 change taken."), "\(outcome.out)"
    )
    #expect(outcome.error.contains("80 more files on the stick were left alone"), "\(outcome.error.suffix(300))")
    #expect(try refusals() == "100")
    let order = try camp.rows(
      "office.sqlite", "SELECT DISTINCT verdict FROM satchel_ledger WHERE direction = 'in' ORDER BY entry")
    #expect(order == "imported\nrefused", "\(order)")
    #expect(try camp.hub("sync", stick, "--json").json["left_alone"] == 80)
    #expect(try refusals() == "100")
  }

  @Test("many thousand files that are called otherwise, or hold junk, cost a sync little")
  func many() throws {
    let files = HostFileSystem()
    for number in 1...6000 {
      let fd = try files.createTemporary(in: camp.path(folder), mode: 0o644)
      files.close(fd.fd)
      let name = number.isMultiple(of: 2) ? "camp-tablet-hub-\(number).satchel" : "x\(number).satchel"
      try files.move(fd.path, to: camp.path("\(folder)/\(name)"))
    }
    try camp.sql("phone/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r2'")
    #expect(camp.device("phone", "sync", stick).code == 0)
    let start = ContinuousClock.now
    let outcome = camp.hub("sync", stick)
    #expect(ContinuousClock.now - start < .seconds(30))
    #expect(outcome.out.contains("Bundle 1 of phone: 1 change taken."))
    #expect(outcome.error.contains("2900 more files on the stick were left alone"), "\(outcome.error.suffix(300))")
    #expect(outcome.out.contains("3000 files for hub have no bundle's name"))
  }

  @Test("copies of one bundle are imported once, and taken off the stick with it")
  func copies() throws {
    try export("tablet")
    for number in 2...40 {
      try camp.copy("\(folder)/camp-tablet-hub-1.satchel", to: "\(folder)/camp-tablet-hub-\(number).satchel")
    }
    let outcome = camp.hub("sync", stick, "--json")
    #expect(outcome.code == 0)
    #expect(try outcome.json["bundles"]?.arrayValue?.count == 1)
    #expect(try HostFileSystem().list(camp.path(folder)).isEmpty)
  }

  @Test("bundles that a revoked device signed are kept in quarantine, and the bundles of others do not wait for that")
  func revoked() throws {
    try export("phone")
    try export("tablet")
    #expect(camp.hub("device", "revoke", "tablet").code == 0)
    let good = camp.path("\(folder)/camp-tablet-hub-1.satchel")
    #expect(FileManager.default.fileExists(atPath: good))
    let outcome = camp.hub("sync", stick)
    #expect(outcome.code == 3 && outcome.out.contains("Bundle 1 of phone: 1 change taken."), "\(outcome)")
    // The hub knows the bundle's signature, so it keeps the file in quarantine for a person.
    #expect(try quarantined().count == 2)
    let again = camp.hub("sync", stick)
    #expect(again.code == 0 && again.out.contains("): camp-tablet-hub-1.satchel. The device tablet was"), "\(again)")
    // If the quarantine has no copy, the hub refuses the file again as a new file.
    #expect(camp.hub("quarantine", "drop", "--all").code == 0)
    #expect(camp.hub("sync", stick).code == 3)
    #expect(try quarantined().count == 2)
  }
}
