import Foundation
import TestSupport
import Testing

/// Bundles of one device with random lines and manifests, signed with the device's own key.
@Suite("Mutated bundles of an insider")
struct MutatedBundleTests {
  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  /// SATCHEL_ATTACKS is the number of mutations, SATCHEL_SEED the first seed.
  private static let count = Int(number("SATCHEL_ATTACKS") ?? 20_000)
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
    // Most mutations get as far as the rows; otherwise the test would be empty.
    #expect(attack.taken * 2 > attack.tried)
  }
}
