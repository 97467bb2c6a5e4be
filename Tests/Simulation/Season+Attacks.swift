import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import TestSupport

/// Files that nobody made by accident. Each is refused for one reason, and changes nothing.
extension Season {
  func attack(_ device: FieldDevice, _ random: inout SplitMix64) throws {
    guard let state = try device.workspace.status().current?.state else { return }
    let platform = Platform(files: files, clock: PassingClock(time), random: SeededRandom(random.next()))
    if state.revocations > 0, random.once(in: 2) {
      return try offer(forgetful(device, after: state, platform), to: device, expecting: "older-revocations")
    }
    switch random.below(3) {
    case 0: try offer(oversized(), to: random.once(in: 2) ? device : nil, expecting: "too-large")
    case 1: try offer(rewritten("manifest.json", of: device, after: state), to: nil, expecting: "bad-digest")
    default: try offer(rewritten("changes.jsonl", of: device, after: state), to: nil, expecting: "bad-digest")
    }
  }

  /// - Parameter device: nil: it comes to the hub.
  private func offer(_ path: String, to device: FieldDevice?, expecting reason: String) throws {
    let before = try results()
    say("somebody offers \(device?.name ?? "the hub") what is to be refused as \(reason)")
    do {
      if let device { _ = try device.workspace.importBundle(path) } else { _ = try hub.importBundle(path) }
    } catch let error as any ExplainedError {
      if world.hasFailed { return }
      if error.reason != reason { throw Wrong("a forged bundle is refused as \(error.reason), and not as \(reason)") }
      if let change = Self.firstChange(before, try results()) {
        throw Wrong("a forged bundle was refused, and changed \(change)")
      }
      return
    }
    throw Wrong("a forged bundle was taken, which is to be refused as \(reason)")
  }

  private func put(_ bytes: [UInt8]) throws -> String {
    let path = stick + "/forged.satchel"
    try files.replace(path, mode: 0o644, contents: bytes)
    return path
  }

  /// It says that its signature is long, and ends there: who believes that before having looked at the limit finds it cut off.
  private func oversized() throws -> String {
    var entry = HandMadeEntry("B2SUMS.minisig")
    entry.claimedSize = 1 << 20
    return try put(zstd(entry.bytes))
  }

  /// What the device signed, but for an entry that says the same in other bytes.
  private func rewritten(_ name: String, of device: FieldDevice, after state: DeviceState) throws -> String {
    let (from, to) = (device.workspace.configuration, hub.configuration)
    var made = HandMade()
    made.set("dataset", "\"field\"")
    made.set("from", #"{"id":"\#(from.id.text)","name":"\#(from.name)"}"#)
    made.set("to", #"{"id":"\#(to.id.text)","name":"\#(to.name)"}"#)
    made.set("user", "\"user-\(device.index)\"")
    made.set("epoch", "\"\(state.epoch.text)\"")
    made.set("received", "\(state.received.rawValue)")
    let key = try device.workspace.keys.signing()
    made.comment =
      "satchel changes \(HandMade.bundle) dataset=field from=\(from.id.text) to=\(to.id.text) number=2 key=\(key.publicKey.line)"
    var entries = try made.signed(with: key)
    for place in entries.indices where entries[place].name == Array(name.utf8) {
      entries[place].content.insert(UInt8(ascii: " "), at: 1)
    }
    return try put(zstd(tar(entries)))
  }

  /// A bundle with the hub's own signature, newer than all that the device knows, that knows of no revoked keys.
  private func forgetful(_ device: FieldDevice, after state: DeviceState, _ platform: Platform) throws -> String {
    let (from, to) = (hub.configuration, device.workspace.configuration)
    var draft = try BundleDraft(in: stick, platform: platform)
    let number = EmissionNumber(state.received.rawValue + 1000)
    let manifest = Manifest(
      bundle: BundleID(random: platform.random.bytes(16)), dataset: "field", version: Int64(rules.version),
      from: .init(id: from.id, name: from.name), to: .init(id: to.id, name: to.name), user: "user-\(device.index)",
      created: "2100-01-01T00:00:00Z", stamp: .zero,
      body: .scope(
        .init(epoch: state.epoch, number: number, after: state.received, extent: .delta, acknowledged: state.acknowledged)))
    let sealed = try draft.seal(manifest, with: hub.keys.signing())
    return try put(files.read(draft.write(sealed), limit: 1 << 20))
  }
}
