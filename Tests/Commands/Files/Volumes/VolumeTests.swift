import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// Bundles in volumes. The tests use the commands.
@Suite("Volumes")
struct VolumeTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    for folder in ["stick", "other"] {
      try FileManager.default.createDirectory(atPath: camp.path(folder), withIntermediateDirectories: true)
    }
    try camp.sql(
      "tablet/data.sqlite",
      """
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO reviews SELECT 'big' || i, 'lake', 'ann', 1, hex(randomblob(2000)) FROM n
      """)
  }

  /// Exports in volumes of 64 KiB. Returns the volumes' paths.
  private func volumes(_ words: String..., to folder: String = "stick", size: String = "64K") throws -> [String] {
    let outcome = camp.device("tablet", "export", "--volume-size", size, "--to", camp.path(folder), "--json")
    return try list(outcome)
  }

  private func list(_ outcome: CommandLineFixture.Outcome) throws -> [String] {
    #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    return try #require(try outcome.json["volumes"]?.arrayValue).compactMap(\.stringValue)
  }

  private var reviews: String { get throws { try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") } }

  @Test("an export that is larger than the size is cut, and its volumes make it again in any order")
  func anyOrder() throws {
    let volumes = try volumes()
    #expect(volumes.count > 3)
    for path in volumes { #expect(try HostFileSystem().size(path) <= 64 << 10) }
    let names = volumes.map { Paths.name(of: $0) }
    #expect(names[0] == "camp-tablet-hub-1-1of\(volumes.count).satchel")
    for (place, path) in volumes.reversed().enumerated().dropLast() {
      let outcome = camp.hub("import", path)
      #expect(
        outcome.code == 0 && outcome.out.contains("\(volumes.count - 1 - place) of \(volumes.count) still missing"))
      #expect(try reviews == "2")
    }
    let status = camp.hub("status").out
    #expect(status.contains("camp-tablet-hub-1.satchel: 1 of \(volumes.count) still missing: 1"))
    let last = camp.hub("import", volumes[0])
    #expect(last.out.contains("Bundle 1 of tablet: 100 changes taken."))
    #expect(try reviews == "102")
    #expect(!camp.hub("status").out.contains("missing"))
    #expect(camp.hub("import", volumes[1]).out.contains("overtaken"))
    #expect(camp.hub("status", "--json").out.contains("\"volumes\": []"))
  }

  @Test("one command takes a stick full of volumes, and the hub's full bundle comes in volumes just so")
  func oneCommand() throws {
    #expect(camp.hubAnywhere(["-C", camp.path("hub"), "import"] + (try volumes())).code == 0)
    #expect(try reviews == "102")
    let emitted = camp.hub(
      "emit", "--device", "phone", "--full", "--volume-size", "64K", "--to", camp.path("other"), "--json")
    let paths = try #require(try emitted.json["emissions"]?.arrayValue?.first?["volumes"]?.arrayValue).compactMap(
      \.stringValue)
    #expect(paths.count > 3)
    #expect(camp.deviceAnywhere(["-C", camp.path("phone"), "import"] + paths.shuffled()).code == 0)
    #expect(try camp.rows("phone/data.sqlite", "SELECT count(*) FROM reviews") == "102")
    #expect(camp.deviceAnywhere(["-C", camp.path("phone"), "import", paths[0]]).out.contains("imported before"))
  }

  @Test("without --to the volumes lie in the outbox in the bundle's place, and the next export takes their place")
  func outbox() throws {
    let first = try list(camp.device("tablet", "export", "--volume-size", "64K", "--json"))
    let outbox = camp.path("tablet/bundles/outbox")
    #expect(try HostFileSystem().list(outbox) == first.map { Paths.name(of: $0) }.sorted())
    #expect(try HostFileSystem().list(camp.path("tablet/bundles/sent")) == ["camp-tablet-hub-1.satchel"])
    let larger = try list(camp.device("tablet", "export", "--volume-size", "100K", "--json"))
    #expect(larger.count < first.count)
    #expect(try HostFileSystem().list(outbox) == larger.map { Paths.name(of: $0) }.sorted())
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 3 WHERE id = 'r1'")
    camp.device("tablet", "export")
    #expect(try HostFileSystem().list(outbox) == ["camp-tablet-hub-2.satchel"])
  }

  @Test("a bundle that fits stays whole")
  func fits() throws {
    #expect(try volumes(size: "1G").isEmpty)
    #expect(try HostFileSystem().list(camp.path("stick")) == ["camp-tablet-hub-1.satchel"])
  }

  @Test("volumes of two cuts do not mix, and either makes the bundle")
  func twoCuts() throws {
    let small = try volumes()
    let large = try volumes(to: "other", size: "100K")
    camp.hub("import", small[0])
    for path in large.dropLast() { camp.hub("import", path) }
    #expect(try reviews == "2")
    #expect(camp.hub("status", "--json").out.components(separatedBy: "camp-tablet-hub-1.satchel").count == 3)
    camp.hub("import", large[large.count - 1])
    #expect(try reviews == "102")
    #expect(camp.hub("status", "--json").out.contains("\"volumes\": []"))
  }

  @Test("encrypted bundles are cut into encrypted volumes")
  func encrypted() throws {
    let paths = try list(
      camp.device("tablet", "export", "--encrypt", "--volume-size", "64K", "--to", camp.path("stick"), "--json"))
    for path in paths {
      #expect(try Data(contentsOf: URL(filePath: path)).starts(with: Data("age-encryption.org/v1".utf8)))
      #expect(try HostFileSystem().size(path) <= 64 << 10)
    }
    #expect(camp.hubAnywhere(["-C", camp.path("hub"), "import"] + paths).code == 0)
    #expect(try reviews == "102")
  }

  @Test("a damaged volume is refused alone, and a good copy of it completes the bundle")
  func damaged() throws {
    let paths = try volumes()
    var bytes = try Data(contentsOf: URL(filePath: paths[1]))
    bytes[bytes.count / 2] ^= 1
    try camp.write("bad.satchel", "")
    try bytes.write(to: URL(filePath: camp.path("bad.satchel")))
    let outcome = camp.hubAnywhere(
      ["-C", camp.path("hub"), "import", paths[0], camp.path("bad.satchel")] + paths[2...])
    #expect(outcome.code == 3 && outcome.error.contains("bad.satchel"))
    #expect(camp.hub("status").out.contains("1 of \(paths.count) still missing: 2"))
    #expect(camp.hub("import", paths[1]).out.contains("100 changes taken"))
  }

  @Test("each volume is verifiable alone, and an independent reader joins them to the same bundle")
  func independent() throws {
    let paths = try volumes()
    let shown = camp.hub("inspect", paths[1]).out
    #expect(shown.contains("2 of \(paths.count) of the changes bundle 1"))
    #expect(camp.hub("verify", paths[1]).code == 0)
    let whole = camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel")
    let key = camp.path("tablet/keys/own.pub")
    let reader = PackageFolder.file("Tests/Interop/reader.py").path
    let joined = try StockTool.python3([reader, "-k", key] + paths.reversed(), in: camp.root).text
    #expect(try joined == StockTool.python3([reader, "-k", key, whole], in: camp.root).text)
    #expect(try StockTool.python3.run([reader, "-k", key] + paths.dropLast(), in: camp.root).status == 3)
  }

  @Test("a new device takes its first bundle in volumes, with the fingerprint that a person compared")
  func firstContact() throws {
    camp.hubAnywhere(["-C", camp.path("hub"), "import"] + (try volumes()))
    camp.deviceAnywhere(
      "init", camp.path("radio"), "--dataset", "camp", "--name", "radio", "--request", camp.path("radio.satchel"))
    let print = try #require(try camp.device("radio", "status", "--json").json["fingerprint"]?.stringValue)
    #expect(camp.hub("device", "enrol", camp.path("radio.satchel"), "--user", "ben", "--fingerprint", print).code == 0)
    let emitted = camp.hub("emit", "--device", "radio", "--volume-size", "64K", "--to", camp.path("other"), "--json")
    let paths = try #require(try emitted.json["emissions"]?.arrayValue?.first?["volumes"]?.arrayValue).compactMap(
      \.stringValue)
    let hub = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    #expect(camp.device("radio", "import", paths[0]).error.contains("does not know its hub"))
    for path in paths.dropLast() { #expect(camp.device("radio", "import", "--fingerprint", hub, path).code == 0) }
    #expect(camp.device("radio", "status").out.contains("1 of \(paths.count) still missing: \(paths.count)"))
    #expect(camp.device("radio", "import", "--fingerprint", hub, paths[paths.count - 1]).code == 0)
    #expect(try camp.rows("radio/data.sqlite", "SELECT count(*) FROM reviews") == "102")
  }

  @Test("a rehearsal keeps no volume")
  func rehearsal() throws {
    let paths = try volumes()
    let before = try camp.everything()
    #expect(camp.hub("import", "--dry-run", paths[0]).code == 0)
    #expect(try camp.everything() == before)
  }

  @Test("every file name that Satchel writes is valid on a FAT stick")
  func fat() throws {
    let names = try volumes().map { Paths.name(of: $0) }
    _ = try volumes(size: "1G")
    try StockTool.mformat("-C", "-i", "fat.img", "-f", "2880", "::", in: camp.root)
    let all = try HostFileSystem().list(camp.path("stick"))
    #expect(all.count == names.count + 1)
    try StockTool.mcopy(["-i", "fat.img"] + all.map { "stick/\($0)" } + ["::"], in: camp.root)
    #expect(Set(try StockTool.mdir("-b", "-i", "fat.img", "::", in: camp.root).lines) == Set(all.map { "::/\($0)" }))
    try FileManager.default.createDirectory(atPath: camp.path("back"), withIntermediateDirectories: true)
    try StockTool.mcopy(["-i", "fat.img"] + names.map { "::\($0)" } + ["back"], in: camp.root)
    #expect(camp.hubAnywhere(["-C", camp.path("hub"), "import"] + names.map { camp.path("back/\($0)") }).code == 0)
    #expect(try reviews == "102")
  }

  @Test(
    "sizes that mean nothing are refused before anything is done",
    arguments: ["10", "0", "x", "63K", "4T", "-5M", "1.5G", ""])
  func sizes(size: String) throws {
    let before = try camp.everything()
    #expect(camp.device("tablet", "export", "--volume-size=\(size)").code == 2)
    #expect(try camp.everything() == before)
  }

  @Test("volumes go into a folder, and not into one file")
  func folder() throws {
    let outcome = camp.device("tablet", "export", "--volume-size", "64K", "--to", camp.path("one.satchel"))
    #expect(outcome.code == 1 && outcome.error.contains("Volumes go into a folder"))
  }
}
