import SatchelCrypto
import SatchelPlatform

/// A restored hub. Its first emission states which emissions the hub knows to have made.
struct KnownEmissionFixture: GoldenStory {
  private let restored: RestoredHubFixture
  var ground: WorkspaceFixture { restored.ground }

  init(random: any RandomSource, clock: SetClock) throws {
    restored = try RestoredHubFixture(random: random, clock: clock, hub: "jetty")
  }

  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    try restored.bundles().filter { $0.name == "scope-full-former" }
      .map { (name: "scope-full-known", path: $0.path, signer: $0.signer) }
  }
}
