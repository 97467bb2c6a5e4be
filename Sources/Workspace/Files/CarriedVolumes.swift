import SatchelBundle
import SatchelJSON
import SatchelPlatform
import SatchelValues

/// A bundle that is too large for one stick, with a record of the volumes that were put on sticks.
public struct CarriedVolumes: Sendable {
  /// The file name of the whole bundle.
  public let whole: String
  /// The largest size of a volume's file, in bytes. Volumes that were cut at different times fit together if this
  /// size is the same.
  let size: Int64
  /// The number of volumes, without parity volumes.
  public let parts: Int64
  /// The number of parity volumes. Their volume numbers begin after `parts`.
  public internal(set) var parity: Int64
  /// The numbers of the volumes that were put on a stick.
  let put: Set<Int64>
  /// The numbers of the volumes that this command put on a stick. They are not stored.
  public internal(set) var now: Set<Int64> = []

  /// The numbers of the volumes that no stick has yet.
  public var missing: [Int64] { (1...(parts + parity)).filter { !put.contains($0) } }

  /// The same state with the number of parity volumes that is requested now. The number never falls, because sticks
  /// may already carry parity volumes.
  /// - Throws: `WorkspaceError` if the bundle would have too many volumes.
  func adding(_ requested: ParityShare) throws -> CarriedVolumes {
    var volumes = self
    volumes.parity = max(parity, requested.count(for: parts))
    guard volumes.parity == parity || parts + volumes.parity <= Manifest.Volume.mostWithParity else {
      throw WorkspaceError(
        .tooManyVolumes,
        """
        Sticks carry \(whole) in \(parts) volumes already. Together with its parity volumes, a bundle has at most \
        \(Manifest.Volume.mostWithParity).
        """, hint: "Leave --parity out, or request fewer parity volumes.")
    }
    return volumes
  }

  /// Whether sticks still lack volumes of this bundle, and the receiver needs it: its name is `prefix` and a number
  /// above `number`.
  public func isAwaited(_ prefix: String, above number: Int64) -> Bool {
    guard let own = BundleArchive.number(in: whole, prefix) else { return false }
    return own > number && !missing.isEmpty
  }
}

extension CarriedVolumes {
  fileprivate init?(_ document: JSONValue) {
    guard let whole = document["whole"]?.stringValue, let size = document["size"]?.integerValue,
      let parts = document["parts"]?.integerValue, let put = document["put"]?.arrayValue, parts > 0
    else { return nil }
    // Earlier releases wrote no parity.
    let parity = max(0, document["parity"]?.integerValue ?? 0)
    guard parity == 0 || parts <= Manifest.Volume.mostWithParity - parity else { return nil }
    self.init(
      whole: whole, size: size, parts: parts, parity: parity,
      put: Set(put.compactMap(\.integerValue).filter { (1...(parts + parity)).contains($0) }))
  }

  fileprivate var json: JSONValue {
    [
      "whole": .string(whole), "size": .integer(size), "parts": .integer(parts), "parity": .integer(parity),
      "put": .array(put.sorted().map { .integer($0) }),
    ]
  }
}

/// The file `bundles/volumes.json`: the bundles of this workspace that sticks carry in volumes.
///
/// If the file is lost, the volumes of a bundle are put on sticks again, beginning with the first volume.
public struct CarriedVolumesFile {
  private let folder: WorkspaceFolder
  private let files: any FileSystem

  public init(_ folder: WorkspaceFolder, _ files: any FileSystem) { (self.folder, self.files) = (folder, files) }

  private var path: String { folder.path("bundles/volumes.json") }
  /// Enough for 9,999 volume numbers for each of many receivers.
  private static let mostBytes = 16 << 20

  public func list() throws -> [CarriedVolumes] {
    let document = try folder.document(at: path, files, mostBytes: Self.mostBytes)
    return (document?["volumes"]?.arrayValue ?? []).compactMap { CarriedVolumes($0) }
  }

  /// Stores the state of one bundle and replaces its earlier state.
  func save(_ volumes: CarriedVolumes) throws {
    try store(list().filter { $0.whole != volumes.whole } + [volumes])
  }

  /// Removes bundles from the file, because newer bundles contain their changes or because a stick has the whole
  /// bundle.
  /// - Parameter isPast: whether the bundle with this file name is removed.
  public func forget(_ isPast: (_ whole: String) -> Bool) throws {
    let all = try list()
    let left = all.filter { !isPast($0.whole) }
    if left.count < all.count { try store(left) }
  }

  private func store(_ all: [CarriedVolumes]) throws {
    if all.isEmpty { return try files.removeIfThere(path) }
    let document: JSONValue = ["volumes": .array(all.map(\.json))]
    try files.replace(path, mode: 0o644, contents: document.prettyBytes)
  }
}
