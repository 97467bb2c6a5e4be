import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import Testing

/// Sticks that are smaller than the rows of one bundle.
@Suite("Small sticks")
struct SmallStickTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      "CREATE TABLE reviews (id TEXT PRIMARY KEY, words TEXT)",
      CommandLineFixture.definition(#"{ "reviews": {} }"#), devices: ["tablet"])
  }

  private static let manyRows = """
    WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100)
    INSERT INTO reviews SELECT 'big' || i, hex(randomblob(2000)) FROM n
    """

  /// Makes an empty stick that has room for two volumes. Returns its path.
  private func smallStick(_ name: String, bytes: Int64 = 204 << 10) throws -> String {
    try camp.makeFolder(name)
    var files = TroubledFiles()
    files.sticks[camp.path(name)] = bytes
    camp.platform = Platform(files: files, clock: SystemClock(), random: SystemRandom())
    return camp.path(name)
  }

  private func outgoing(_ outcome: CommandLineFixture.Outcome) throws -> JSONValue {
    #expect(outcome.code == 0, "\(outcome)")
    return try #require(try outcome.json["outgoing"]?.arrayValue?.first)
  }

  private func numbers(_ list: JSONValue?) -> [Int64] { (list?.arrayValue ?? []).compactMap(\.integerValue) }

  /// Syncs a workspace with one new small stick after the other, until all volumes are on sticks. Returns the sticks'
  /// paths.
  private func fill(
    from first: Int = 1, sync: (_ stick: String) throws -> CommandLineFixture.Outcome
  ) throws -> [String] {
    var (sticks, next, missing) = ([String](), Int64(1), [Int64(0)])
    while !missing.isEmpty, sticks.count < 12 {
      let stick = try smallStick("stick-\(first + sticks.count)")
      let found = try outgoing(sync(stick))
      let put = numbers(found["volumes"])
      #expect(!put.isEmpty && put.first == next, "\(found)")
      missing = numbers(found["missing"])
      next += Int64(put.count)
      sticks.append(stick)
    }
    #expect(missing.isEmpty)
    return sticks
  }

  @Test("an export that is larger than a stick goes on several sticks, one after another, and is whole at the hub")
  func severalSticks() throws {
    try camp.sql("tablet/data.sqlite", Self.manyRows)
    let sticks = try fill { camp.device("tablet", "sync", "--json", $0) }
    #expect(sticks.count > 1)
    #expect(try camp.device("tablet", "status", "--json").json["on_sticks"] == .array([]))
    camp.platform = .real
    for stick in sticks.reversed() { #expect(camp.hub("sync", stick).code == 0) }
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") == "100")
    #expect(camp.device("tablet", "sync", sticks[0]).out.contains("nothing, it has everything"))
  }

  @Test("the words say how to go on, status names the volumes that are left, and the same stick takes nothing twice")
  func words() throws {
    try camp.sql("tablet/data.sqlite", Self.manyRows)
    let stick = try smallStick("stick-1")
    let first = camp.device("tablet", "sync", stick)
    #expect(first.code == 0, "\(first)")
    #expect(first.out.contains("It is larger than this stick. Volumes 1 to 2 of"), "\(first)")
    #expect(first.out.contains("Still to come: volume"), "\(first)")
    #expect(first.out.hasSuffix("Put the next stick in and run sync again.\n"), "\(first)")
    let status = try camp.device("tablet", "status", "--json").json["on_sticks"]?.arrayValue?.first
    #expect(status?["name"] == "camp-tablet-hub-1.satchel" && numbers(status?["missing"]).first == 3)
    let words = camp.device("tablet", "status").out
    #expect(words.contains("on no stick yet: 3") && words.contains("with the next stick"), "\(words)")
    let again = try outgoing(camp.device("tablet", "sync", "--json", stick))
    #expect(numbers(again["volumes"]).isEmpty && again["put"] == false, "\(again)")
    #expect(numbers(again["missing"]) == numbers(status?["missing"]))
  }

  @Test("one small stick carries a large export in several ways to the hub and back")
  func oneStick() throws {
    try camp.sql("tablet/data.sqlite", Self.manyRows)
    let stick = try smallStick("stick")
    var ways = 0
    repeat {
      ways += 1
      #expect(camp.device("tablet", "sync", stick).code == 0)
      #expect(camp.hub("sync", stick).code == 0)
    } while try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") != "100" && ways < 12
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") == "100")
    #expect(ways > 1)
  }

  @Test("work that is written between two sticks does not make the first stick useless, and goes with a later bundle")
  func writtenBetween() throws {
    try camp.sql("tablet/data.sqlite", Self.manyRows)
    let first = try smallStick("stick-0")
    let begun = try outgoing(camp.device("tablet", "sync", "--json", first))
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('late', 'x')")
    let next = try outgoing(camp.device("tablet", "sync", "--json", smallStick("stick-1")))
    #expect(next["file"] == begun["file"], "\(next)")
    #expect(numbers(next["volumes"]).first == numbers(begun["missing"]).first, "\(next)")
    // A stick with enough room gets one bundle with all changes.
    camp.platform = .real
    try camp.makeFolder("large")
    #expect(camp.device("tablet", "sync", camp.path("large")).code == 0)
    #expect(try camp.device("tablet", "status", "--json").json["on_sticks"] == .array([]))
    #expect(camp.hub("sync", camp.path("large")).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") == "101")
  }

  @Test("if a stick with volumes is lost, the next empty stick begins another round")
  func lostStick() throws {
    try camp.sql("tablet/data.sqlite", Self.manyRows)
    let sticks = try fill { camp.device("tablet", "sync", "--json", $0) }
    let held = try outgoing(camp.device("tablet", "sync", "--json", sticks[sticks.count - 1]))
    #expect(numbers(held["volumes"]).isEmpty && numbers(held["missing"]).isEmpty, "\(held)")
    let round = try fill(from: sticks.count + 1) { camp.device("tablet", "sync", "--json", $0) }
    camp.platform = .real
    // The first stick is lost. A volume of the second round can replace a lost volume of the first round.
    for stick in sticks.dropFirst() + round.prefix(1) { #expect(camp.hub("sync", stick).code == 0) }
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") == "100")
  }

  @Test("with --parity, one lost stick of several is no loss, and the words say how many volumes are enough")
  func lostStickWithParity() throws {
    try camp.sql("tablet/data.sqlite", Self.manyRows)
    let sticks = try fill { camp.device("tablet", "sync", "--parity", "2", "--json", $0) }
    let held = camp.device("tablet", "sync", sticks[sticks.count - 1])
    #expect(held.out.contains("carry all of them. Any"), "\(held)")
    camp.platform = .real
    for stick in sticks.dropFirst() { #expect(camp.hub("sync", stick).code == 0) }
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") == "100")
  }

  @Test("the hub adds parity volumes to an emission, and a device joins it without one of the sticks")
  func emissionWithParity() throws {
    try camp.sql("office.sqlite", Self.manyRows)
    let sticks = try fill { camp.hub("sync", "--parity=40%", "--json", $0) }
    camp.platform = .real
    for stick in sticks.dropFirst() { #expect(camp.device("tablet", "sync", stick).code == 0) }
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM reviews") == "100")
  }

  @Test("parity may be requested when a stick carries volumes already, and later sticks go on with it")
  func parityLater() throws {
    try camp.sql("tablet/data.sqlite", Self.manyRows)
    let first = try outgoing(camp.device("tablet", "sync", "--json", smallStick("stick-0")))
    let parts = try #require(first["parts"]?.integerValue)
    #expect(first["parity"] == 0)
    var last = try outgoing(camp.device("tablet", "sync", "--parity", "2", "--json", smallStick("stick-1")))
    #expect(last["parity"] == 2 && numbers(last["missing"]).last == parts + 2, "\(last)")
    let status = try camp.device("tablet", "status", "--json").json["on_sticks"]?.arrayValue?.first
    #expect(status?["parity"] == 2 && status?["missing"] == last["missing"])
    #expect(camp.device("tablet", "status").out.contains("p1, p2"))
    var sticks = 2
    while !numbers(last["missing"]).isEmpty, sticks < 12 {
      last = try outgoing(camp.device("tablet", "sync", "--json", smallStick("stick-\(sticks)")))
      sticks += 1
    }
    #expect(numbers(last["volumes"]).last == parts + 2, "\(last)")
    camp.platform = .real
    for number in 1..<sticks { #expect(camp.hub("sync", camp.path("stick-\(number)")).code == 0) }
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") == "100")
  }

  @Test("a parity that means nothing, or that does not fit the volumes on sticks, is refused, and the reason is named")
  func wrongParity() throws {
    try camp.sql("tablet/data.sqlite", Self.manyRows)
    let stick = try smallStick("stick-0")
    let before = try camp.everything()
    #expect(camp.device("tablet", "sync", "--parity", "0", stick).code == 2)
    #expect(camp.device("tablet", "dock", stick, "--parity", "2").error.contains("it needs --stick"))
    #expect(try camp.everything() == before)
    #expect(camp.device("tablet", "sync", stick).code == 0)
    let many = camp.device("tablet", "sync", "--parity", "255", "--json", try smallStick("stick-1"))
    #expect(try many.code == 1 && many.json["error"]?["reason"] == "too-many-volumes", "\(many)")
    #expect(camp.device("tablet", "sync", "--json", camp.path("stick-1")).code == 0)
  }

  @Test("an emission that is larger than a stick goes on several sticks, and is whole on the device")
  func emission() throws {
    try camp.sql("office.sqlite", Self.manyRows)
    let sticks = try fill { camp.hub("sync", "--json", $0) }
    #expect(sticks.count > 1)
    #expect(try camp.hub("status", "--json").json["on_sticks"] == .array([]))
    camp.platform = .real
    for stick in sticks { #expect(camp.device("tablet", "sync", stick).code == 0) }
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM reviews") == "100")
  }

  @Test("a rehearsal puts no volume on a stick")
  func rehearsal() throws {
    try camp.sql("tablet/data.sqlite", Self.manyRows)
    #expect(camp.device("tablet", "export").code == 0)
    let stick = try smallStick("stick")
    let before = try camp.everything()
    #expect(camp.device("tablet", "sync", "--dry-run", stick).code == 0)
    #expect(try camp.everything() == before)
  }

  @Test("a stick without room for one volume is named, with its free space")
  func noRoom() throws {
    try camp.sql("tablet/data.sqlite", Self.manyRows)
    let outcome = camp.device("tablet", "sync", "--json", try smallStick("stick", bytes: 100 << 10))
    #expect(try outcome.code == 1 && outcome.json["error"]?["reason"] == "stick-full", "\(outcome)")
    #expect(try camp.device("tablet", "status", "--json").json["on_sticks"] == .array([]))
  }

  @Test("volumes of an older bundle that fill the stick are named, and stay until a person removes them")
  func leftVolumes() throws {
    try camp.sql("tablet/data.sqlite", Self.manyRows)
    _ = try fill { camp.device("tablet", "sync", "--json", $0) }
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('late', 'x')")
    let stick = try smallStick("stick-1")
    let outcome = camp.device("tablet", "sync", stick)
    #expect(outcome.code == 1, "\(outcome)")
    #expect(outcome.error.contains("camp-tablet-hub-1-1of"), "\(outcome)")
    #expect(outcome.error.contains("of an older bundle. The new bundle contains their changes too"), "\(outcome)")
    let names = try FileManager.default.contentsOfDirectory(atPath: stick + "/SATCHEL/camp/hub/tablet")
    #expect(names.contains { $0.hasPrefix("camp-tablet-hub-1-") })
  }
}
