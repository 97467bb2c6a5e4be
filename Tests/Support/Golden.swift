import Foundation
import SatchelBundle
import SatchelCrypto
import SatchelPlatform

/// Ids as chance would have them, the same in every run; secrets that nobody sees again.
private struct GoldenRandom: RandomSource {
  private let ids = SeededRandom(20_260_131)

  func bytes(_ count: Int) -> [UInt8] { count == 32 ? SystemRandom().bytes(count) : ids.bytes(count) }
}

/// Writes the golden bundles of format 1 with the keys that verify them and what they say into the folder that the environment
/// names as SATCHEL_MAKE_GOLDEN. A file that is there already stays as it is, and nothing is written.
public func makeGolden() throws {
  guard let target = ProcessInfo.processInfo.environment["SATCHEL_MAKE_GOLDEN"] else {
    throw ToolFailure("SATCHEL_MAKE_GOLDEN names no folder")
  }
  // The triggers tell the time by SQLite's clock, so the hub's has to be about right.
  let world = try World(random: GoldenRandom(), clock: SetClock(SystemClock().milliseconds()))
  let files = world.platform.files
  let made = try world.bundleOfEachKind()
  let (bundles, keys) = (Paths.join(target, "bundles"), Paths.join(target, "keys"))
  try files.makeDirectory(bundles, mode: 0o755)
  try files.makeDirectory(keys, mode: 0o755)
  for (name, _, _) in made where try files.kind(Paths.join(bundles, "format-1-\(name).satchel")) != nil {
    throw ToolFailure("format-1-\(name).satchel is there already: golden bundles are only ever added to")
  }
  for (name, path, signer) in made {
    let bundle = try BundleReader(platform: world.platform).read(path, trust: .keys([signer]), staging: world.folder.path)
    let text = try canonicalText(of: bundle)
    let key = Paths.join(keys, "format-1-\(bundle.manifest.from.name).pub")
    try files.copy(path, to: Paths.join(bundles, "format-1-\(name).satchel"), mode: 0o644)
    try files.replace(Paths.join(bundles, "format-1-\(name).txt"), mode: 0o644, contents: Array(text.utf8))
    try files.replace(key, mode: 0o644, contents: signer.fileBytes(comment: "satchel golden bundles, format 1"))
    print("format-1-\(name).satchel")
  }
}
