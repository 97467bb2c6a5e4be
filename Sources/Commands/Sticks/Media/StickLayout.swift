import SatchelPlatform
import SatchelWorkspace

/// The folders of a stick. Bundles are in `SATCHEL/<dataset>/<to>/<from>/`, so one stick serves many replicas of many
/// datasets, and each takes only its own bundles.
///
/// Earlier releases used `SATCHEL/<to>/<from>/`. Their bundles are still found.
struct StickLayout {
  static let folderName = "SATCHEL"

  /// The stick itself.
  let folder: String
  /// The stick's folder for bundles.
  let root: String

  init(_ folder: String) {
    self.folder = folder
    root = Paths.join(folder, Self.folderName)
  }

  /// Whether the stick has its folder for bundles. A link with this name counts too, so that a message refuses its use.
  func isUsed(_ files: any FileSystem) throws -> Bool { try [.directory, .link].contains(files.kind(root)) }

  /// The folders with the bundles for one replica. Each has a folder for each sender.
  func inboxes(of receiver: String, dataset: String) -> [String] {
    [Paths.join(Paths.join(root, dataset), receiver), Paths.join(root, receiver)]
  }

  /// The folders in which a replica may put its bundles to `receiver`.
  /// - Returns: the usual folder, and two folders for the case that another replica has the same names. There are two,
  ///   because two copies of one replica may use one number.
  func places(to receiver: String, from replica: WorkspaceConfiguration) -> (usual: String, others: [String]) {
    let inbox = inboxes(of: receiver, dataset: replica.dataset)[0]
    let names = Self.senders(replica)
    return (Paths.join(inbox, names[0]), names.dropFirst().map { Paths.join(inbox, $0) })
  }

  /// The names of the folders in which a replica may put its bundles, the usual name first.
  static func senders(_ replica: WorkspaceConfiguration) -> [String] {
    let id = replica.id.text
    return [replica.name, "\(replica.name)-\(id.prefix(partOfID))", "\(replica.name)-\(id.suffix(partOfID))"]
  }

  /// The names that the sender may have: the folder's name, or this name without a part of an id at its end.
  static func senders(of folder: String) -> [String] {
    let name = Paths.name(of: folder)
    return [name, String(name.dropLast(partOfID + 1))]
  }

  /// The sender that the folder of a file names. nil if the folder's name has no part of the sender's id.
  static func sender(ofFile path: String) -> ClaimedSender? {
    let folder = Paths.name(of: Paths.parent(of: path))
    let (name, part) = (folder.dropLast(partOfID + 1), folder.suffix(partOfID))
    guard !name.isEmpty, folder.dropLast(partOfID).hasSuffix("-"), part.utf8.count == partOfID else { return nil }
    return ClaimedSender(name: String(name), partOfID: String(part))
  }

  /// The folder in which an earlier release put bundles.
  func formerPlace(to receiver: String, from sender: String) -> String {
    Paths.join(Paths.join(root, receiver), sender)
  }

  /// Number of digits of a replica's id in the name of its folder.
  private static let partOfID = 8
}
