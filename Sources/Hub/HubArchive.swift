import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The devices' bundles in the hub's `bundles/archive`, which are called by dataset, device, number and the beginning
/// of the bundle's id: two with one number may have come.
struct HubArchive {
  private let folder: WorkspaceFolder
  private let files: any FileSystem

  init(_ folder: WorkspaceFolder, _ files: any FileSystem) {
    self.folder = folder
    self.files = files
  }

  private static let idDigits = 8

  /// Copies a bundle that is about to be taken beside the others, under a name of no meaning: it can then be kept
  /// whatever becomes of the stick. nil where it is kept already.
  func bring(_ path: String, _ manifest: Manifest) throws -> String? {
    if try files.kind(place(of: manifest)) != nil { return nil }
    let brought = Paths.join(folder.archive, HostFileSystem.temporaryPrefix + manifest.bundle.text)
    try files.copy(path, to: brought, mode: 0o644)
    return brought
  }

  /// Keeps what was brought, once the bundle was taken.
  func keep(_ brought: String, _ manifest: Manifest) throws { try files.rename(brought, to: place(of: manifest)) }

  private func place(of manifest: Manifest) -> String { Paths.join(folder.archive, Self.name(of: manifest)) }

  static func name(of manifest: Manifest) -> String {
    name(dataset: manifest.dataset, device: manifest.from.name, number: manifest.number, bundle: manifest.bundle)
  }

  static func name(dataset: String, device: String, number: Int64, bundle: BundleID) -> String {
    "\(prefix(dataset: dataset, device: device))\(number)-\(bundle.text.prefix(idDigits)).satchel"
  }

  /// The numbers and paths of a device's bundles.
  func bundles(of device: String, dataset: String) throws -> [(number: Int64, path: String)] {
    let prefix = Self.prefix(dataset: dataset, device: device)
    return try files.list(folder.archive).compactMap { name in
      Self.number(in: name, behind: prefix).map { ($0, Paths.join(folder.archive, name)) }
    }
  }

  private static func prefix(dataset: String, device: String) -> String { "\(dataset)-\(device)-" }

  /// nil where the name is one of another device, whose own name may begin with this one's.
  private static func number(in name: String, behind prefix: String) -> Int64? {
    let suffix = ".satchel"
    guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
    let parts = name.dropFirst(prefix.count).dropLast(suffix.count).split(
      separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.count == idDigits else { return nil }
    return Int64(parts[0])
  }
}
