import Foundation
import TestSupport

/// A hub with a survey, a device that has all rows of it, and the tools.
final class SurveyHub {
  let root: String
  let visits: Int
  /// The folder of the tools that were built with this program.
  static let tools = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path
  private let tools = SurveyHub.tools
  /// The number of changes so far. It is a part of each change, so that every change differs.
  private(set) var round = 0
  private var hasUsers = false

  init(visits: Int) throws {
    self.visits = visits
    root = FileManager.default.currentDirectoryPath + "/.build/bench-\(visits)"
    try? FileManager.default.removeItem(atPath: root)
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    let definition = """
      { "dataset": "survey", "version": 1, "snapshot": "never", "brake": { "delete": "100%", "change": "100%" },
        "attributes": { "first": "text", "last": "text" },
        "tables": { "regions": { "visible": ":first IS NULL OR id BETWEEN :first AND :last" }, "households": {}, "visits": { "conflict": "newest" } } }
      """
    try Data(definition.utf8).write(to: URL(filePath: "\(root)/survey.json"))
    try bash(
      """
      sqlite3 office.sqlite "
        PRAGMA journal_mode = WAL;
        CREATE TABLE regions (id TEXT PRIMARY KEY, name TEXT);
        CREATE TABLE households (id TEXT PRIMARY KEY, region TEXT NOT NULL REFERENCES regions (id), head TEXT);
        CREATE TABLE visits (id TEXT PRIMARY KEY, household TEXT NOT NULL REFERENCES households (id), surveyor TEXT, visited TEXT, persons INTEGER,
          income REAL, water INTEGER, latitude REAL, longitude REAL, remark TEXT, state TEXT, photo BLOB);
        CREATE INDEX households_by_region ON households (region); CREATE INDEX visits_by_household ON visits (household);
        WITH n (i) AS (SELECT value FROM generate_series(1, 30)) INSERT INTO regions SELECT printf('r%02d', i), 'Region ' || i FROM n;
        WITH n (i) AS (SELECT value FROM generate_series(1, \(visits / 10))) INSERT INTO households SELECT 'h' || i, printf('r%02d', i % 30 + 1), 'Head ' || i FROM n;
        WITH n (i) AS (SELECT value FROM generate_series(1, \(visits)))
          INSERT INTO visits SELECT lower(hex(randomblob(16))), 'h' || (i % \(visits / 10) + 1), 'surveyor-' || (i % 25), '2026-05-04T10:11:12Z', i % 12,
            (i % 900000) / 100.0, i % 3, 47 + (i % 1000) / 1000.0, 8 + (i % 997) / 997.0, 'The well at the end of the road was dry; come back in June.', 'new', NULL FROM n;"
      cp office.sqlite plain.sqlite
      \(Peers.compileFloors("floors"))
      \(tools)/satchel-hub init hub --dataset survey.json --database office.sqlite -q
      \(tools)/satchel-hub -C hub user add all -q
      \(tools)/satchel-hub -C hub device provision tablet --user all --into "$PWD/tablet" -q
      minisign -G -W -f -p hand.pub -s hand.key > /dev/null
      """)
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  /// Adds a user for each of the first 25 of the 30 regions, and one user for three regions, who sees a tenth of all
  /// rows. Each user has a device.
  func addUsers() throws {
    if hasUsers { return }
    hasUsers = true
    let users =
      (1...25).map { ("d\($0)", Self.region($0), Self.region($0)) } + [("tenth", Self.region(1), Self.region(3))]
    for (device, first, last) in users {
      try bash(
        """
        \(tools)/satchel-hub -C hub user add u-\(device) first=\(first) last=\(last) -q
        \(tools)/satchel-hub -C hub device provision \(device) --user u-\(device) --into "$PWD/\(device)" -q
        rm -rf \(device)
        """)
    }
  }

  static func region(_ number: Int) -> String { "r" + String(format: "%02d", number) }

  /// Runs a script. Returns its time in seconds by the shell's own clock, because Foundation needs up to 60 ms to
  /// notice the end of a child process. All earlier writes are synced first. Otherwise the first program that syncs
  /// would have to wait for them.
  @discardableResult
  func bash(_ script: String) throws -> Double {
    let timed = "sync -f .\nbegun=$EPOCHREALTIME\n{\n\(script)\n}\necho \"$begun $EPOCHREALTIME\" > took"
    let result = try runProgram(at: "/usr/bin/bash", ["-ec", timed], in: root)
    guard result.status == 0 else { throw ToolFailure("\(script)\n\(result.text)\(result.complaint)") }
    let times = try String(contentsOfFile: "\(root)/took", encoding: .utf8).split { " \n".contains($0) }.compactMap {
      Double($0)
    }
    guard times.count == 2 else { throw ToolFailure("\(script)\nThe shell did not say how long it took.") }
    return times[1] - times[0]
  }

  /// Runs one of the tools. Returns its time in seconds and its peak memory in MiB.
  @discardableResult
  func tool(_ words: String) throws -> (seconds: Double, memory: Double) {
    let time = try bash("/usr/bin/time -o peak -f %M \(tools)/\(words) > /dev/null")
    let peak = try String(contentsOfFile: "\(root)/peak", encoding: .utf8)
    return (time, (Double(peak.filter(\.isNumber)) ?? .nan) / 1024)
  }

  // MARK: the work

  func export() throws -> (seconds: Double, memory: Double) {
    let cost = try tool("satchel -C tablet export")
    try bash("cp tablet/bundles/outbox/*.satchel carried.satchel")
    return cost
  }

  func hubImport() throws -> (seconds: Double, memory: Double) {
    try tool("satchel-hub -C hub import \"$PWD/carried.satchel\"")
  }

  func emit() throws -> (seconds: Double, memory: Double) {
    let cost = try tool("satchel-hub -C hub emit --device tablet")
    try bash("cp $(ls -t hub/bundles/outbox/*-tablet-*.satchel | head -1) back.satchel")
    return cost
  }

  func deviceImport() throws -> (seconds: Double, memory: Double) {
    try tool("satchel -C tablet import \"$PWD/back.satchel\"")
  }

  // MARK: changes

  /// Changes this many visits on the device, each time in another way. Returns the SQL.
  @discardableResult
  func changeOnTablet(_ count: Int) throws -> String {
    round += 1
    let sql = """
      UPDATE visits SET remark = 'Seen again: all is well, and the road is open (\(round)).', persons = \(round % 12)
        WHERE id IN (SELECT id FROM visits ORDER BY rowid LIMIT \(count))
      """
    try bash("sqlite3 tablet/data.sqlite \"\(sql)\"")
    return sql
  }

  /// Changes this many visits at the office. Returns the SQL.
  @discardableResult
  func changeAtOffice(_ count: Int, from end: String = "ASC") throws -> String {
    round += 1
    let sql =
      "UPDATE visits SET state = 's\(round)' WHERE id IN (SELECT id FROM visits ORDER BY rowid \(end) LIMIT \(count))"
    try bash("sqlite3 office.sqlite \"\(sql)\"")
    return sql
  }

  /// The size in KiB of the largest file that matches this pattern.
  func size(_ pattern: String) throws -> Double {
    let result = try runProgram(at: "/usr/bin/bash", ["-c", "stat -c %s \(pattern) | sort -n | tail -1"], in: root)
    return (Double(result.text.filter(\.isNumber)) ?? .nan) / 1024
  }
}

/// The hubs of a run, by their number of visits. Each hub is made only once.
final class SurveyHubs {
  private var made: [Int: SurveyHub] = [:]

  func hub(visits: Int) throws -> SurveyHub {
    if let hub = made[visits] { return hub }
    let hub = try SurveyHub(visits: visits)
    made[visits] = hub
    return hub
  }
}
