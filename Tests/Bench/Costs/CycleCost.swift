/// Measures a whole cycle of the real programs: export, hub import and device import. The peer is a script as a good
/// engineer would write it: sqlite3 to JSON lines, tar, zstd, minisign, and back. This script merges nothing, keeps no
/// conflicts and has no scopes.
func measureCycleCost(_ hubs: SurveyHubs, _ peers: Peers, isQuick: Bool) throws {
  let hub = try hubs.hub(visits: isQuick ? 20_000 : 100_000)
  print("\nA cycle: \(hub.visits) visits, medians of 5; seconds, KiB of files, and peak memory in MiB")
  var lines = [Comparison.heads]
  for share in [1, 10, 100] { lines += try hub.cycle(percent: share, peers) }
  printTable(lines)
}

extension SurveyHub {
  /// SQL and shell commands by which the script exports the last changes on the tablet.
  private var handExport: String {
    """
    sqlite3 tablet/data.sqlite "SELECT json_object('id', id, 'household', household, 'surveyor', surveyor, 'visited', visited, 'persons', persons, 'income', income,
      'water', water, 'latitude', latitude, 'longitude', longitude, 'remark', remark, 'state', state, 'photo', hex(photo)) FROM visits
      WHERE remark LIKE '%(\(round)).'" > changes.jsonl
    tar -cf - changes.jsonl | zstd -3 -q -f -o hand.tar.zst
    minisign -S -s hand.key -m hand.tar.zst -t x > /dev/null
    """
  }

  private static let handImport = """
    rm -rf in; mkdir in
    minisign -V -q -p hand.pub -m hand.tar.zst
    zstd -dc hand.tar.zst | tar -x -C in
    sqlite3 copy.sqlite "CREATE TEMP TABLE lines (line TEXT);" ".mode ascii" '.separator "\\037" "\\n"' ".import in/changes.jsonl lines" "BEGIN; INSERT INTO visits SELECT line ->> 'id', line ->> 'household',
      line ->> 'surveyor', line ->> 'visited', line ->> 'persons', line ->> 'income', line ->> 'water', line ->> 'latitude', line ->> 'longitude', line ->> 'remark',
      line ->> 'state', NULL FROM lines WHERE true ON CONFLICT (id) DO UPDATE SET household = excluded.household, surveyor = excluded.surveyor, visited = excluded.visited,
      persons = excluded.persons, income = excluded.income, water = excluded.water, latitude = excluded.latitude, longitude = excluded.longitude,
      remark = excluded.remark, state = excluded.state; COMMIT;"
    """

  /// The measurements for one share of changed rows.
  private struct Cycle {
    var export, bundle, exportMemory, hubImport, hubMemory, deviceImport, deviceMemory: Comparison
    /// Whether there is a limit. If very few rows change, the start of a program takes longer than the rows.
    let isMany: Bool

    init(percent: Int) {
      let rest = "of \(percent) %"
      isMany = percent > 1
      export = Comparison("export \(rest)")
      bundle = Comparison("  its bundle, KiB", in: .kibibytes)
      exportMemory = Comparison("  its memory, MiB", in: .mebibytes, atMost: 64)
      hubImport = Comparison("hub import \(rest)")
      hubMemory = Comparison("  its memory, MiB", in: .mebibytes, atMost: 64)
      deviceImport = Comparison("device import \(rest)")
      deviceMemory = Comparison("  its memory, MiB", in: .mebibytes, atMost: 64)
    }

    func lines() -> [[String]] {
      [export, bundle, exportMemory, hubImport, hubMemory, deviceImport, deviceMemory].flatMap { $0.lines() }
    }
  }

  fileprivate func cycle(percent: Int, _ peers: Peers) throws -> [[String]] {
    var cycle = Cycle(percent: percent)
    for _ in 0..<5 {
      try deliver(visits * percent / 100, &cycle, peers)
      try bringBack(visits * percent / 100, &cycle, peers)
    }
    return cycle.lines()
  }

  /// Carries the tablet's changes to the hub.
  private func deliver(_ count: Int, _ cycle: inout Cycle, _ peers: Peers) throws {
    let sql = try changeOnTablet(count)
    let cost = try export()
    cycle.export.add(cost.seconds)
    cycle.exportMemory.add(cost.memory)
    cycle.export.add(try bash(handExport), to: "script by hand", atMost: 0.8)
    cycle.export.add(
      try bash("./floors export tablet/data.sqlite floor.zst '(\(round)).'"), to: "C: rows, JSON, tar, zstd, signature",
      atMost: 1.5)
    try record(sql)
    cycle.bundle.add(try size("carried.satchel"))
    cycle.bundle.add(try size("hand.tar.zst"), to: "the script's archive", atMost: 1)
    try bash("rm -f changeset.zip; zip -q changeset.zip changeset")
    cycle.bundle.add(try size("changeset.zip"), to: "SQLite's changeset, zipped", atMost: 1)
    let imported = try hubImport()
    cycle.hubImport.add(imported.seconds)
    cycle.hubMemory.add(imported.memory)
    try bash("cp plain.sqlite copy.sqlite")
    cycle.hubImport.add(try bash(Self.handImport), to: "script by hand", atMost: 0.8)
    try apply(peers, atMost: cycle.isMany ? 1.5 : nil, against: &cycle.hubImport)
  }

  /// Carries the office's changes to the tablet.
  private func bringBack(_ count: Int, _ cycle: inout Cycle, _ peers: Peers) throws {
    let sql = try changeAtOffice(count)
    _ = try emit()
    let cost = try deviceImport()
    cycle.deviceImport.add(cost.seconds)
    cycle.deviceMemory.add(cost.memory)
    try record(sql)
    try apply(peers, atMost: cycle.isMany ? 1.3 : nil, against: &cycle.deviceImport)
  }

  /// Makes SQLite's changeset of the effects of this SQL. The script and the peers use it on databases without capture.
  private func record(_ sql: String) throws {
    try bash("cp plain.sqlite floor.sqlite; ./floors record floor.sqlite changeset \"\(sql)\"")
  }

  private func apply(_ peers: Peers, atMost limit: Double?, against work: inout Comparison) throws {
    try bash("cp plain.sqlite floor.sqlite; cp plain.sqlite apsw.sqlite")
    work.add(try peers.time(.apsw, "apply apsw.sqlite changeset", in: root), to: "changeset_apply, apsw", atMost: limit)
    work.add(
      try bash("./floors apply floor.sqlite changeset"), to: "changeset_apply, C, Debian's SQLite", atMost: limit)
  }
}
