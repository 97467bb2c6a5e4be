import Foundation
import SatchelPlatform
import TestSupport

/// A whole cycle of the real programs (export, hub import, emit, device import), beside what a good engineer would script by hand: sqlite3 to
/// JSON lines, tar, zstd, minisign, and back. The script merges nothing, keeps no conflict and knows no scope.
func measureCycleCost(isQuick: Bool) throws {
  let cost = try CycleCost(visits: isQuick ? 20_000 : 100_000, rounds: 5)
  defer { try? FileManager.default.removeItem(atPath: cost.root) }
  print(
    "\nA cycle: seconds, medians of \(cost.rounds), \(cost.visits) visits in 25 regions; peak memory in MiB; ratios of neighbours"
  )
  var lines = [Measured.heads]
  for share in [1, 10, 100] { lines += try cost.measure(percent: share).map(\.cells) }
  lines += try cost.measureEmission().map(\.cells)
  printTable(lines)
  print("\nGrowth: seconds for 1,000 changes")
  var growth = [["what", "10,000", isQuick ? "100,000" : "1,000,000", "ratio", "limit", ""]]
  let (small, large) = (try CycleCost(visits: 10_000, rounds: 3), try CycleCost(visits: isQuick ? 100_000 : 1_000_000, rounds: 3))
  defer { for cost in [small, large] { try? FileManager.default.removeItem(atPath: cost.root) } }
  let times = [try small.growth(), try large.growth()]
  for (place, (name, limit)) in [("export", 3.0), ("hub import", 5), ("emit", 3), ("device import", 5)].enumerated() {
    let ratio = times[1][place] / times[0][place]
    growth.append([
      name, decimal(times[0][place], 3), decimal(times[1][place], 3), decimal(ratio, 2), decimal(limit, 1),
      ratio <= limit ? "" : "over",
    ])
  }
  printTable(growth)
}

/// A hub with a survey, a device that has all of it, and the tools.
final class CycleCost {
  let root: String
  let visits: Int
  let rounds: Int
  private let tools = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path
  private var round = 0

  init(visits: Int, rounds: Int) throws {
    self.visits = visits
    self.rounds = rounds
    root = FileManager.default.currentDirectoryPath + "/.build/cycle-\(visits)"
    try? FileManager.default.removeItem(atPath: root)
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    let definition = """
      { "dataset": "survey", "version": 1, "snapshot": "never", "attributes": { "region": "text" },
        "tables": { "regions": { "visible": ":region IS NULL OR id = :region" }, "households": {}, "visits": { "conflict": "newest" } } }
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
        WITH n (i) AS (SELECT value FROM generate_series(1, 25)) INSERT INTO regions SELECT 'r' || i, 'Region ' || i FROM n;
        WITH n (i) AS (SELECT value FROM generate_series(1, \(visits / 10))) INSERT INTO households SELECT 'h' || i, 'r' || (i % 25 + 1), 'Head ' || i FROM n;
        WITH n (i) AS (SELECT value FROM generate_series(1, \(visits)))
          INSERT INTO visits SELECT lower(hex(randomblob(16))), 'h' || (i % \(visits / 10) + 1), 'surveyor-' || (i % 25), '2026-05-04T10:11:12Z', i % 12,
            (i % 900000) / 100.0, i % 3, 47 + (i % 1000) / 1000.0, 8 + (i % 997) / 997.0, 'The well at the end of the road was dry; come back in June.', 'new', NULL FROM n;"
      cp office.sqlite plain.sqlite
      \(Floors.compile("floors"))
      \(tools)/satchel-hub init hub --dataset survey.json --database office.sqlite -q
      \(tools)/satchel-hub -C hub user add all -q
      \(tools)/satchel-hub -C hub device provision tablet --user all --into "$PWD/tablet" -q
      minisign -G -W -f -p hand.pub -s hand.key > /dev/null
      """)
  }

  /// Runs a script, and returns how long it took in seconds.
  @discardableResult
  func bash(_ script: String) throws -> Double {
    let start = ContinuousClock().now
    let result = try runProgram(at: "/usr/bin/bash", ["-ec", script], in: root)
    guard result.status == 0 else { throw ToolFailure("\(script)\n\(result.text)\(result.complaint)") }
    let (whole, atto) = (ContinuousClock().now - start).components
    return Double(whole) + Double(atto) * 1e-18
  }

  func tool(_ words: String) throws -> Double {
    try bash("exec \(tools)/\(words) > /dev/null")
  }

  /// The most memory of a command, in MiB: of a run of its own, for a rehearsal costs the same.
  func memory(_ words: String) throws -> Double {
    let result = try runProgram(
      at: "/usr/bin/bash",
      [
        "-ec",
        "\(tools)/\(words) > /dev/null & pid=$!; peak=0; while kill -0 $pid 2>/dev/null; do now=$(awk '/VmHWM/ { print $2 }' /proc/$pid/status 2>/dev/null || true); peak=${now:-$peak}; sleep 0.01; done; wait $pid; echo $peak",
      ],
      in: root)
    return (Double(result.text.filter(\.isNumber)) ?? .nan) / 1024
  }

  /// Changes a share of the visits on the device, differently each time.
  func change(_ count: Int) throws {
    round += 1
    try bash(
      """
      sqlite3 tablet/data.sqlite "UPDATE visits SET remark = 'Seen again: all is well, and the road is open (\(round)).', persons = \(round % 12)
        WHERE rowid IN (SELECT rowid FROM visits LIMIT \(count))"
      """)
  }

  private func size(_ pattern: String) throws -> Double {
    let result = try runProgram(at: "/usr/bin/bash", ["-c", "stat -c %s \(pattern) | sort -n | tail -1"], in: root)
    return (Double(result.text.filter(\.isNumber)) ?? .nan) / 1024
  }

  private var handExport: String {
    """
    sqlite3 tablet/data.sqlite "SELECT json_object('id', id, 'household', household, 'surveyor', surveyor, 'visited', visited, 'persons', persons, 'income', income,
      'water', water, 'latitude', latitude, 'longitude', longitude, 'remark', remark, 'state', state, 'photo', hex(photo)) FROM visits
      WHERE remark LIKE '%(\(round)).'" > changes.jsonl
    tar -cf - changes.jsonl | zstd -3 -q -f -o hand.tar.zst
    minisign -S -s hand.key -m hand.tar.zst -t x > /dev/null
    """
  }

  private let handImport = """
    rm -rf in; mkdir in
    minisign -V -q -p hand.pub -m hand.tar.zst
    zstd -dc hand.tar.zst | tar -x -C in
    sqlite3 copy.sqlite "CREATE TEMP TABLE lines (line TEXT);" ".mode ascii" '.separator "\\037" "\\n"' ".import in/changes.jsonl lines" "BEGIN; INSERT INTO visits SELECT line ->> 'id', line ->> 'household',
      line ->> 'surveyor', line ->> 'visited', line ->> 'persons', line ->> 'income', line ->> 'water', line ->> 'latitude', line ->> 'longitude', line ->> 'remark',
      line ->> 'state', NULL FROM lines WHERE true ON CONFLICT (id) DO UPDATE SET household = excluded.household, surveyor = excluded.surveyor, visited = excluded.visited,
      persons = excluded.persons, income = excluded.income, water = excluded.water, latitude = excluded.latitude, longitude = excluded.longitude,
      remark = excluded.remark, state = excluded.state; COMMIT;"
    """

  func measure(percent: Int) throws -> [Measured] {
    let count = visits * percent / 100
    var export = Measured("export of \(percent) %", limit: 0.8, floorLimit: 1.5)
    var hubImport = Measured("hub import of \(percent) %", limit: 0.8, floorLimit: percent == 1 ? nil : 1.5)
    var deviceImport = Measured("device import of \(percent) %", limit: nil, floorLimit: 1.3)
    for turn in 0..<rounds {
      try change(count)
      if turn == 0 { export.memory = try memory("satchel -C tablet export --dry-run") }
      export.ours.append(try tool("satchel -C tablet export"))
      export.byHand.append(try bash(handExport))
      export.floor.append(try bash("./floors export tablet/data.sqlite floor.zst '(\(round)).'"))
      export.sizes = (try size("tablet/bundles/outbox/*.satchel"), try size("hand.tar.zst"))
      // The script and the floor write into a database that nothing watches.
      try bash(
        """
        cp tablet/bundles/outbox/*.satchel carried.satchel; cp plain.sqlite copy.sqlite; cp plain.sqlite floor.sqlite
        ./floors record floor.sqlite changeset "UPDATE visits SET remark = 'Seen again: all is well, and the road is open (\(round)).', persons = \(round % 12)
          WHERE id IN (SELECT id FROM visits LIMIT \(count))"; cp plain.sqlite floor.sqlite
        """)
      if turn == 0 { hubImport.memory = try memory("satchel-hub -C hub import \"$PWD/carried.satchel\" --dry-run") }
      hubImport.ours.append(try tool("satchel-hub -C hub import \"$PWD/carried.satchel\""))
      hubImport.byHand.append(try bash(handImport))
      hubImport.floor.append(try bash("./floors apply floor.sqlite changeset"))
      // What the office changes goes back.
      try bash(
        """
        cp plain.sqlite floor.sqlite; ./floors record floor.sqlite changeset "UPDATE visits SET state = 's\(round)' WHERE id IN (SELECT id FROM visits LIMIT \(count))"
        cp plain.sqlite floor.sqlite; sqlite3 office.sqlite "UPDATE visits SET state = 's\(round)' WHERE rowid IN (SELECT rowid FROM visits LIMIT \(count))"
        """)
      _ = try tool("satchel-hub -C hub emit --all")
      try bash("cp $(ls -t hub/bundles/outbox/*.satchel | head -1) back.satchel")
      if turn == 0 { deviceImport.memory = try memory("satchel -C tablet import \"$PWD/back.satchel\" --dry-run") }
      deviceImport.ours.append(try tool("satchel -C tablet import \"$PWD/back.satchel\""))
      deviceImport.floor.append(try bash("./floors apply floor.sqlite changeset"))
    }
    return [export, hubImport, deviceImport]
  }

  /// A user for each of the 25 regions, each with a device.
  func addUsers() throws {
    for region in 1...25 {
      try bash(
        """
        \(tools)/satchel-hub -C hub user add u\(region) region=r\(region) -q
        \(tools)/satchel-hub -C hub device provision d\(region) --user u\(region) --into "$PWD/d\(region)" -q
        rm -rf d\(region)
        """)
    }
  }

  /// Full bundles for users of one region each, beside a loop of the script and one of the floor.
  func measureEmission() throws -> [Measured] {
    try addUsers()
    return try [25, 1].map { users in
      var measured = Measured(
        users == 1 ? "full bundle for one of them" : "full bundles for \(users) users", limit: users == 1 ? nil : 0.15,
        floorLimit: users == 1 ? 1.3 : nil)
      let devices = (1...users).map { "--device d\($0)" }.joined(separator: " ")
      for _ in 0..<rounds {
        measured.ours.append(try tool("satchel-hub -C hub emit --full \(devices)"))
        measured.byHand.append(
          try bash(
            """
            for region in $(seq 1 \(users)); do
              sqlite3 office.sqlite "SELECT json_object('id', v.id, 'household', household, 'surveyor', surveyor, 'visited', visited, 'persons', persons, 'income', income,
                'water', water, 'latitude', latitude, 'longitude', longitude, 'remark', remark, 'state', state) FROM visits v JOIN households h ON h.id = v.household
                WHERE h.region = 'r$region'" > changes.jsonl
              tar -cf - changes.jsonl | zstd -3 -q -f -o hand.tar.zst
              minisign -S -s hand.key -m hand.tar.zst -t x > /dev/null
            done
            """))
        measured.floor.append(
          try bash("for region in $(seq 1 \(users)); do ./floors scope office.sqlite floor.zst r$region; done"))
      }
      return measured
    }
  }

  /// Export, hub import, emit and device import of 1,000 changes.
  func growth() throws -> [Double] {
    var times: [[Double]] = [[], [], [], []]
    for _ in 0..<rounds {
      try change(1000)
      times[0].append(try tool("satchel -C tablet export"))
      try bash("cp tablet/bundles/outbox/*.satchel carried.satchel")
      times[1].append(try tool("satchel-hub -C hub import \"$PWD/carried.satchel\""))
      try bash(
        "sqlite3 office.sqlite \"UPDATE visits SET state = 's\(round)' WHERE rowid IN (SELECT rowid FROM visits LIMIT 1000)\"")
      times[2].append(try tool("satchel-hub -C hub emit --all"))
      try bash("cp $(ls -t hub/bundles/outbox/*.satchel | head -1) back.satchel")
      times[3].append(try tool("satchel -C tablet import \"$PWD/back.satchel\""))
    }
    return times.map(median)
  }
}
