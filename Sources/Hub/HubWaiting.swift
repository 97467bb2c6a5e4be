import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// A bundle that nothing is wrong with and that cannot be merged yet.
public struct WaitingBundle: Sendable {
  public let path: String
  public let device: String
  public let number: Int64
  /// For what it waits.
  public let reason: Reason

  public enum Reason: Sendable {
    /// For the hub to have this version of the dataset.
    case version(Int64)
    /// For earlier exports of its device: the hub has those up to this one.
    case earlier(than: SequenceNumber)
    /// For the operator: the hub was set back.
    case setBack
    /// For nothing any more: the next import merges it.
    case due
  }

  /// A word that does not change.
  public var word: String {
    switch reason {
    case .version: "newer-dataset"
    case .earlier: "gap"
    case .setBack: "set-back"
    case .due: "due"
    }
  }
}

/// Bundles that wait in `bundles/inbox/waiting`.
extension HubWorkspace {
  /// The bundles that wait, with what each waits for.
  public func waiting() throws -> [WaitingBundle] {
    let paths = try WaitingBundles(folder, platform.files).list()
    if paths.isEmpty { return [] }
    let store = try examined()
    let isSetBack = try store.setBack() != nil
    return try paths.compactMap { path in
      guard let manifest = try reader.manifestIfSound(of: path, trust: .keys(trustedKeys(store))) else { return nil }
      let isOurs = manifest.from.id == store.identity.id
      return WaitingBundle(
        path: path, device: isOurs ? manifest.to.name : try known(manifest, store).from.name,
        number: manifest.wholeNumber,
        reason: isSetBack ? .setBack : try reason(for: manifest, store))
    }
  }

  private func reason(for manifest: Manifest, _ store: HubStore) throws -> WaitingBundle.Reason {
    if manifest.version > store.dataset.version, manifest.kind == .changes { return .version(manifest.version) }
    guard case .changes(let changes) = manifest.body, let device = try store.device(manifest.from.id),
      changes.base != nil,
      changes.sequence > device.merged, !changes.reaches(back: device.merged)
    else { return .due }
    return .earlier(than: device.merged)
  }

  /// Of those, the ones that can be merged by now, in the order in which they need each other.
  public func dueByNow() throws -> [String] {
    try waiting().filter { if case .due = $0.reason { true } else { false } }.map(\.path)
  }

  /// Keeps a bundle that cannot be merged yet. It is read once more, to its end: what is kept is what is verified now.
  func keepWaiting(_ path: String, _ store: HubStore) throws {
    let waiting = WaitingBundles(folder, platform.files)
    if waiting.has(path) { return }
    let bundle = try reader.read(path, trust: .keys(trustedKeys(store)), staging: folder.inbox, file: .kept)
    try waiting.keep(bundle, from: path, as: HubArchive.name(of: bundle.manifest))
  }
}
