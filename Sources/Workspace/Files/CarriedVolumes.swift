import SatchelBundle
import SatchelJSON
import SatchelPlatform
import SatchelValues

/// A bundle that is larger than one stick, and which of its volumes were put on sticks.
public struct CarriedVolumes: Sendable {
  /// The file name of the whole bundle.
  public let whole: String
  /// The largest size of a volume's file, in bytes. Volumes of one size fit together, whenever they are cut.
  let size: Int64
  /// The number of volumes, without parity volumes.
  public let parts: Int64
  /// The number of parity volumes. Their numbers follow `parts`.
  public internal(set) var parity: Int64
  /// The numbers of the volumes that were put on a stick.
  let put: Set<Int64>
  /// The numbers of the volumes that this command put on a stick. They are not stored.
  public internal(set) var now: Set<Int64> = []

  /// The numbers of the volumes that no stick has yet.
  public var missing: [Int64] { (1...(parts + parity)).filter { !put.contains($0) } }

  /// The same state, with parity volumes that are requested now. There are never fewer than before, because sticks may
  /// carry them.
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

  /// Whether this is an incomplete bundle with the name `prefix` and a number above `number`, which the receiver has.
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
    // A file of an earlier release has no parity.
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
/// If the file is lost, the bundle is put on sticks from its first volume on.
public struct CarriedVolumesFile {
  private let folder: WorkspaceFolder
  private let files: any FileSystem

  public init(_ folder: WorkspaceFolder, _ files: any FileSystem) { (self.folder, self.files) = (folder, files) }

  private var path: String { folder.path("bundles/volumes.json") }
  /// Up to 9,999 numbers for each of many receivers.
  private static let mostBytes = 16 << 20

  public func list() throws -> [CarriedVolumes] {
    let document = try folder.document(at: path, files, mostBytes: Self.mostBytes)
    return (document?["volumes"]?.arrayValue ?? []).compactMap { CarriedVolumes($0) }
  }

  /// Stores the state of one bundle, in place of an earlier state.
  func save(_ volumes: CarriedVolumes) throws {
    try store(list().filter { $0.whole != volumes.whole } + [volumes])
  }

  /// Forgets bundles, because other bundles contain their changes or because they are on a stick as a whole.
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
