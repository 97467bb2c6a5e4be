import SatchelCrypto
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// A hub of few rows that somebody copies as a whole.
public struct BackedUpWorld {
  public let folder: TemporaryFolder
  public let platform: Platform
  private let hub: HubWorkspace

  private static let definition = """
    { "dataset": "shelf", "version": 1, "tables": { "books": {} } }

    """

  public init(random: any RandomSource = SeededRandom(5), clock: SetClock = SetClock()) throws {
    folder = try TemporaryFolder()
    platform = Platform(files: HostFileSystem(), clock: clock, random: random)
    let root = try folder.folder("shelf")
    let database = Paths.join(root, "data.sqlite")
    try Database(path: database, mode: .create).execute(
      "CREATE TABLE books (id TEXT PRIMARY KEY, title TEXT); INSERT INTO books VALUES ('b1', 'Walden')")
    hub = try HubWorkspace.create(
      root, definition: Array(Self.definition.utf8), database: database, name: "library", platform: platform)
    clock.advance(by: 1000)
    try Database(path: database, mode: .readWrite).execute("UPDATE books SET title = 'Walden; or, Life in the Woods'")
    _ = try hub.addUser("kim", attributes: [])
  }

  /// Its backup.
  public func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    _ = try hub.backup(to: folder("backup.satchel"))
    return [("backup", folder("backup.satchel"), try hub.keys.ownKey())]
  }
}
