import SatchelBundle
import SatchelPlatform
import SatchelWorkspace

/// Bundles of a newer version of the dataset than the hub has, because it was set back: they wait until it has come so far again.
extension HubWorkspace {
  /// The bundles that wait in the inbox, with the version of the dataset of which each is.
  public func waiting() throws -> [(path: String, version: Int64)] {
    let paths = try WaitingBundles(folder, platform.files).list()
    if paths.isEmpty { return [] }
    let store = try examined()
    return paths.compactMap { path in
      let manifest = try? reader.manifest(of: path, trust: .keys(trustedKeys(store)))
      return manifest.map { (path, $0.version) }
    }
  }

  /// Of those, the ones that can be taken by now.
  public func dueByNow() throws -> [String] {
    let waiting = try waiting()
    if waiting.isEmpty { return [] }
    let present = try store().dataset.version
    return waiting.filter { $0.version <= present }.map(\.path)
  }

  func keepWaiting(_ path: String, _ store: HubStore) throws {
    let manifest = try reader.manifest(of: path, trust: .keys(trustedKeys(store)))
    try WaitingBundles(folder, platform.files).keep(path, as: HubArchive.name(of: manifest))
  }
}
