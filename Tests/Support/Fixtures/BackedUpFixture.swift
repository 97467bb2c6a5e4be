import SatchelCrypto
import SatchelHub
import SatchelPlatform

/// A hub with few rows that is backed up as a whole.
struct BackedUpFixture: GoldenStory {
  let ground: WorkspaceFixture
  private let hub: HubWorkspace

  private static let definition = """
    { "dataset": "shelf", "version": 1, "tables": { "books": {} } }

    """

  init(random: any RandomSource, clock: SetClock) throws {
    ground = try WorkspaceFixture(random: random, clock: clock)
    hub = try ground.hub(
      "shelf", called: "library", definition: Array(Self.definition.utf8),
      schema: "CREATE TABLE books (id TEXT PRIMARY KEY, title TEXT); INSERT INTO books VALUES ('b1', 'Walden')")
    try write("UPDATE books SET title = 'Walden; or, Life in the Woods'", in: hub.folder)
    _ = try hub.addUser("kim", attributes: [])
  }

  /// The backup of the hub.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    _ = try hub.backup(to: folder("backup.satchel"))
    return [("backup", folder("backup.satchel"), try hub.keys.ownKey())]
  }
}
