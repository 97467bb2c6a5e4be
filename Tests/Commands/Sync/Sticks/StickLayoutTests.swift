import Foundation
import SatchelPlatform
import TestSupport
import Testing

@Suite("The folders of a stick")
struct StickLayoutTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.makeFolder("stick")
  }

  private var stick: String { camp.path("stick") }
  private static let place = "stick/SATCHEL/camp/hub/tablet"

  private func files(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: camp.path(folder)).filter { $0.hasSuffix(".satchel") }.sorted()
  }

  private func onStick() throws -> [String: Data] {
    try camp.everything().filter { $0.key.hasPrefix("stick/") && $0.key.hasSuffix(".satchel") }
  }

  @Test("two datasets with the same names on one stick never touch each other's files, and both arrive")
  func equalNames() throws {
    // The other camp has the same names of dataset, hub and devices. Only the ids differ.
    let other = try CommandLineFixture()
    try other.open()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    try other.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'theirs' WHERE id = 'r1'")
    for _ in 0..<2 {
      for world in [camp, other] { #expect(world.device("tablet", "sync", stick).code == 0) }
    }
    let bundles = try camp.everything().filter { $0.key.hasSuffix("camp-tablet-hub-1.satchel") }
      .filter { $0.key.hasPrefix("stick/") }
    #expect(bundles.count == 2, "\(bundles.keys)")
    for _ in 0..<2 {
      for world in [camp, other] {
        let outcome = world.hub("sync", stick)
        #expect(outcome.code == 0, "\(outcome)")
      }
    }
    for (world, words) in [(camp, "mine"), (other, "theirs")] {
      #expect(try world.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == words)
      #expect(world.device("tablet", "sync", stick).code == 0)
      #expect(try world.device("tablet", "status", "--json").json["pending"] == .object([]))
      #expect(try world.hub("quarantine", "list", "--json").json["refused"] == [])
    }
    // Each hub has removed its own devices' bundles from the stick.
    for world in [camp, other] { #expect(world.hub("sync", stick).code == 0) }
    #expect(try files(in: Self.place).isEmpty)
  }

  @Test("encrypted bundles of namesakes show no sender, and are not touched either")
  func encrypted() throws {
    let other = try CommandLineFixture()
    try other.open()
    for (number, world) in [camp, other].enumerated() {
      try world.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
      let words = number == 0 ? ["sync", "--encrypt", stick] : ["export", "--encrypt", "--to", stick]
      let before = try onStick()
      #expect(world.deviceAnywhere(["-C", world.path("tablet")] + words).code == 0)
      let after = try onStick()
      #expect(after.count == before.count + 1 && before.allSatisfy { after[$0.key] == $0.value })
    }
    // The tablet's next bundle replaces only its own earlier bundle.
    let first = try onStick()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'later' WHERE id = 'r1'")
    #expect(camp.device("tablet", "sync", "--encrypt", stick).code == 0)
    let second = try onStick()
    #expect(second.count == 2 && second.filter { first[$0.key] == $0.value }.count == 1, "\(second.keys)")
    // The other tablet's bundle is not encrypted. It does not replace an encrypted bundle.
    try other.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'later' WHERE id = 'r1'")
    #expect(other.device("tablet", "sync", stick).code == 0)
    #expect(try onStick().count == 2)
    // The other hub syncs first, while the stick still has the encrypted bundle for the camp's hub.
    for world in [other, camp] {
      for _ in 0..<2 {
        let outcome = world.hub("sync", stick)
        #expect(outcome.code == 0 && !outcome.transcript.contains("refused"), "\(outcome)")
        let isAnyLeft = outcome.out.contains("left alone. It is encrypted for another recipient")
        #expect(isAnyLeft == (world === other), "\(outcome)")
      }
      #expect(try world.hub("quarantine", "list", "--json").json["refused"] == [])
      #expect(try world.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "later")
    }
  }

  @Test("a device without keys leaves an encrypted bundle of its namesake on the stick")
  func keylessNamesake() throws {
    let other = try CommandLineFixture()
    try other.open()
    camp.provision("screen")
    let made = other.hub(
      "device", "provision", "screen", "--user", "ann", "--into", other.path("screen"), "--no-keys")
    #expect(made.code == 0, "\(made)")
    try camp.sql("screen/data.sqlite", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    #expect(camp.device("screen", "sync", "--encrypt", stick).code == 0)
    let bundles = try onStick()
    #expect(bundles.count == 1)
    // A device without keys delivers nothing and has no record of bundles. It would remove only its own bundles.
    let outcome = other.device("screen", "sync", stick)
    #expect(outcome.code == 0 && outcome.out.contains("no key of its own"), "\(outcome)")
    #expect(try onStick() == bundles)
  }

  @Test("a person who names the stick's own folder means the stick")
  func ownFolder() throws {
    try camp.makeFolder("stick/SATCHEL")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    #expect(camp.device("tablet", "export", "--to", "\(stick)/SATCHEL").code == 0)
    #expect(try files(in: Self.place) == ["camp-tablet-hub-1.satchel"])
  }

  @Test("bundles of two datasets for one hub's name are each in the folder of their dataset")
  func datasets() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    try camp.makeFolder("stick/SATCHEL/trees/hub/tablet")
    try camp.write("stick/SATCHEL/trees/hub/tablet/trees-tablet-hub-1.satchel", "another dataset's")
    let outcome = camp.device("tablet", "sync", stick)
    #expect(outcome.code == 0 && outcome.out.contains("1 bundle for others stays as it is"), "\(outcome)")
    #expect(try files(in: Self.place) == ["camp-tablet-hub-1.satchel"])
    #expect(camp.hub("sync", stick).code == 0)
    #expect(try files(in: "stick/SATCHEL/trees/hub/tablet") == ["trees-tablet-hub-1.satchel"])
  }

  @Test("bundles where an earlier release put them arrive, and give way to newer ones")
  func formerLayout() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    #expect(camp.device("tablet", "sync", stick).code == 0)
    let former = "stick/SATCHEL/hub/tablet"
    try camp.makeFolder("stick/SATCHEL/hub")
    try FileManager.default.moveItem(atPath: camp.path(Self.place), toPath: camp.path(former))
    #expect(camp.hub("sync", stick, "--dry-run").out.contains("Bundle 1 of tablet: 1 change taken"))
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'later' WHERE id = 'r1'")
    #expect(camp.device("tablet", "sync", stick).code == 0)
    #expect(try files(in: former).isEmpty && files(in: Self.place) == ["camp-tablet-hub-2.satchel"])
    // Only the bundle in the folder of the earlier release is left on the stick.
    try camp.copy("\(Self.place)/camp-tablet-hub-2.satchel", to: "\(former)/camp-tablet-hub-2.satchel")
    try camp.remove("\(Self.place)/camp-tablet-hub-2.satchel")
    let outcome = camp.hub("sync", stick)
    #expect(outcome.code == 0 && outcome.out.contains("Bundle 2 of tablet"), "\(outcome)")
    #expect(try files(in: former).isEmpty)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "later")
  }

  @Test("--to puts bundles and volumes where sync looks for them, if the folder is a stick")
  func to() throws {
    try camp.makeFolder("stick/SATCHEL")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = hex(randomblob(200000)) WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Big lake' WHERE id = 'lake'")
    let exported = camp.device("tablet", "export", "--to", stick, "--json")
    let copy = try #require(exported.json["copy"]?.stringValue)
    #expect(copy == camp.path("\(Self.place)/camp-tablet-hub-1.satchel"))
    #expect(camp.device("tablet", "export", "--volume-size", "64K", "--to", stick).code == 0)
    #expect(try files(in: Self.place).count > 3)
    #expect(camp.hub("emit", "--all", "--to", stick).code == 0)
    #expect(try files(in: "stick/SATCHEL/camp/tablet/hub") == ["camp-hub-tablet-2.satchel"])
    #expect(try files(in: "stick").isEmpty)
    #expect(try String(decoding: camp.read("stick/SATCHEL/README.txt"), as: UTF8.self).contains("sealed parcel"))
    #expect(camp.device("tablet", "sync", stick).code == 0)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Big lake")
    #expect(camp.hub("sync", stick).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT length(words) FROM reviews WHERE id = 'r1'") == "400000")
  }

  @Test("--to follows no link in a stick's folders", arguments: ["SATCHEL", "SATCHEL/camp", "SATCHEL/camp/hub"])
  func links(place: String) throws {
    try camp.makeFolder("elsewhere")
    try camp.makeFolder(Paths.parent(of: "stick/\(place)"))
    try FileManager.default.createSymbolicLink(
      atPath: camp.path("stick/\(place)"), withDestinationPath: camp.path("elsewhere"))
    for words in [[], ["--volume-size", "64K"]] {
      let outcome = camp.deviceAnywhere(["-C", camp.path("tablet"), "export", "--to", stick] + words)
      #expect(outcome.code == 1 && outcome.error.contains("\(place): this is a symbolic link"), "\(outcome)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("elsewhere")).isEmpty)
  }
}
