import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// A stick may contain a small computer that gives other bytes when a file is read a second time.
@Suite("Sticks that answer otherwise when they are read again")
struct SecondReadTests {
  private let camp: CommandLineFixture
  private let stick: String

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.carry("tablet")
    try camp.carry("phone")
    stick = camp.path("stick")
    try camp.write("junk", "not what was verified")
  }

  private func files(in folder: String) throws -> [String] {
    try HostFileSystem().list(camp.path(folder)).filter { !$0.hasSuffix(".txt") && $0 != "former" }
      .map { Paths.join(camp.path(folder), $0) }
  }

  /// Syncs again and again. In the n-th sync, the stick gives other bytes from the n-th opening of a bundle on. Ends
  /// when no bundle is opened that often.
  private func sync(
    other: String, _ sync: (CommandLineFixture) -> CommandLineFixture.Outcome,
    check: (CommandLineFixture, _ number: Int) throws -> Void
  ) throws {
    var (number, isOver) = (0, false)
    while !isOver {
      number += 1
      let copy = try CommandLineFixture(copyOf: camp)
      let fickle = TroubledFiles.Fickle(in: copy.path("stick"), other: other, from: number)
      copy.platform = Platform(files: TroubledFiles(fickle: fickle), clock: SystemClock(), random: SystemRandom())
      let outcome = sync(copy)
      copy.platform = .real
      #expect([0, 3].contains(outcome.code), "opening \(number): \(outcome)")
      try check(copy, number)
      isOver = fickle.most < number
      if isOver { #expect(outcome.code == 0, "\(outcome)") }
    }
    #expect(number > 2)
  }

  @Test(
    "a stick that gives other bytes when a bundle is read again leaves none of them in the hub's archive",
    arguments: [true, false])
  func hub(otherIsJunk: Bool) throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    let other = camp.path("other.satchel")
    try HostFileSystem().copy(try camp.export("tablet"), to: other, mode: 0o644)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    #expect(camp.device("tablet", "sync", stick).code == 0)
    try sync(other: otherIsJunk ? camp.path("junk") : other) {
      $0.hub("sync", $0.path("stick"))
    } check: { copy, number in
      for file in try files(in: "hub/bundles/archive") {
        #expect(copy.hub("verify", file).code == 0, "opening \(number): \(file)")
      }
      #expect(copy.hub("audit").code == 0 && copy.hub("doctor").code == 0, "opening \(number)")
      let stars = try copy.rows("office.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'")
      #expect(["4", "1", "2"].contains(stars))
      #expect(try HostFileSystem().list(copy.path("hub/bundles/inbox")).isEmpty)
    }
  }

  @Test("a stick that gives other bytes when a bundle is read again leaves none of them in a device's archive")
  func device() throws {
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    #expect(camp.hub("sync", stick).code == 0)
    try sync(other: camp.path("junk")) {
      $0.device("tablet", "sync", $0.path("stick"))
    } check: { copy, number in
      for file in try files(in: "tablet/bundles/archive") {
        #expect(copy.device("tablet", "verify", file).code == 0, "opening \(number): \(file)")
      }
      #expect(copy.device("tablet", "doctor").code == 0, "opening \(number)")
    }
  }

  @Test("a bundle that waits, is staged or is refused is kept as it was verified, or not at all")
  func others() throws {
    for number in 1...2 {
      try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = \(number) WHERE id = 'r1'")
      _ = try camp.export("tablet")
    }
    // The second export waits for the first. The hub refuses the bundle of the device's copy, because its history
    // differs.
    try camp.copy("tablet", to: "twin")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'one' WHERE id = 'r1'")
    #expect(camp.device("tablet", "sync", stick).code == 0)
    #expect(camp.hub("sync", stick).code == 0)
    try camp.sql("twin/data.sqlite", "UPDATE reviews SET words = 'two' WHERE id = 'r1'")
    // The copy does not accept the hub's answer to the original device. It still exports.
    #expect(camp.device("twin", "sync", stick).code == 3)
    try sync(other: camp.path("junk")) {
      let outcome = $0.hub("sync", $0.path("stick"))
      return CommandLineFixture.Outcome(
        code: outcome.code == 3 ? 0 : outcome.code, out: outcome.out, error: outcome.error)
    } check: { copy, number in
      for folder in ["archive", "quarantine", "inbox/waiting"] {
        let place = "hub/bundles/\(folder)"
        guard FileManager.default.fileExists(atPath: copy.path(place)) else { continue }
        for name in try HostFileSystem().list(copy.path(place)) where name.hasSuffix(".satchel") {
          #expect(copy.hub("verify", copy.path("\(place)/\(name)")).code == 0, "opening \(number): \(folder) \(name)")
        }
      }
    }
  }
}
