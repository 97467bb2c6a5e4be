import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The devices' bundles in the hub's `bundles/archive`. A file name contains the dataset, the device, the number, and
/// the beginning of the bundle's id. The id distinguishes two bundles with the same number.
struct HubArchive {
  private let folder: WorkspaceFolder
  private let files: any FileSystem

  init(_ folder: WorkspaceFolder, _ files: any FileSystem) {
    self.folder = folder
    self.files = files
  }

  private static let idDigits = 8

  /// The copy of a bundle that a command put into the archive before the merge. The file name has the bundle's id and
  /// digest, because the file may be encrypted. With both, the hub finds the bundle in the ledger.
  struct Pending {
    let path: String
    let bundle: BundleID
    /// The beginning of the digest of the bundle's `B2SUMS`, in hexadecimal.
    let digest: String

    /// Other files of the archive do not have this prefix, so no command removes a pending file as a leftover.
    private static let prefix = "pending-"
    private static let digits = 64

    init(_ manifest: Manifest, _ digest: Digest, in folder: WorkspaceFolder) {
      bundle = manifest.bundle
      self.digest = String(digest.hexadecimal.prefix(Self.digits))
      path = Paths.join(folder.archive, "\(Self.prefix)\(bundle.text)~\(self.digest)")
    }

    init?(_ name: String, in folder: WorkspaceFolder) {
      guard name.hasPrefix(Self.prefix) else { return nil }
      let parts = name.dropFirst(Self.prefix.count).split(separator: "~", omittingEmptySubsequences: false)
      guard parts.count == 2, let bundle = BundleID(String(parts[0])), parts[1].utf8.count == Self.digits else {
        return nil
      }
      (path, self.bundle, digest) = (Paths.join(folder.archive, name), bundle, String(parts[1]))
    }
  }

  /// Copies a bundle into the archive under a pending name, before the bundle is merged. After that, no failure of the
  /// stick or of this command can lose the bundle.
  func bring(_ bundle: borrowing VerifiedBundle) throws -> Pending {
    let pending = Pending(bundle.manifest, bundle.digest, in: folder)
    try bundle.file.put(at: pending.path)
    return pending
  }

  func pending() throws -> [Pending] {
    guard try files.kind(folder.archive) == .directory else { return [] }
    return try files.list(folder.archive).compactMap { Pending($0, in: folder) }
  }

  /// Gives a pending bundle its final name if the ledger shows that the bundle was merged. Otherwise removes the file.
  func settle(_ pending: Pending, _ store: HubStore) throws {
    if let name = try store.archivedName(of: pending) {
      try files.rename(pending.path, to: Paths.join(folder.archive, name))
    } else {
      try files.remove(pending.path)
    }
  }

  /// Syncs the names of the archive's files to the medium. An earlier command may have failed before it did that.
  func secure() throws { try files.syncDirectory(folder.archive) }

  func place(of manifest: Manifest) -> String { Paths.join(folder.archive, Self.name(of: manifest)) }

  static func name(of manifest: Manifest) -> String {
    name(dataset: manifest.dataset, device: manifest.from.name, number: manifest.number, bundle: manifest.bundle)
  }

  static func name(dataset: String, device: String, number: Int64, bundle: BundleID) -> String {
    "\(prefix(dataset: dataset, device: device))\(number)-\(bundle.text.prefix(idDigits)).satchel"
  }

  /// Returns the numbers and paths of a device's bundles.
  func bundles(of device: String, dataset: String) throws -> [(number: Int64, path: String)] {
    try Self.bundles(of: device, dataset: dataset, in: folder.archive, files)
  }

  /// Returns the numbers and paths of a device's bundles in a folder. The files must have the same names as in the
  /// archive.
  static func bundles(
    of device: String, dataset: String, in place: String, _ files: any FileSystem
  ) throws -> [(number: Int64, path: String)] {
    let prefix = prefix(dataset: dataset, device: device)
    return try files.list(place).compactMap { name in
      number(in: name, behind: prefix).map { ($0, Paths.join(place, name)) }
    }
  }

  private static func prefix(dataset: String, device: String) -> String { "\(dataset)-\(device)-" }

  /// Returns the number in a file name. nil if the file belongs to another device. The other device's name may begin
  /// with this device's name.
  private static func number(in name: String, behind prefix: String) -> Int64? {
    let suffix = ".satchel"
    guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
    let parts = name.dropFirst(prefix.count).dropLast(suffix.count).split(
      separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.count == idDigits else { return nil }
    return Int64(parts[0])
  }
}

extension HubStore {
  /// Returns the name in the archive for a pending bundle. nil if the bundle was not merged.
  func archivedName(of pending: HubArchive.Pending) throws -> String? {
    try Ledger.export(pending.bundle, digest: pending.digest, in: database).map {
      HubArchive.name(dataset: dataset.name, device: $0.sender, number: $0.number, bundle: pending.bundle)
    }
  }
}
