import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// Exports in volumes of which some are lost. The tests use the commands.
@Suite("Parity volumes")
struct ParityVolumeTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    for folder in ["stick", "other"] { try camp.makeFolder(folder) }
    try camp.sql(
      "tablet/data.sqlite",
      """
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO reviews SELECT 'big' || i, 'lake', 'ann', 1, hex(randomblob(2000)) FROM n
      """)
  }

  /// Exports in volumes of 64 KiB.
  private func export(_ words: String...) -> CommandLineFixture.Outcome {
    camp.deviceAnywhere(
      ["-C", camp.path("tablet"), "export", "--volume-size", "64K", "--to", camp.path("stick"), "--json"] + words)
  }

  /// The volumes of an export, and how many of them the hub needs.
  private func volumes(_ outcome: CommandLineFixture.Outcome) throws -> (paths: [String], needed: Int) {
    #expect(outcome.code == 0, "\(outcome)")
    let paths = try #require(try outcome.json["volumes"]?.arrayValue).compactMap(\.stringValue)
    return (paths, Int(try #require(try outcome.json["volumes_needed"]?.integerValue)))
  }

  private var reviews: String { get throws { try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") } }

  @Test("two lost volumes are no loss: the hub joins what two sticks bring, in any order")
  func twoSticks() throws {
    let (paths, needed) = try volumes(export("--parity", "2"))
    #expect(needed > 3 && paths.count == needed + 2)
    #expect(Paths.name(of: paths[needed]) == "camp-tablet-hub-1-p1of2.satchel")
    for path in paths { #expect(try HostFileSystem().size(path) <= 64 << 10) }
    // The first and the last data volume are lost. The parity volumes travel on the other stick.
    try camp.remove("stick/\(Paths.name(of: paths[0]))")
    try camp.remove("stick/\(Paths.name(of: paths[needed - 1]))")
    for path in paths.suffix(2) {
      try camp.copy("stick/\(Paths.name(of: path))", to: "other/\(Paths.name(of: path))")
      try camp.remove("stick/\(Paths.name(of: path))")
    }
    let first = camp.hub("sync", camp.path("stick"))
    #expect(first.code == 0, "\(first)")
    #expect(try reviews == "2")
    let status = camp.hub("status")
    #expect(status.out.contains("any 2 of these are still needed: 1, \(needed), p1, p2"), "\(status)")
    let waiting = try #require(try camp.hub("status", "--json").json["volumes"]?.arrayValue?.first)
    #expect(waiting["needed"] == 2 && waiting["missing"] == [1, .integer(Int64(needed))])
    #expect(waiting["missing_parity"] == [1, 2])
    let second = camp.hub("sync", camp.path("other"))
    #expect(second.code == 0 && second.out.contains("Bundle 1 of tablet: 100 changes taken."), "\(second)")
    #expect(try reviews == "102")
    #expect(camp.hub("status", "--json").out.contains("\"volumes\": []"))
  }

  @Test("a damaged volume counts as missing, and a parity volume takes its place")
  func damaged() throws {
    let (paths, needed) = try volumes(export("--parity", "1"))
    var bytes = try camp.read("stick/\(Paths.name(of: paths[1]))")
    bytes[bytes.count / 2] ^= 1
    try Data(bytes).write(to: URL(filePath: paths[1]))
    let refused = camp.hubAnywhere(["-C", camp.path("hub"), "import"] + paths.prefix(needed))
    #expect(refused.code == 3, "\(refused)")
    #expect(camp.hub("status").out.contains("any one of these is still needed: 2, p1"))
    let outcome = camp.hub("import", paths[needed])
    #expect(outcome.out.contains("100 changes taken"), "\(outcome)")
    #expect(try reviews == "102")
  }

  @Test("encrypted volumes have encrypted parity volumes, and a device joins what its hub sends")
  func encrypted() throws {
    let (paths, needed) = try volumes(export("--parity", "20%", "--encrypt"))
    #expect(paths.count == needed + (needed + 4) / 5)
    for path in paths {
      #expect(try Data(contentsOf: URL(filePath: path)).starts(with: Data("age-encryption.org/v1".utf8)))
    }
    #expect(camp.hubAnywhere(["-C", camp.path("hub"), "import"] + paths.suffix(needed)).code == 0)
    #expect(try reviews == "102")
    let emitted = camp.hub(
      "emit", "--device", "phone", "--full", "--volume-size", "64K", "--parity", "100%", "--to", camp.path("other"),
      "--json")
    let emission = try #require(try emitted.json["emissions"]?.arrayValue?.first)
    let sent = try #require(emission["volumes"]?.arrayValue).compactMap(\.stringValue)
    #expect(emission["volumes_needed"] == .integer(Int64(sent.count / 2)))
    let half = sent.suffix(sent.count / 2)
    let taken = camp.deviceAnywhere(["-C", camp.path("phone"), "import"] + half)
    #expect(taken.code == 0, "\(taken)")
    #expect(try camp.rows("phone/data.sqlite", "SELECT count(*) FROM reviews") == "102")
  }

  @Test("an independent reader computes lost volumes from the format's description")
  func independent() throws {
    let (paths, needed) = try volumes(export("--parity", "3"))
    #expect(camp.hub("inspect", paths[needed]).out.contains("parity 1 of 3 of the changes bundle 1"))
    let whole = camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel")
    let key = camp.path("tablet/keys/own.pub")
    let reader = PackageFolder.file("Tests/Interop/reader.py").path
    let joined = try StockTool.python3([reader, "-k", key] + paths.suffix(needed), in: camp.root).text
    #expect(try joined == StockTool.python3([reader, "-k", key, whole], in: camp.root).text)
    #expect(try StockTool.python3.run([reader, "-k", key] + paths.suffix(needed - 1), in: camp.root).status == 3)
  }

  @Test("a new export replaces parity volumes in the outbox, too")
  func outbox() throws {
    camp.device("tablet", "export", "--volume-size", "64K", "--parity", "2")
    let names = try HostFileSystem().list(camp.path("tablet/bundles/outbox"))
    #expect(names.contains("camp-tablet-hub-1-p2of2.satchel"))
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 3 WHERE id = 'r1'")
    camp.device("tablet", "export")
    #expect(try HostFileSystem().list(camp.path("tablet/bundles/outbox")) == ["camp-tablet-hub-2.satchel"])
  }

  @Test(
    "a share that means nothing is refused before anything is done",
    arguments: ["0", "0%", "%", "x", "-1", "256", "20 %", "1.5", "", "99999%"])
  func shares(share: String) throws {
    let before = try camp.everything()
    #expect(camp.device("tablet", "export", "--volume-size", "64K", "--parity=\(share)").code == 2)
    #expect(camp.device("tablet", "export", "--parity", "20%").code == 2)
    #expect(try camp.everything() == before)
  }
}
