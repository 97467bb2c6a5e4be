import Foundation
import SatchelBundle
import SatchelCrypto
import SatchelPlatform

/// Ids are the same in every run. Secrets have 32 bytes, are really random, and are never kept.
private struct GoldenRandom: RandomSource {
  private let ids: SeededRandom

  init(_ seed: UInt64 = 20_260_131) { ids = SeededRandom(seed) }

  func bytes(_ count: Int) -> [UInt8] { count == 32 ? SystemRandom().bytes(count) : ids.bytes(count) }
}

/// Writes the missing golden bundles of format 1 into a folder, with the keys that verify them and their canonical
/// text. Existing bundles stay. The secret keys of their signers were discarded. So bundles that were made together are
/// added together, and each group has its own signers.
public func makeGolden(into target: String) throws {
  // The triggers use SQLite's clock, so the hub's clock must be about right.
  let clock = SetClock(SystemClock().milliseconds())
  if try !isThere("enrolment", in: target) {
    let world = try ExchangeFixture(random: GoldenRandom(), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("changes-keys", in: target) {
    let world = try NewKeyFixture(random: GoldenRandom(20_261_121), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("scope-full-migrations", in: target) {
    let world = try VersionBundleFixture(random: GoldenRandom(20_261_123), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("changes-encrypted", in: target) {
    let world = try EncryptedFixture(random: GoldenRandom(20_261_122), clock: clock)
    // The secret keys are discarded here too, except the identity that opens the encrypted bundles. This identity is
    // public.
    try write(world, into: target, identity: world.identity)
    try world.platform.files.copy(world.identity, to: Paths.join(target, "keys/format-1-sled.identity"), mode: 0o644)
  }
  if try !isThere("changes-attachments", in: target) {
    let world = try AttachedFixture(random: GoldenRandom(20_261_125), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("changes-versions", in: target) {
    let world = try RewrittenFileFixture(random: GoldenRandom(20_261_127), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("changes-state", in: target) {
    let world = try ProvedRowsFixture(random: GoldenRandom(20_261_129), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("changes-names", in: target) {
    let world = try NamedKeyFixture(random: GoldenRandom(20_261_131), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("changes-units", in: target) {
    let world = try UnitFixture(random: GoldenRandom(20_261_130), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("enrolment-proved", in: target) {
    let world = try RotatedKeyFixture(random: GoldenRandom(20_261_202), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("changes-brings", in: target) {
    let world = try RestoredHubFixture(random: GoldenRandom(20_261_224), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("changes-original", in: target) {
    let world = try RenewedDeviceFixture(random: GoldenRandom(20_261_225), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("changes-parity", in: target) {
    let world = try ParityFixture(random: GoldenRandom(20_261_126), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("changes-health", in: target) {
    let world = try HealthFixture(random: GoldenRandom(20_261_226), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("scope-full-known", in: target) {
    let world = try KnownEmissionFixture(random: GoldenRandom(20_261_126_1), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("changes-former-exports", in: target) {
    let world = try FormerExportsFixture(random: GoldenRandom(20_261_127_1), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("scope-delta-backed-up", in: target) {
    let world = try BackedUpExportFixture(random: GoldenRandom(20_261_127_2), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("scope-delta-others", in: target) {
    let world = try OtherWritersFixture(random: GoldenRandom(20_261_128), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("changes-unseen", in: target) {
    let world = try UnseenRowsFixture(random: GoldenRandom(20_261_129_1), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("scope-delta-conflicts", in: target) {
    let world = try ConflictKindsFixture(random: GoldenRandom(20_261_129_2), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("changes-former", in: target) {
    let world = try LaterEpochFixture(random: GoldenRandom(20_261_129_3), clock: clock)
    try write(world, into: target)
  }
  if try !isThere("backup", in: target) {
    let world = try BackedUpFixture(random: GoldenRandom(20_261_124), clock: clock)
    try write(world, into: target)
  }
}

private func bundle(_ name: String, in target: String) -> String {
  Paths.join(target, "bundles/format-1-\(name).satchel")
}

private func isThere(_ name: String, in target: String) throws -> Bool {
  try HostFileSystem().kind(bundle(name, in: target)) != nil
}

private func write(_ story: some GoldenStory, into target: String, identity: String? = nil) throws {
  let platform = story.platform
  let files = platform.files
  let identities = try identity.map { try AgeIdentity.identities(fileBytes: files.read($0, limit: 4096)) } ?? []
  for folder in ["bundles", "keys"] { try files.makeDirectory(Paths.join(target, folder), mode: 0o755) }
  for (name, path, signer) in try story.bundles() {
    let bundle = try BundleReader(platform: platform, identities: { identities }).read(
      path, trust: .keys([signer]), staging: story.folder.path)
    let text = try canonicalText(of: bundle)
    let keyFile = Paths.join(target, "keys/format-1-\(bundle.manifest.from.name).pub")
    let line = try signer.fileBytes(comment: "satchel golden bundles, format 1")
    let isOther = try files.kind(keyFile) != nil && files.read(keyFile, limit: 4096) != line
    if try isOther || isThere(name, in: target) {
      throw ToolFailure("format-1-\(name).satchel or its key is there already: golden bundles are only ever added to")
    }
    try files.copy(path, to: Paths.join(target, "bundles/format-1-\(name).satchel"), mode: 0o644)
    try files.replace(Paths.join(target, "bundles/format-1-\(name).txt"), mode: 0o644, contents: Array(text.utf8))
    try files.replace(keyFile, mode: 0o644, contents: line)
    print("format-1-\(name).satchel")
  }
}
