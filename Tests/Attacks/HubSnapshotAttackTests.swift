import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import TestSupport
import Testing

/// Bundles of a device with a valid signature, whose snapshot is not the database that it should be.
@Suite("Attacks on the hub by a snapshot")
struct HubSnapshotAttackTests {
  /// The fixture's dataset, but its first exports carry a snapshot.
  private static let definition = AttackFixture.definition.replacing("\"never\"", with: "\"first\"")
  private static let stamps = """
    CREATE TABLE satchel_stamps (
      table_name TEXT NOT NULL, key TEXT NOT NULL, stamp INTEGER NOT NULL, PRIMARY KEY (table_name, key)
    ) WITHOUT ROWID;
    """

  private static func instr(_ bytes: Int) -> String {
    "instr(zeroblob(\(bytes)), CAST(zeroblob(\(bytes / 2)) || x'01' AS BLOB))"
  }

  /// Why the hub refuses a bundle whose snapshot these statements make; nil: the hub accepts it.
  /// - Parameter schema: SQL that creates the hub's tables.
  private func error(
    _ lab: AttackFixture, _ sql: String, over schema: String = AttackFixture.schema
  ) throws -> (any ExplainedError)? {
    let path = lab.folder("made.sqlite")
    try lab.platform.files.removeIfThere(path)
    try Database(path: path, mode: .create).execute(schema + Self.stamps + sql)
    let bytes = try lab.platform.files.read(path, limit: 1 << 24)
    return try lab.error(of: lab.forger.bundle { $0.snapshot = bytes })
  }

  @Test("a snapshot is taken, also with a generated column that is cheap to compute")
  func sound() throws {
    let lab = try AttackFixture(definition: Self.definition)
    #expect(try error(lab, "") == nil)
    #expect(try error(lab, "ALTER TABLE notes ADD COLUMN g AS (upper(body) || (likes + 1)) VIRTUAL") == nil)
  }

  @Test(
    "a generated column that is not the table's own is refused, and not computed",
    arguments: [
      Self.instr(200_000), "\"instr\"(body, 'a')", "body LIKE '%a%a%'", "length(/* ( */ replace(body, 'a', 'bb'))",
    ])
  func generated(expression: String) throws {
    let lab = try AttackFixture(definition: Self.definition)
    let before = try Protected(lab)
    let refusal = try error(lab, "ALTER TABLE notes ADD COLUMN g AS (\(expression)) VIRTUAL")
    #expect(refusal?.reason == "bad-entry" && refusal?.message.contains("computes the column g") == true)
    #expect(try before.differences(to: Protected(lab)) == [])
  }

  @Test("a generated column that is the table's own is taken, whatever it calls")
  func own() throws {
    let lab = try AttackFixture(definition: Self.definition)
    try lab.write("ALTER TABLE notes ADD COLUMN g AS (instr(body, 'a')) VIRTUAL", in: lab.hub.folder)
    #expect(try error(lab, "ALTER TABLE notes ADD COLUMN g AS ( INSTR(\"body\",'a') ) VIRTUAL") == nil)
    #expect(try error(lab, "ALTER TABLE notes ADD COLUMN g AS (instr(body, 'b')) VIRTUAL")?.reason == "bad-entry")
  }

  /// Makes a hub that has applied version 2 of the dataset. The migration changed a generated column that may be slow.
  private func migrated() throws -> AttackFixture {
    let lab = try AttackFixture(definition: Self.definition, schema: Self.searched)
    let next = Self.definition.replacing("\"version\": 1", with: "\"version\": 2")
    _ = try lab.hub.applyDataset(
      Array(next.utf8),
      migration: Array(
        "ALTER TABLE notes DROP COLUMN found; ALTER TABLE notes ADD COLUMN found AS (instr(body, 'b')) VIRTUAL".utf8))
    return lab
  }

  private static let searched = AttackFixture.schema.replacing(
    "likes INTEGER, photo TEXT)", with: "likes INTEGER, photo TEXT, found AS (instr(body, 'a')) VIRTUAL)")

  @Test("a snapshot of a former version is taken, although a migration changed a generated column")
  func former() throws {
    let lab = try migrated()
    #expect(try error(lab, "", over: Self.searched) == nil)
    #expect(try error(lab, "") == nil)
  }

  @Test("the slow columns of a snapshot of a former version are not computed, and all else is checked")
  func formerUnread() throws {
    let lab = try migrated()
    let slow = "ALTER TABLE notes ADD COLUMN slow AS (\(Self.instr(200_000_000))) VIRTUAL;"
    #expect(try error(lab, slow) == nil)
    #expect(try error(lab, slow + "CREATE TABLE other (a)")?.message.contains("outside the dataset") == true)
    #expect(try error(lab, slow + "DROP TABLE prices")?.message.contains("has no table prices") == true)
  }

  @Test("a snapshot that the dataset does not ask for is checked like any other")
  func never() throws {
    #expect(try error(AttackFixture(), "CREATE TABLE other (a)")?.reason == "bad-entry")
    #expect(try error(AttackFixture(definition: Self.definition), "CREATE TABLE other (a)")?.reason == "bad-entry")
  }
}
