import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import Synchronization
import TestSupport
import Testing

@Suite("Staging and applying")
struct StagingTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  private func emit(_ number: Int) throws -> String {
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Lake \(number)' WHERE id = 'lake'")
    camp.hub("emit", "--device", "tablet")
    let path = camp.path("stick-\(number).satchel")
    try FileManager.default.copyItem(
      atPath: camp.path("hub/bundles/outbox/camp-hub-tablet-\(number).satchel"), toPath: path)
    return path
  }

  private var state: String? { get throws { try camp.device("tablet", "status", "--json").json["state"]?.stringValue } }

  @Test("a staged bundle is verified and waits; apply brings all of them in, in their order; two applies are one")
  func stages() throws {
    let (second, third) = (try emit(2), try emit(3))
    let before = try camp.rows("tablet/data.sqlite", "SELECT group_concat(name) FROM sites")
    #expect(camp.device("tablet", "import", "--stage", third).out.contains("verified, and waits"))
    #expect(camp.device("tablet", "import", "--stage", second).code == 0)
    #expect(try state == "pending" && camp.rows("tablet/data.sqlite", "SELECT group_concat(name) FROM sites") == before)
    #expect(camp.device("tablet", "status").out.contains("Next: satchel apply"))
    #expect(camp.device("tablet", "apply").out.contains("Bundle 3 of the hub"))
    #expect(
      try state == "current" && camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Lake 3")
    #expect(camp.device("tablet", "apply").out == "Nothing is staged.\n")
    #expect(try HostFileSystem().list(camp.path("tablet/bundles/staged")).isEmpty)
  }

  @Test("two applies at once are one apply, while an app reads")
  func twoAtOnce() throws {
    let app = try Database(path: camp.path("tablet/data.sqlite"), mode: .readWrite)
    for number in 2...4 {
      #expect(camp.device("tablet", "import", "--stage", try emit(number)).code == 0)
      // The second command finds that the first one is still working, or that nothing is left to do.
      let outcomes = Mutex<[CommandLineFixture.Outcome]>([])
      let camp = Unchecked(camp)
      DispatchQueue.concurrentPerform(iterations: 2) { _ in
        let outcome = camp.value.device("tablet", "apply")
        outcomes.withLock { $0.append(outcome) }
      }
      let both = outcomes.withLock { $0 }
      #expect(both.contains { $0.code == 0 } && both.allSatisfy { $0.code == 0 || $0.code == 4 }, "\(both)")
      #expect(try state == "current")
      let name = try app.first("SELECT name FROM sites WHERE id = 'lake'") { $0.text(0) }
      #expect(name == "Lake \(number)")
      #expect(
        try camp.value.rows(
          "tablet/data.sqlite", "SELECT count(*) FROM satchel_ledger WHERE number = \(number) AND verdict = 'imported'")
          == "1")
    }
  }

  /// Lets two threads use one fixture. This is safe, because commands share only files.
  private struct Unchecked<T>: @unchecked Sendable {
    let value: T
    init(_ value: T) { self.value = value }
  }

  @Test("a bundle that is refused is not staged")
  func refused() throws {
    let file = try emit(2)
    var bytes = try Data(contentsOf: URL(filePath: file))
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: URL(filePath: file))
    #expect(camp.device("tablet", "import", "--stage", file).code == 3)
    #expect(try state == "current")
    #expect(
      camp.device("tablet", "import", "--stage", camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel"), "--dry-run")
        .code == 0
    )
    #expect(try state == "current")
  }

  @Test("a device that has no data yet: initial, pending, current")
  func threeStates() throws {
    camp.deviceAnywhere(
      "init", camp.path("radio"), "--dataset", "camp", "--name", "radio", "--request", camp.path("radio.satchel"))
    let status = try camp.device("radio", "status", "--json").json
    #expect(status["state"]?.stringValue == "initial")
    let print = try #require(status["fingerprint"]?.stringValue)
    camp.hub("device", "enrol", camp.path("radio.satchel"), "--user", "ben", "--fingerprint", print)
    let hub = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    let file = camp.path("hub/bundles/outbox/camp-hub-radio-1.satchel")
    #expect(camp.device("radio", "import", "--stage", file).code == 3)
    #expect(camp.device("radio", "import", "--stage", "--fingerprint", hub, file).code == 0)
    #expect(camp.device("radio", "status").out.contains("Next: satchel apply"))
    #expect(camp.device("radio", "apply", "--fingerprint", hub).code == 0)
    #expect(try camp.device("radio", "status", "--json").json["state"]?.stringValue == "current")
  }
}
