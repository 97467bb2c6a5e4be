import SatchelPlatform
import SatchelValues

/// The medium that holds a folder, as far as this machine's lists of mounts say.
struct Medium {
  static let plainFolder = OptionSpec(
    "plain-folder", help: "use the folder although no medium is mounted on it")

  /// The folders in which this machine mounts media.
  private static let places = ["/media", "/run/media", "/mnt"]

  private let folder: String
  /// Whether a person can take the medium away: it is mounted in a place for media, or exactly on the folder.
  let isRemovable: Bool
  /// Whether the folder is in a place for media, and no medium is mounted there. Files would stay on this machine.
  private let isMissing: Bool

  init(of folder: String, _ files: any FileSystem) throws {
    let path = Paths.absolute(folder, currentDirectory: try files.currentDirectory())
    // The longest path is the file system that holds the folder.
    let mount = try files.mounts().map(\.path).filter { Self.holds($0, path) }.max { $0.utf8.count < $1.utf8.count }
    let places = Self.places.filter { Self.holds($0, path) }
    let planned = try files.plannedMounts().filter { $0 != "/" && Self.holds($0, path) }
    self.folder = path
    isRemovable =
      mount.map { mount in mount != "/" && (mount == path || places.contains { Self.holds($0, mount) }) } ?? false
    isMissing = mount.map { mount in !(places + planned).allSatisfy { Self.holds($0, mount) } } ?? false
  }

  /// Whether a path is the folder, or is in it.
  private static func holds(_ folder: String, _ path: String) -> Bool {
    folder == "/" || path == folder || path.utf8.starts(with: "\(folder)/".utf8)
  }

  /// Throws a `WorkspaceError` if the medium is missing, unless the command says that the plain folder is meant.
  func check(for command: ParsedCommand) throws {
    guard isMissing, !command.flag(Self.plainFolder.long) else { return }
    throw WorkspaceError(
      .notMounted, "Nothing is mounted at \(folder): files would stay on this computer.",
      hint: "Plug the stick in, and open it once. If you mean this folder: --plain-folder")
  }
}

extension ParsedCommand {
  /// Throws a `WorkspaceError` if a path is in a place for media, and nothing is mounted there.
  func checkMedium(of path: String, _ context: CommandContext) throws {
    try Medium(of: path, context.platform.files).check(for: self)
  }
}
