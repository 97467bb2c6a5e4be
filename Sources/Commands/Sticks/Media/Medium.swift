import SatchelPlatform
import SatchelValues

/// The medium that holds a folder. The machine's lists of mounts say which medium it is.
struct Medium {
  static let plainFolder = OptionSpec(
    "plain-folder", help: "use the folder although no medium is mounted on it")
  static let trustSize = OptionSpec(
    "trust-size", help: "do not test whether a new stick has the size that it reports")

  /// The folders in which this machine mounts media, each in a folder of its own.
  private static let places = ["/media", "/run/media"]
  /// A folder on which administrators mount one medium, or in which they mount several.
  private static let free = "/mnt"

  private let folder: String
  /// Whether the folder is a mounted medium that a person can take away.
  let isRemovable: Bool
  /// Whether the folder is in a place for media, and no medium is mounted there. Files would stay on this machine.
  private let isMissing: Bool
  /// The type of the file system that holds the folder; empty if it is not known.
  private let type: String

  init(of folder: String, _ files: any FileSystem) throws {
    let path = try files.resolved(folder)
    // If a list of mounts cannot be read, it counts as empty. Without mounts, every folder is a plain folder.
    let mounts = (try? files.mounts()) ?? []
    let planned = try ((try? files.plannedMounts()) ?? []).map { try files.resolved($0) }
    // The mount with the longest path holds the folder.
    let mount = mounts.map(\.path).filter { Self.holds($0, path) }.max { $0.utf8.count < $1.utf8.count }
    self.folder = path
    type = mounts.last { $0.path == mount }?.type ?? ""
    isRemovable = mount == path && (Self.places + [Self.free]).contains { Self.holds($0, path) }
    let inside = Self.places.filter { $0 != path && Self.holds($0, path) }
    let around = ([Self.free] + planned).filter { $0 != "/" && Self.holds($0, path) }
    isMissing =
      mount.map { mount in
        !inside.allSatisfy { $0 != mount && Self.holds($0, mount) } || !around.allSatisfy { Self.holds($0, mount) }
      } ?? false
  }

  /// Whether a path is the folder, or is in it.
  private static func holds(_ folder: String, _ path: String) -> Bool {
    folder == "/" || path == folder || path.utf8.starts(with: "\(folder)/".utf8)
  }

  /// Whether a resolved path is the folder, or is in it.
  func contains(_ path: String) -> Bool { Self.holds(folder, path) }

  /// Throws a `WorkspaceError` if the medium is missing, unless the command says that the plain folder is meant.
  func check(for command: ParsedCommand) throws {
    if !command.flag(Self.plainFolder.long) { try refuseMissing() }
  }

  /// Throws a `WorkspaceError` if the medium is missing.
  func refuseMissing() throws {
    guard isMissing else { return }
    throw WorkspaceError(
      .notMounted, "No medium is mounted for \(folder): its files would stay on this computer.",
      hint: "Plug the stick in, and open it once. If you mean this folder: --plain-folder")
  }

  /// Whether the size of the medium should be tested before it is used.
  /// - Parameter command: must declare `trustSize`.
  func mustProveSize(for command: ParsedCommand) -> Bool {
    isRemovable && SizeCheck.fileSystems.contains(type) && !command.dryRun && !command.flag(Self.trustSize.long)
  }
}

extension ParsedCommand {
  /// Throws a `WorkspaceError` if a path is in a place for media, and nothing is mounted there.
  func checkMedium(of path: String, _ context: CommandContext) throws {
    try Medium(of: path, context.platform.files).check(for: self)
  }
}
