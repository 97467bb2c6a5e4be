import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelWorkspace
import Synchronization
import TestSupport
import Testing

@testable import SatchelDevice

/// The import of a bundle on a device ends before one of its steps, as if the process were killed.
@Suite("Steps of an import at a device")
struct ImportStepTests {
  private static func names<S: CaseIterable & RawRepresentable<String>>(_ steps: S.Type) -> [String] {
    steps.allCases.map { "\(S.self).\($0.rawValue)" }
  }

  private static let all =
    names(ImportCheck.self) + names(ImportWrite.self) + names(ImportCompletion.self)

  /// The error that imitates the end of the process.
  private struct Ended: Error {}

  /// A device with a new key that the hub knows, changes that the hub has merged, and a pending change. The hub has a
  /// new key too.
  private struct Fixture {
    let world: ExchangeFixture
    var tablet: DeviceWorkspace
    let bundle: String

    init() throws {
      world = try ExchangeFixture()
      tablet = try world.device("tablet", user: "ana", tier: 1).device
      _ = try tablet.importBundle(world.emit(to: tablet))
      _ = try tablet.rotateKeys()
      try world.write("UPDATE reviews SET words = 'mine' WHERE camp = 1", in: tablet.folder)
      _ = try world.hub.importBundle(world.export(tablet))
      _ = try world.hub.rotateKeys()
      try world.write(
        "UPDATE camps SET name = 'Theirs' WHERE id = 1; INSERT INTO camps VALUES (5, 'Yew', 1, 0)", in: world.hub.folder
      )
      try world.write("UPDATE camps SET name = 'Mine' WHERE id = 1", in: tablet.folder)
      bundle = try world.copy(world.emit(to: tablet), as: "carried")
    }

    /// Imports the bundle, and ends before this step. nil: the import is completed.
    func importBundle(endingBefore step: String? = nil) throws -> [String] {
      let reached = Mutex<[String]>([])
      var tablet = tablet
      tablet.beforeStep = { name in
        reached.withLock { $0.append(name) }
        if name == step { throw Ended() }
      }
      do { _ = try tablet.importBundle(bundle) } catch is Ended { #expect(step != nil) }
      return reached.withLock(\.self)
    }

    func exchange() throws {
      _ = try world.hub.importBundle(world.export(tablet))
      world.tick()
      try world.write("DELETE FROM camps WHERE id = 5", in: world.hub.folder)
      _ = try tablet.importBundle(world.emit(to: tablet))
    }

    /// The rows, the conflicts, the bundles, and the findings of the doctor.
    func state() throws -> [String] {
      let rows = try Database(path: tablet.folder.path("data.sqlite"), mode: .readOnly).all(
        """
        SELECT 'camp ' || id || name FROM camps UNION ALL SELECT 'review ' || camp || words FROM reviews
        UNION ALL SELECT 'conflict ' || state || device_values FROM satchel_conflicts ORDER BY 1
        """
      ) { $0.text(0) }
      let bundles = tablet.folder.path("bundles")
      let files = try world.platform.files.list(bundles).flatMap { try names(in: Paths.join(bundles, $0)) }
      return try rows + files + tablet.examine().findings.map(\.reason)
    }

    func names(in folder: String) throws -> [String] {
      try world.platform.files.list(folder).map { Paths.join(Paths.name(of: folder), $0) }
    }
  }

  @Test("an import goes through all its steps in the order of their lists")
  func order() throws { #expect(try Fixture().importBundle() == Self.all) }

  @Test(
    "an import that ends before any of its steps is completed by the next one: the same rows, files and conflicts",
    arguments: Self.all)
  func ends(step: String) throws {
    let (whole, ended) = (try Fixture(), try Fixture())
    _ = try whole.importBundle()
    let reached = try ended.importBundle(endingBefore: step)
    #expect(reached.last == step)
    _ = try ended.importBundle()
    #expect(try ended.state() == whole.state())
    // If the import ended before the new key became the device's own key, the next export announces this key again.
    for fixture in [whole, ended] { try fixture.exchange() }
    #expect(try ended.state() == whole.state())
    #expect(try ended.names(in: ended.tablet.folder.keys) == whole.names(in: whole.tablet.folder.keys))
  }
}
