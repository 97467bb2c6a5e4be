import Foundation
import TestSupport
import Testing

/// Bundles of one device with random lines and manifests, signed with the device's own key.
@Suite("Mutated bundles of an insider")
struct MutatedBundleTests {
  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  /// SATCHEL_ATTACKS sets the number of mutations, and SATCHEL_SEED the first seed.
  private static let count = Int(number("SATCHEL_ATTACKS") ?? 10_000)
  private static let seed = number("SATCHEL_SEED") ?? UInt64.random(in: 0..<1 << 40)

  @Test(
    "20,000 mutated lines and manifests of a device's bundles change nothing that its user may not change",
    arguments: [0, 1])
  func mutated(half: Int) throws {
    var attack = MutatedBundles()
    var round = Self.seed &+ UInt64(half)
    while attack.tried < Self.count / 2 {
      try attack.play(seed: round, atMost: Self.count / 2)
      round &+= 2
    }
    print("half \(half), seed \(Self.seed): \(attack.words)")
    // If few mutations were accepted, the test would examine too little.
    #expect(attack.taken * 2 > attack.tried)
  }

  @Test(
    "bundles of a revoked device, or with a device's replaced key, change nothing at all, whatever they say",
    arguments: MutatedBundles.Outcast.allCases)
  func outcasts(sender: MutatedBundles.Outcast) throws {
    var attack = MutatedBundles()
    for round in 0..<UInt64(max(1, Self.count / 20_000)) { try attack.play(sender, seed: Self.seed &+ round) }
    print("\(sender), seed \(Self.seed): \(attack.words)")
  }

  @Test("the lines that are mutated are sound: unchanged, they are taken")
  func samples() throws {
    let lab = try AttackFixture()
    let forger = try lab.forger
    let reason = try lab.refusal(
      of: forger.bundle { content in
        // The format requires that lines about keys come first.
        let samples = try forger.samples(of: .changes)
        content.changes = samples.filter { $0["op"] == "rekey" } + samples.filter { $0["op"] != "rekey" }
      })
    #expect(reason == nil)
    let number = forger.sequence
    #expect(try lab.atHub("SELECT words FROM trips WHERE id = 't1'") == ["w\(number)"])
    #expect(try lab.atHub("SELECT owner, kind FROM trees WHERE uuid = 'v\(number)'") == ["ann|1"])
    // The second row with this code was folded into the first row.
    #expect(try lab.atHub("SELECT id FROM kinds WHERE code = 'oak'") == ["1"])
    #expect(try lab.atHub("SELECT id FROM visits WHERE owner = 'ann' ORDER BY id") == ["1", "\(forger.keyInRange)"])
  }
}
