import Foundation
import TestSupport
import Testing

/// Stories of workspaces that release 0.1 made: a hub, and the devices a, b and c with undelivered work. The tests use
/// the commands of this release.
protocol ReleasedStory {
  var camp: CommandLineFixture { get }
}

extension ReleasedStory {
  static func openCamp() throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    let archive = PackageFolder.file("Tests/Workspaces/release-0.1.tar.zst")
    try StockTool.bash("-euc", "zstd -dc '\(archive.path)' | tar -x", in: camp.root)
    return camp
  }

  var office: String { "hub/office.sqlite" }
  static var devices: [String] { ["a", "b", "c"] }

  /// Runs a command that must succeed.
  func check(
    _ outcome: CommandLineFixture.Outcome, _ words: String = "", _ place: SourceLocation = #_sourceLocation
  ) {
    #expect(outcome.code == 0, "\(words): \(outcome.out)\(outcome.error)", sourceLocation: place)
  }

  /// Carries a stick to all devices and to the hub, and back. Repeats this `rounds` times.
  func syncAll(rounds: Int = 3) throws {
    try camp.makeFolder("stick")
    for _ in 0..<rounds {
      for device in Self.devices { check(camp.device(device, "sync", camp.path("stick")), "\(device) sync") }
      check(camp.hub("sync", camp.path("stick")), "hub sync")
    }
    try fetch()
  }

  /// Carries a stick after the hub was restored. The devices deliver what the hub lacks only in the second round. Newer
  /// exports wait until then.
  func syncAllAfterRestore() throws {
    for device in Self.devices { check(camp.device(device, "sync", camp.path("stick")), "\(device) sync") }
    let outcome = camp.hub("sync", camp.path("stick"))
    #expect(outcome.code == 3 && outcome.error.contains("bundles/inbox/waiting"), "\(outcome.out)\(outcome.error)")
    try syncAll()
  }

  func fetch() throws {
    for device in Self.devices { check(camp.device(device, "sync", camp.path("stick")), "\(device) sync") }
  }

  private static var tables: [String: String] {
    ["camps": "id", "reviews": "id", "tickets": "id", "visits": "camp, day"]
  }

  func rows(_ database: String) throws -> [String: String] {
    var rows: [String: String] = [:]
    for (table, key) in Self.tables {
      rows[table] = try camp.rows(database, "SELECT * FROM \(table) ORDER BY \(key)").replacingOccurrences(
        of: "NULL", with: "")
    }
    return rows
  }

  /// The merged work of all devices.
  static var merged: [String: String] {
    [
      "camps": "c1|north|Oak of a\nc2|south|Elm of the office\nc3|south|Ash\nc4|north|New",
      "reviews": "2|c2|5|2|[]|office|\n3|c3|5|0|[]|third|\n4|c1|2|0|[]|by a|\n5|c2|2|0|[]|by b|",
      "tickets": "1|c1|t1\n10002|c2|by a",
      "visits": "c1|2026-01-01|9\nc2|2026-02-02|1",
    ]
  }

  /// The merged rows that belong to these camps. The test itself selects them.
  private static func seen(_ camps: [Substring]) -> [String: String] {
    merged.merging(
      ["camps": 0, "reviews": 1, "tickets": 1].map { table, column in
        let lines = (merged[table] ?? "").split(separator: "\n")
        let kept = lines.filter { camps.contains($0.split(separator: "|", omittingEmptySubsequences: false)[column]) }
        return (table, kept.joined(separator: "\n"))
      }
    ) { $1 }
  }

  private static var scopes: [String: [Substring]] {
    ["a": ["c1", "c4"], "b": ["c1", "c2", "c3", "c4"], "c": ["c2", "c3"]]
  }

  /// Expects that a device has exactly the rows that its user may see.
  /// - Parameter database: the path of the device's database; nil: it is in the device's folder.
  func checkRows(of device: String, in database: String? = nil, _ place: SourceLocation = #_sourceLocation) throws {
    let rows = try rows(database ?? "\(device)/data.sqlite")
    #expect(rows == Self.seen(Self.scopes[device] ?? []), "\(device)", sourceLocation: place)
  }

  func checkMerged(_ place: SourceLocation = #_sourceLocation) throws {
    #expect(try rows(office) == Self.merged, sourceLocation: place)
    for device in Self.devices { try checkRows(of: device, place) }
    let conflicts = "SELECT state, kind, table_name, key FROM satchel_conflicts WHERE state = 'held' ORDER BY id"
    #expect(try camp.rows(office, conflicts) == "held|foreign key|tickets|[20002]", sourceLocation: place)
    let open = try camp.rows(office, "SELECT count(*) FROM satchel_conflicts WHERE state = 'open'")
    #expect(open == "3", sourceLocation: place)
    try checkHealth(place)
  }

  func checkHealth(_ place: SourceLocation = #_sourceLocation) throws {
    for outcome in [camp.hub("doctor")] + Self.devices.map({ camp.device($0, "doctor") }) {
      #expect(
        outcome.code == 0 && outcome.out == "All is well.\n", "\(outcome.out)\(outcome.error)", sourceLocation: place)
    }
    check(camp.hub("audit"), "audit", place)
  }
}
