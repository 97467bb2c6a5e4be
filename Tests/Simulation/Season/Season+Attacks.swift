import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import TestSupport

/// Forged files. Each is refused for one reason, and changes nothing.
extension Season {
  func attack(_ device: FieldDevice, _ random: inout SplitMix64) throws {
    guard let state = try device.workspace.status().current?.state, try !parts || areOfOneHistory(state) else { return }
    let platform = Platform(files: files, clock: PassingClock(time), random: SeededRandom(random.next()))
    if state.revocations > 0, random.once(in: 2) {
      return try offer(
        signedByHub(for: device, state, after: state.received, platform), to: device, expecting: "older-revocations")
    }
    switch random.below(4) {
    case 0: try offer(oversized(), to: random.once(in: 2) ? device : nil, expecting: "too-large")
    case 1:
      let missing = EmissionNumber(state.received.rawValue + 500)
      try offer(signedByHub(for: device, state, after: missing, platform), to: device, expecting: "gap")
    case 2:
      // The JSON has the same meaning, but one more byte.
      try offer(
        rewritten(device, after: state) { $0[2].content.insert(UInt8(ascii: " "), at: 1) }, to: nil,
        expecting: "bad-digest")
    default:
      // A restored hub may lack earlier exports. Then it does not check the file any further.
      if presence.isRestored { return }
      try offer(
        rewritten(device, after: state) { entries in
          let letters = entries[3].content
          for place in letters.indices where letters[place] == UInt8(ascii: "x") { entries[3].content[place] += 1 }
        }, to: nil, expecting: "bad-digest")
    }
  }

  /// - Parameter device: the receiver of the file. nil: the hub.
  func offer(_ path: String, to device: FieldDevice?, expecting reason: String) throws {
    let before = try results()
    say("a file is offered to \(device?.name ?? "the hub"), to be refused as \(reason)")
    do {
      if let device { _ = try device.workspace.importBundle(path) } else { _ = try hub.importBundle(path) }
    } catch let error as any ExplainedError {
      if world.hasFailed { return }
      // A hub checks its own clock before the bundle.
      if error.reason != reason, error.reason != "clock" {
        throw Wrong("a forged bundle is refused as \(error.reason), and not as \(reason)")
      }
      if let change = Self.firstChange(before, try results()) {
        throw Wrong("a forged bundle was refused, and changed \(change)")
      }
      return
    }
    throw Wrong("a forged bundle was taken, which is to be refused as \(reason)")
  }

  func put(_ bytes: [UInt8]) throws -> String {
    let path = stick + "/forged.satchel"
    try files.replace(path, mode: 0o644, contents: bytes)
    return path
  }

  /// A file that claims a long signature, and ends there. A reader that trusts the length before it checks the limit
  /// would report a truncated file.
  private func oversized() throws -> String {
    var entry = HandMadeEntry("B2SUMS.minisig")
    entry.claimedSize = 1 << 20
    return try put(zstd(entry.bytes))
  }

  /// An export in the device's name, signed with the device's key. `change` changes its entries after signing.
  func rewritten(
    _ device: FieldDevice, after state: DeviceState, sequence: Int64 = 2, saying members: [String: String] = [:],
    _ change: (inout [HandMadeEntry]) -> Void
  ) throws -> String {
    let (from, to) = (device.workspace.configuration, hub.configuration)
    var made = HandMade()
    made.set("dataset", "\"field\"")
    made.set("from", #"{"id":"\#(from.id.text)","name":"\#(from.name)"}"#)
    made.set("to", #"{"id":"\#(to.id.text)","name":"\#(to.name)"}"#)
    made.set("user", "\"\(user(of: device.index))\"")
    made.set("epoch", "\"\(state.epoch.text)\"")
    made.set("incarnation", "\"\(state.incarnation.text)\"")
    made.set("received", "\(state.received.rawValue)")
    made.set("sequence", "\(sequence)")
    // The default chain names an export that this device did not make.
    if sequence != 2 || !members.isEmpty { made.set("chain", "[]") }
    for (name, text) in members.sorted(by: { $0.key < $1.key }) {
      made.set(name, "\"\(text.replacing("\n", with: "\\n"))\"")
    }
    let key = try device.workspace.keys.signing()
    made.comment =
      """
      satchel changes \(HandMade.bundle) dataset=field from=\(from.id.text) to=\(to.id.text) number=\(sequence) \
      key=\(key.publicKey.line)
      """
    var entries = try made.signed(with: key)
    change(&entries)
    return try put(zstd(tar(entries)))
  }

  /// A bundle with the hub's own signature. It is newer than everything that the device has, and lacks the list of
  /// revoked keys.
  /// - Parameter emission: the emission on which the bundle builds.
  private func signedByHub(
    for device: FieldDevice, _ state: DeviceState, after emission: EmissionNumber, _ platform: Platform
  ) throws -> String {
    try sign(
      Manifest.Scope(
        epoch: state.epoch, number: EmissionNumber(state.received.rawValue + 1000), after: emission, extent: .delta,
        acknowledged: state.acknowledged), for: device, platform)
  }

  /// A bundle with the hub's own signature and the content that `fill` adds.
  func sign(
    _ scope: Manifest.Scope, for device: FieldDevice, _ platform: Platform,
    _ fill: (inout BundleDraft) throws -> Void = { _ in }
  ) throws -> String {
    let (from, to) = (hub.configuration, device.workspace.configuration)
    var draft = try BundleDraft(in: stick, platform: platform)
    try fill(&draft)
    let manifest = Manifest(
      bundle: BundleID(random: platform.random.bytes(16)), dataset: "field",
      version: try device.workspace.status().current?.version ?? Int64(rules.version),
      from: .init(id: from.id, name: from.name), to: .init(id: to.id, name: to.name), user: user(of: device.index),
      created: "2100-01-01T00:00:00Z", stamp: .zero, changes: draft.count(of: .changes), body: .scope(scope))
    let sealed = try draft.seal(manifest, with: hub.keys.signing())
    return try put(files.read(draft.write(sealed), limit: 1 << 20))
  }
}
