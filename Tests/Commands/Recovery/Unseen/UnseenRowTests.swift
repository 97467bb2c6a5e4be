import Foundation
import SatchelJSON
import SatchelPlatform
import Synchronization
import Testing

/// A clock that advances one second with each reading. If a row were kept twice, there would be two conflicts with
/// different times.
private final class TickingClock: WallClock {
  private let now = Atomic<Int64>(SystemClock().milliseconds())

  func milliseconds() -> Int64 { now.add(1_000, ordering: .relaxed).newValue }
  func pause(milliseconds: Int64) {}
}

/// Writes that capture does not record. The next bundle changes keys, or the version of the dataset.
@Suite("Unseen writes in bundles that change keys or tables")
struct UnseenRowTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.openWoods()
  }

  private func unseen(_ sql: String) throws { try camp.writeUnseen("tablet/data.sqlite", sql) }

  /// The tablet imports the hub's newest bundle for it. Returns the command's report about this bundle.
  private func fetch() throws -> JSONValue {
    try camp.fetchForTablet(camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-"))
  }

  private func names(_ table: String) throws -> String {
    try camp.rows("tablet/data.sqlite", "SELECT id || ' ' || name FROM \(table) ORDER BY id")
  }

  @Test("a bundle that gives a row another key keeps what was written unseen in other rows")
  func rekeyedBeside() throws {
    try camp.sql("phone/data.sqlite", "INSERT INTO trees VALUES (2, 'elm')")
    camp.deliver("phone", 1)
    try camp.sql("tablet/data.sqlite", "INSERT INTO trees VALUES (2, 'ash')")
    camp.deliver("tablet", 2)
    try unseen("UPDATE sites SET name = 'Swamp' WHERE id = 'lake'; UPDATE trees SET name = 'stump' WHERE id = 1")
    try camp.sql(
      "office.sqlite", "UPDATE sites SET name = 'Sea' WHERE id = 'lake'; UPDATE trees SET name = 'old oak' WHERE id = 1"
    )
    #expect(camp.hub("emit", "--device", "tablet").code == 0)
    #expect(try fetch()["rekeyed"]?.arrayValue?.count == 1)
    #expect(try camp.keptUnseen() == ["Swamp", "stump"])
    #expect(try names("trees") == "1 old oak\n2 elm\n3 ash")
    #expect(try names("sites") == "hill Hill\nlake Sea")
  }

  enum Meeting: CaseIterable {
    case updateAndGone, insertAndInsert, deleteAndUpdate

    /// The unseen write, the office's write, the values that conflicts must keep, and the rows afterwards.
    var story: (unseen: String, office: String, kept: String, rows: String) {
      switch self {
      case .updateAndGone:
        (
          "UPDATE sites SET name = 'Swamp' WHERE id = 'lake'", "DELETE FROM sites WHERE id = 'lake'", "Swamp",
          "hill Hill"
        )
      case .insertAndInsert:
        (
          "INSERT INTO sites VALUES ('bog', 'Swamp')", "INSERT INTO sites VALUES ('bog', 'Bog')", "Swamp",
          "bog Bog\nhill Hill\nlake Lake"
        )
      case .deleteAndUpdate:
        (
          "DELETE FROM sites WHERE id = 'lake'", "UPDATE sites SET name = 'Sea' WHERE id = 'lake'", "gone",
          "hill Hill\nlake Sea"
        )
      }
    }
  }

  @Test(
    "a row that is not as it should be is kept before a bundle deletes it, makes it or brings it back",
    arguments: Meeting.allCases, [false, true])
  func met(meeting: Meeting, isFull: Bool) throws {
    try unseen(meeting.story.unseen)
    try camp.sql("office.sqlite", meeting.story.office)
    _ = try camp.emit("tablet", full: isFull)
    _ = try fetch()
    #expect(try camp.keptUnseen() == [meeting.story.kept])
    #expect(try names("sites") == meeting.story.rows)
    camp.deliver("tablet", 2)
    let atHub = try camp.listedConflicts()
    #expect(atHub.map { $0["kind"]?.stringValue } == ["unseen"])
    #expect(try camp.rows("office.sqlite", "SELECT id || ' ' || name FROM sites ORDER BY id") == names("sites"))
  }

  @Test("a row that was exported, and written again before the hub's answer, is no unseen row")
  func exportedTwice() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE sites SET name = 'first' WHERE id = 'lake'")
    _ = try camp.export("tablet")
    try camp.sql("tablet/data.sqlite", "UPDATE sites SET name = 'second' WHERE id = 'lake'")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Sea' WHERE id = 'lake'")
    #expect(camp.hub("emit", "--device", "tablet").code == 0)
    _ = try fetch()
    // There is one conflict for each export, because its value differs from the hub's value. There is no conflict of
    // the kind `unseen`.
    #expect(try camp.keptUnseen() == ["update/update", "update/update"])
  }

  enum Migration: CaseIterable {
    case none
    /// The migration adds a column.
    case column
    /// The migration writes to the column of the unseen write. It also deletes a row that the hub does not have.
    case rows

    var sql: String {
      let column = "ALTER TABLE sites ADD COLUMN extra TEXT;"
      return switch self {
      case .none: ""
      case .column: column
      case .rows: column + "UPDATE sites SET name = 'new ' || name; DELETE FROM sites WHERE id = 'ghost';"
      }
    }
  }

  /// The hub applies version 2, with or without a migration, and emits for the tablet.
  private func goToNextVersion(_ migration: Migration, full: Bool) throws {
    try camp.write(
      "camp.json", CommandLineFixture.woods.replacingOccurrences(of: #""version": 1"#, with: #""version": 2"#))
    try camp.write("step.sql", migration.sql)
    let words = migration == .none ? [] : ["--migration", camp.path("step.sql")]
    let applied = camp.hubAnywhere(["-C", camp.path("hub"), "dataset", "apply", camp.path("camp.json")] + words)
    #expect(applied.code == 0, "\(applied.error)")
    let emitted = camp.hubAnywhere(["-C", camp.path("hub"), "emit", "--device", "tablet"] + (full ? ["--full"] : []))
    #expect(emitted.code == 0, "\(emitted.error)")
  }

  @Test(
    "a bundle of a new version keeps what was written, made or deleted unseen before it writes over that",
    arguments: Migration.allCases, [false, true])
  func version(migration: Migration, isFull: Bool) throws {
    try unseen(
      """
      UPDATE sites SET name = 'Swamp' WHERE id = 'lake';
      INSERT INTO sites (id, name) VALUES ('ghost', 'Ghost');
      DELETE FROM trees WHERE id = 1;
      """)
    try camp.sql(
      "office.sqlite", "UPDATE sites SET name = 'Sea' WHERE id = 'lake'; UPDATE trees SET name = 'old oak' WHERE id = 1"
    )
    try goToNextVersion(migration, full: isFull)
    let version = try camp.by(TickingClock()) { try fetch()["version"]?.integerValue }
    #expect(version == 2)
    let new = migration == .rows ? "new " : ""
    let names = try camp.keptUnseen()
    #expect(names == (isFull ? ["Ghost", "Swamp", "gone"] : ["Swamp", "gone"]))
    #expect(try self.names("trees") == "1 old oak")
    // Only a full bundle shows that the hub lacks the row `ghost`. A delta does not.
    #expect(try self.names("sites") == (isFull ? "" : "ghost Ghost\n") + "hill \(new)Hill\nlake \(new)Sea")
    camp.deliver("tablet", 2)
    let atHub = try camp.listedConflicts()
    #expect(atHub.count == (isFull ? 3 : 2) && atHub.allSatisfy { $0["kind"]?.stringValue == "unseen" })
  }

  @Test("if the archive does not say what rows were, a bundle of a new version keeps a copy of the database")
  func versionWithoutArchive() throws {
    try camp.remove("tablet/bundles/archive/camp-hub-tablet-1.satchel")
    try unseen("UPDATE sites SET name = 'Swamp' WHERE id = 'lake'")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Sea' WHERE id = 'lake'")
    try goToNextVersion(.rows, full: false)
    let copy = try #require(try fetch()["copy"]?.stringValue)
    let place = copy.hasPrefix(camp.root) ? String(copy.dropFirst(camp.root.count + 1)) : copy
    #expect(try camp.rows(place, "SELECT name FROM sites WHERE id = 'lake'") == "Swamp")
    #expect(try names("sites") == "hill new Hill\nlake new Sea")
  }

  @Test(
    "a UNIQUE value that was written unseen does not keep a bundle out: both rows are kept", arguments: [true, false])
  func uniqueValue(isNew: Bool) throws {
    try unseen(
      isNew ? "INSERT INTO sites VALUES ('bog', 'Fen')" : "UPDATE sites SET name = 'Fen' WHERE id = 'lake'")
    try camp.sql("office.sqlite", "INSERT INTO sites VALUES ('marsh', 'Fen')")
    #expect(camp.hub("emit", "--device", "tablet").code == 0)
    let file = try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-")
    let rehearsal = camp.device("tablet", "import", file, "--dry-run")
    #expect(rehearsal.code != 0)
    #expect((rehearsal.out + rehearsal.error).contains("Without --dry-run"))
    #expect(try fetch()["taken_up"]?.integerValue == 1)
    #expect(try names("sites") == "hill Hill\nlake Lake\nmarsh Fen")
    camp.deliver("tablet", 2)
    let atHub = try camp.listedConflicts()
    #expect(atHub.map { $0["kind"]?.stringValue } == ["unique"])
    #expect(try camp.rows("office.sqlite", "SELECT id || ' ' || name FROM sites ORDER BY id") == names("sites"))
  }

  @Test(
    "a UNIQUE value that was written unseen does not keep a bundle of a new version out either",
    arguments: [Migration.none, .column], [false, true])
  func uniqueValueAtVersion(migration: Migration, isFull: Bool) throws {
    try unseen("INSERT INTO sites VALUES ('bog', 'Fen')")
    try camp.sql("office.sqlite", "INSERT INTO sites VALUES ('marsh', 'Fen')")
    try goToNextVersion(migration, full: isFull)
    #expect(try fetch()["version"] == 2)
    #expect(try names("sites") == "hill Hill\nlake Lake\nmarsh Fen")
    camp.deliver("tablet", 2)
    let atHub = try camp.listedConflicts()
    #expect(atHub.map { $0["device_values"]?["name"]?.stringValue } == ["Fen"], "\(atHub)")
    #expect(try camp.rows("office.sqlite", "SELECT id || ' ' || name FROM sites ORDER BY id") == names("sites"))
  }
}
