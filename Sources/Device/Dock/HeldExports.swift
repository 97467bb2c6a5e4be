import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The folder `dock/held`. It holds the exports of a dock while the copy of the database goes to the tablet.
///
/// The exports must not leave this machine before the copy is on the tablet, and must not get lost after that. A
/// command may be killed between the two, or the disk may be full. So the exports stay in this folder until they are
/// moved to the outbox. The next dock reads in the tablet's database whether the copy is on the tablet.
struct HeldExports {
  private let workspace: DeviceWorkspace

  private var files: any FileSystem { workspace.platform.files }
  private var folder: String { Paths.join(workspace.folder.dock, Self.name) }
  /// The path of the list, with a line for each export: sequence, digest, name. The list is written after the exports.
  private var list: String { Paths.join(folder, "exports.txt") }

  /// The name of the folder in `dock`.
  static let name = "held"

  init(_ workspace: DeviceWorkspace) { self.workspace = workspace }

  /// Moves the exports of a dock into this folder, before the copy of the database goes to the tablet.
  func keep(_ docking: Docking) throws {
    try remove()
    try files.makeDirectory(folder, mode: 0o700)
    var lines = ""
    for export in docking.exports {
      try files.rename(export.path, to: Paths.join(folder, export.name))
      lines += "\(export.sequence.rawValue) \(export.digest.hexadecimal) \(export.name)\n"
    }
    try files.syncDirectory(folder)
    try files.replace(list, mode: 0o600, contents: Array(lines.utf8))
    docking.move(to: folder)
  }

  /// The exports of an interrupted dock; nil: no dock was interrupted.
  private func left() throws -> [Docking.HeldExport]? {
    guard try files.kind(list) == .file else { return nil }
    let text = String(decoding: try files.read(list, limit: 1 << 20), as: UTF8.self)
    return text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ", maxSplits: 2)
      guard words.count == 3, let sequence = Int64(words[0]), let digest = Digest(hexadecimal: String(words[1])) else {
        return nil
      }
      let name = String(words[2])
      return .init(
        name: name, sequence: SequenceNumber(sequence), digest: digest, path: Paths.join(folder, name))
    }
  }

  /// Whether the folder holds exports of an interrupted dock. Its copy of the database may have reached a tablet.
  func isAny() throws -> Bool { try left() != nil }

  /// Settles the exports of an interrupted dock. If the tablet's database has a record of the exports, they move to the
  /// outbox. They also move there if the tablet lost its database. Otherwise the tablet never got the copy, and its own
  /// database has all changes. The exports are then only put aside.
  /// - Parameter path: a copy of the tablet's database; nil: the tablet lost its database.
  func settle(_ path: String?) throws {
    guard let left = try left() else { return try remove() }
    if try path.map({ try isRecorded(left, in: $0) }) ?? true {
      let archive = BundleArchive(workspace.folder, files)
      for export in left where try files.kind(export.path) == .file {
        try archive.keepOwn(export.path, as: export.name)
        try files.rename(export.path, to: Paths.join(workspace.folder.outbox, export.name))
      }
    } else {
      try files.makeDirectory(workspace.folder.former, mode: 0o755)
      for export in left where try files.kind(export.path) == .file {
        try files.rename(export.path, to: Paths.join(workspace.folder.former, "not-docked-\(export.name)"))
      }
    }
    try remove()
  }

  private func isRecorded(_ exports: [Docking.HeldExport], in path: String) throws -> Bool {
    let database = try Database(path: path, mode: .readWrite)
    guard try database.hasTable("satchel_exports") else { return false }
    return try exports.allSatisfy { try ExportTable.digest(of: $0.sequence, in: database) == $0.digest }
  }

  func remove() throws { try files.removeTree(folder) }
}
