import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import TestSupport

/// A hub, a device that signs any content a test gives it, and another device.
final class CostFixture: Story {
  let ground: WorkspaceFixture
  let hub: HubWorkspace
  private let evil: DeviceWorkspace
  let other: DeviceWorkspace
  /// The number of the attacker's last export that the hub has merged.
  var merged: Int64 = 1

  private static let definition = """
    { "dataset": "shop", "version": 1, "attributes": { "zone": "integer" },
      "brake": { "delete": "100%", "change": "100%" }, "snapshot": "never",
      "tables": {
        "rows": { "visible": "owner <> 'boss'", "write": "owner = :user", "conflict": "manual", "attachments": ["photo"] },
        "wholes": { "conflict": "manual", "merge": "row" }, "moves": { "conflict": "manual", "unit": "transaction" },
        "pallets": { "conflict": "hub", "unit": "transaction" },
        "pairs": { "conflict": "hub" }, "late": { "visible": "zone = :zone", "late": "accept" },
        "bags": { "columns": { "tags": "union" } }, "links": {}, "codes": {},
        "numbers": { "keys": "rekey" }, "parts": { "keys": "rekey" }, "trails": { "keys": "rekey" },
        "stores": { "conflict": "manual" }, "loose": {}, "homes": {}, "people": {}, "visits": {},
        "tags": {}, "nodes": { "parents": [] }, "seats": {},
        "crates": { "conflict": "manual", "unit": "transaction" },
        "vines": { "conflict": "manual", "unit": "transaction" },
        "sacks": { "conflict": "manual", "unit": "transaction" }, "boxes": { "conflict": "newest" },
        "tallies": { "conflict": "manual", "columns": { "n": "sum" } },
        "boughs": { "visible": "zone = :zone", "late": "accept" }, "twigs": {} } }
    """

  private static let schema = """
    CREATE TABLE rows (id TEXT PRIMARY KEY, owner TEXT, words TEXT, photo TEXT);
    CREATE TABLE wholes (id TEXT PRIMARY KEY, words TEXT);
    CREATE TABLE moves (id TEXT PRIMARY KEY, words TEXT);
    CREATE TABLE pallets (id TEXT PRIMARY KEY, words TEXT);
    CREATE TABLE pairs (id TEXT PRIMARY KEY, words TEXT, more TEXT);
    CREATE TABLE late (
      id TEXT PRIMARY KEY, next TEXT REFERENCES late (id), beside TEXT REFERENCES late (id), zone INTEGER);
    CREATE TABLE bags (id TEXT PRIMARY KEY, tags TEXT);
    CREATE TABLE links (id TEXT PRIMARY KEY, next TEXT REFERENCES links (id), words TEXT);
    CREATE TABLE codes (id TEXT PRIMARY KEY, code TEXT UNIQUE);
    CREATE TABLE numbers (id INTEGER PRIMARY KEY, words TEXT);
    CREATE TABLE parts (id INTEGER PRIMARY KEY, row TEXT REFERENCES rows (id));
    CREATE TABLE trails (id INTEGER PRIMARY KEY, next INTEGER REFERENCES trails (id));
    CREATE TABLE stores (id TEXT PRIMARY KEY, code TEXT UNIQUE, beside TEXT REFERENCES stores (id));
    CREATE TABLE loose (id PRIMARY KEY NOT NULL, next TEXT REFERENCES links (id));
    CREATE TABLE homes (id TEXT PRIMARY KEY, words TEXT);
    CREATE TABLE people (id TEXT PRIMARY KEY, home TEXT REFERENCES homes (id) ON DELETE CASCADE);
    CREATE TABLE visits (id TEXT PRIMARY KEY, person TEXT REFERENCES people (id));
    CREATE TABLE tags (id TEXT PRIMARY KEY, tag TEXT COLLATE NOCASE UNIQUE);
    CREATE TABLE nodes (
      id TEXT PRIMARY KEY COLLATE NOCASE, next TEXT REFERENCES nodes (id) ON DELETE CASCADE);
    CREATE TABLE seats (id TEXT PRIMARY KEY, name TEXT);
    CREATE UNIQUE INDEX seats_by_name ON seats (name || '!');
    CREATE TABLE crates (id TEXT PRIMARY KEY, code TEXT UNIQUE, next TEXT REFERENCES links (id));
    CREATE TABLE vines (id TEXT PRIMARY KEY, next TEXT REFERENCES vines (id));
    CREATE TABLE tallies (id TEXT PRIMARY KEY, n INTEGER, words TEXT);
    CREATE TABLE boxes (id TEXT PRIMARY KEY, code TEXT UNIQUE, beside TEXT REFERENCES boxes (id));
    CREATE TABLE sacks (id TEXT PRIMARY KEY, size INTEGER CHECK (size > 0), next TEXT REFERENCES links (id));
    CREATE TABLE boughs (
      id TEXT PRIMARY KEY, next TEXT REFERENCES boughs (id) ON DELETE CASCADE, zone INTEGER);
    CREATE TABLE twigs (id TEXT PRIMARY KEY COLLATE NOCASE, next TEXT REFERENCES twigs (id));
    INSERT INTO rows VALUES ('own', 'ann', '0', NULL), ('hidden', 'boss', '0', NULL);
    INSERT INTO wholes VALUES ('own', '0');
    INSERT INTO moves VALUES ('own', '0');
    INSERT INTO pairs VALUES ('own', '0', '0');
    INSERT INTO bags VALUES ('b', '[]');
    """

  private static let made: Result<MadeFiles, any Error> = Result {
    try MadeFiles(of: CostFixture(clock: .laterThanToday, snapshot: "never"))
  }
  private static let madeToday: Result<MadeFiles, any Error> = Result {
    try MadeFiles(of: CostFixture(clock: .today, snapshot: "first"))
  }

  /// Copies a hub and two devices.
  convenience init() throws {
    let made = try CostFixture.made.get()
    try self.init(copyOf: made, clock: SetClock(made.now))
  }

  /// Copies a hub and two devices with today's clock, so that programs outside the test can use them. Their first
  /// bundles may have snapshots.
  static func today() throws -> CostFixture { try CostFixture(copyOf: madeToday.get(), clock: .today) }

  private init(copyOf made: MadeFiles, clock: SetClock) throws {
    let ground = try WorkspaceFixture(random: SeededRandom(22), clock: clock)
    self.ground = ground
    try made.copy(into: ground.folder)
    hub = try HubWorkspace.open(ground.folder("hub"), platform: ground.platform)
    evil = try DeviceWorkspace.open(ground.folder("evil"), platform: ground.platform)
    other = try DeviceWorkspace.open(ground.folder("other"), platform: ground.platform)
  }

  /// Makes a hub and two devices.
  /// - Parameter snapshot: the dataset's member `snapshot`.
  private init(clock: SetClock, snapshot: String) throws {
    let ground = try WorkspaceFixture(random: SeededRandom(21), clock: clock)
    self.ground = ground
    let definition = Self.definition.replacing("\"never\"", with: "\"\(snapshot)\"")
    let hub = try ground.hub("hub", definition: Array(definition.utf8), schema: Self.schema)
    self.hub = hub
    _ = try hub.addUser("ann", attributes: [("zone", "1")])
    evil = try Self.device("evil", ground, hub)
    other = try Self.device("other", ground, hub)
  }

  /// Makes a device of the user ann. The hub has imported its first export.
  private static func device(
    _ name: String, _ ground: WorkspaceFixture, _ hub: HubWorkspace
  ) throws -> DeviceWorkspace {
    let device = try DeviceWorkspace.create(
      ground.folder(name), dataset: "shop", name: name, platform: ground.platform)
    try hub.admit(device, user: "ann")
    _ = try device.importBundle(hub.emit(to: name).file)
    _ = try hub.importBundle(device.export().file)
    return device
  }

  /// A third device makes the row `p` of a table and changes it very often. The attacker's device does not have this
  /// row.
  func makeLongRow(_ row: JSONValue, in table: String, changes count: Int) throws {
    let third = try Self.device("third", ground, hub)
    tick()
    let forger = try Forger(third, platform, sequence: 1)
    let bytes = try forger.bundle(later: Int64(count) + 1) { content in
      content.changes = (0...count).map { number in
        let line =
          number == 0
          ? forger.insert(table, "p", row)
          : forger.update(table, "p", set: ["words": text("\(number)")], was: ["words": text("\(number - 1)")])
        var members = line.objectValue ?? []
        members.set("generation", .integer(forger.sequence + Int64(number)))
        return .object(members)
      }
    }
    try folder.write(bytes, to: "third.satchel")
    _ = try hub.importBundle(folder("third.satchel"))
  }

  /// The numbers below the count in a mixed order. The step of 7,919 has no divisor in common with the count, so each
  /// number occurs once.
  private func shuffled(_ count: Int) -> [Int] { (0..<count).map { $0 * 7_919 % count } }

  /// A bundle that is full of lines of one kind. The hub first gets the rows that these lines need.
  func file(of count: Int, _ filling: CostTests.Filling) throws -> String {
    try prepare(count, filling)
    return try file(later: filling.hasManyGenerations ? count : 1) { content, forger in
      try fill(&content, with: filling, count, forger)
    }
  }

  /// - Parameter later: the difference between the bundle's number and the device's last merged number.
  func file(later: Int, _ fill: (inout Forger.Content, Forger) throws -> Void) throws -> String {
    let forger = try Forger(evil, platform, sequence: merged)
    let bytes = try forger.bundle(later: Int64(later)) { content in try fill(&content, forger) }
    try folder.write(bytes, to: "full.satchel")
    return folder("full.satchel")
  }

  /// An export with a snapshot that consists only of zeros.
  func file(ofZeros bytes: Int64) throws -> String {
    tick()
    let manifest = try BundleReader(platform: platform).manifest(of: evil.export().file, trust: .firstContact)
    var draft = try BundleDraft(in: folder.path, platform: platform)
    let zeros = draft.file("zeros.sqlite")
    try StockTool.bash("-c", "truncate -s \(bytes) '\(zeros)'", in: folder.path)
    try draft.addSnapshot(at: zeros)
    let sealed = try draft.seal(manifest, with: evil.keys.signing())
    let target = folder("zeros.satchel")
    try platform.files.copy(draft.write(sealed), to: target, mode: 0o644)
    return target
  }

  private func fill(
    _ content: inout Forger.Content, with filling: CostTests.Filling, _ count: Int, _ forger: Forger
  ) throws {
    switch filling {
    case .reports:
      content.conflicts = try (0..<count).map { number in
        try forger.conflict("rows", .string("r\(number)"), was: ["words": "0"], now: ["words": .string("\(number)")])
      }
    case .reportsOfRow:
      content.conflicts = try (0..<count).map { number in
        try forger.conflict("rows", "own", was: ["words": "0"], now: ["words": .string("\(number)")]) {
          $0.set("generation", .integer(forger.sequence + Int64(number)))
        }
      }
    case .reportsOfUnit:
      // All of the conflicts are about a table that accepts late work.
      let unit = JSONValue.string(String(repeating: "0", count: 31) + "1")
      content.conflicts = try (0..<count).map { number in
        try forger.conflict("late", text("r\(number)"), was: ["zone": 1], now: ["zone": 2]) { $0.set("unit", unit) }
      }
    case .decisions:
      content.resolutions = (0..<count).map { number in
        forger.resolution(of: Hexadecimal.text(of: blake2b(Array("\(number)".utf8), length: 16)))
      }
    case .files:
      content.attachments = (0..<count).map { number in
        let digest = Digest.of(Array("\(number)".utf8)).hexadecimal
        return ["op": "has", "path": .string(String(hundredThousand + number) + ".jpg"), "digest": .string(digest)]
      }
    case .receipts:
      // Each line is a receipt for another version of one file.
      content.attachments = (0..<count).map { number in
        let digest = String(repeating: "0", count: 120) + String(10_000_000 + number)
        return ["op": "has", "path": "oak.jpg", "digest": .string(digest)]
      }
    case .versions:
      content.changes = [forger.insert("rows", "r", ["id": "r", "owner": "ann", "words": nil, "photo": nil])]
    case .chainOfKeys:
      // Each row refers to the next row, which comes later in the bundle.
      content.changes = (1...Int64(count)).map { number in
        forger.insert(
          "trails", .integer(number), ["id": .integer(number), "next": number < count ? .integer(number + 1) : nil])
      }
    case .renames:
      content.changes = shuffled(count).map { rename($0, forger) }
      content.changes += shuffled(count).map { place in
        let key = JSONValue.integer(Int64(hundredThousand + place))
        return forger.insert("numbers", key, ["id": key, "words": "mine"])
      }
    case .refusedUnits:
      // Each unit has two rows, and each row is in a second unit later.
      let half = max(1, count / 2)
      content.changes = (0..<count).map { number in
        let (row, round) = (number % half, number / half)
        var members =
          forger.update(
            "pallets", text("p\(row)"), set: ["words": text("\(round + 1)")], was: ["words": text("\(round)")]
          ).objectValue ?? []
        members.set("generation", .integer(forger.sequence + Int64(round)))
        members.set("unit", .integer(Int64(round * half + row / 2 + 1)))
        return .object(members)
      }
    case .keptDecisions: content.resolutions = try keptConflicts().map { forger.resolution(of: $0, "device") }
    case .heldCaseless: content.changes = [node(count, before: nil, forger)]
    case _ where filling.isAboutHeld: content.changes = heldLines(filling, count, forger)
    case _ where filling.isAboutWaiting:
      content.changes = (0..<count).map { waitingLine(filling, $0, of: count, forger) }
    default: content.changes = shuffled(count).enumerated().map { line(filling, $0, $1, forger) }
    }
  }

  /// From this number on, all numbers have the same count of digits. So the paths are in order.
  private let hundredThousand = 100_000

  private func rename(_ place: Int, _ forger: Forger) -> JSONValue {
    [
      "table": "numbers", "op": "rekey", "key": [.integer(Int64(place + 1))], "stamp": "0000000000000000",
      "to": [.integer(Int64(hundredThousand + place))], "number": .integer(forger.received),
    ]
  }

  private func prepare(_ count: Int, _ filling: CostTests.Filling) throws {
    let numbers = "WITH n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < \(count) - 1)"
    switch filling {
    case .deletes, .chainUpdates:
      try share("\(numbers) INSERT INTO links SELECT 'l' || i, CASE WHEN i > 0 THEN 'l' || (i - 1) END, '0' FROM n")
    case .values: try share("\(numbers) INSERT INTO codes SELECT 'c' || i, 'v' || i FROM n")
    case .takenValues: try write("\(numbers) INSERT INTO codes SELECT 'c' || i, 'v' || i FROM n", in: hub.folder)
    case .besideHeld:
      // The hub already has waiting new rows of the other device, because a row is missing.
      try write(
        """
        \(numbers) INSERT INTO satchel_conflicts (
          id, device, user, table_name, key, generation, stamp, operation, kind, state, device_values, winners, winner,
          noted)
        SELECT printf('%032x', i + 1), (SELECT id FROM satchel_devices WHERE name = 'other'), 'ann', 'parts',
          json_array(\(hundredThousand) + i), 1, 1, 'insert', 'foreign key', 'held',
          json_object('id', \(hundredThousand) + i, 'row', 'gone'), '{}', 'hub', 0
        FROM n
        """, in: hub.folder)
    case .takenKeys: try write("\(numbers) INSERT INTO numbers SELECT i + 1, 'hub' FROM n", in: hub.folder)
    case .hiddenParent:
      try makeLongRow(["id": "p", "owner": "ann", "words": "0", "photo": nil], in: "rows", changes: count)
      try write("UPDATE rows SET owner = 'boss' WHERE id = 'p'", in: hub.folder)
    case .countedInserts: try makeLongRow(["id": "p", "n": nil, "words": "0"], in: "tallies", changes: count)
    case .orphansOfTakenKeys: try write("\(numbers) INSERT INTO parts SELECT i + 1, NULL FROM n", in: hub.folder)
    case .lateTree:
      // Each new row also refers to a row that its user may no longer see.
      try share("\(numbers) INSERT INTO late SELECT 'h' || i, NULL, NULL, 1 FROM n")
      _ = try hub.setUser("ann", attributes: [("zone", "2")])
    case .conflictsOfRow, .conflictsOfWholeRow, .conflictsOfUnits, .settledConflictsOfRow:
      try write("UPDATE \(filling.tableOfOneRow) SET words = 'hub' WHERE id = 'own'", in: hub.folder)
    case .refusedUnits:
      try share("\(numbers) INSERT INTO pallets SELECT 'p' || i, '0' FROM n")
      try write("UPDATE pallets SET words = 'hub'", in: hub.folder)
    case .conflictsOfLostRow:
      // The row first gets a long history. Then its user may no longer see it.
      _ = try hub.importBundle(file(of: count, .steps))
      merged += Int64(count)
      try write("UPDATE rows SET owner = 'boss' WHERE id = 'own'", in: hub.folder)
    case .versions:
      // None of these rows belongs to the sender, so the hub must examine all of them. A quarter of the count is enough
      // to show a quadratic cost within seconds.
      try write(
        "\(numbers) INSERT INTO rows SELECT 'p' || i, 'boss', '0', 'oak.jpg' FROM n WHERE i % 4 = 0", in: hub.folder)
      // The records of four times as many files that arrived and were lost.
      try write(
        """
        \(numbers) INSERT INTO satchel_received
        SELECT (SELECT id FROM satchel_devices WHERE name = 'evil'), 'oak.jpg', substr(hex(zeroblob(64)) || i, -128),
          'oak~' || substr(hex(zeroblob(6)) || i, -12) || '.jpg', 1, NULL
        FROM n
        """, in: hub.folder)
    default: try prepareWaiting(count, filling, numbers)
    }
    tick()
  }

  /// Writes rows at the hub and lets the attacker's device import them.
  func share(_ sql: String) throws {
    try write(sql, in: hub.folder)
    tick()
    _ = try evil.importBundle(hub.emit(to: "evil").file)
  }

  func text(_ word: String) -> JSONValue { .string(word) }

  /// - Parameters:
  ///   - number: the index of the line.
  ///   - place: another number below the count. Each number occurs for one line.
  private func line(_ filling: CostTests.Filling, _ number: Int, _ place: Int, _ forger: Forger) -> JSONValue {
    func row(_ members: JSONValue) -> JSONValue { forger.insert("rows", text("r\(number)"), members) }
    let key = JSONValue.integer(Int64(number + 1))
    let before: JSONValue = place == 0 ? nil : text("\(filling == .chain ? "o" : "l")\(place - 1)")
    switch filling {
    case .rows: return row(["id": text("r\(number)"), "owner": "ann", "words": nil, "photo": nil])
    case .forbidden: return row(["id": text("r\(number)"), "owner": "boss", "words": nil, "photo": nil])
    case .fileNames:
      return row(["id": text("r\(number)"), "owner": "ann", "words": nil, "photo": text("\(place).jpg")])
    case .sharedFile: return row(["id": text("r\(number)"), "owner": "ann", "words": nil, "photo": "oak.jpg"])
    case .steps, .conflictsOfRow, .conflictsOfWholeRow, .conflictsOfUnits, .conflictsOfLostRow:
      let (set, was): (JSONValue, JSONValue) = (["words": text("\(number + 1)")], ["words": text("\(number)")])
      var members = forger.update(filling.tableOfOneRow, "own", set: set, was: was).objectValue ?? []
      members.set("generation", .integer(forger.sequence + Int64(number)))
      if filling == .conflictsOfUnits { members.set("unit", .integer(Int64(number + 1))) }
      return .object(members)
    case .settledConflictsOfRow:
      // The hub rejects the first value and accepts the second one.
      let (set, was) = (text("\(number + 1)"), text("\(number)"))
      var members =
        forger.update("pairs", "own", set: ["words": set, "more": set], was: ["words": was, "more": was]).objectValue
        ?? []
      members.set("generation", .integer(forger.sequence + Int64(number)))
      return .object(members)
    case .lateTree:
      // The row has a later generation than some rows below it.
      let parent: JSONValue = place == 0 ? nil : text("o\(place - 1)")
      var members =
        forger.insert(
          "late", text("o\(place)"),
          ["id": text("o\(place)"), "next": parent, "beside": text("h\(place)"), "zone": 1]
        )
        .objectValue ?? []
      members.set("generation", .integer(forger.sequence + Int64(number)))
      return .object(members)
    case .deletes:
      return forger.delete("links", text("l\(place)"), was: ["id": text("l\(place)"), "next": before, "words": "0"])
    case .chainUpdates: return forger.update("links", text("l\(place)"), set: ["words": "1"], was: ["words": "0"])
    case .orphans:
      return forger.insert("links", text("o\(number)"), ["id": text("o\(number)"), "next": "gone", "words": nil])
    case .chain:
      return forger.insert("links", text("o\(place)"), ["id": text("o\(place)"), "next": before, "words": nil])
    case .values:
      return forger.update(
        "codes", text("c\(place)"), set: ["code": text("v\(place + 1)")], was: ["code": text("v\(place)")])
    case .besideHeld: return forger.insert("numbers", key, ["id": key, "words": "mine"])
    case .takenValues:
      return forger.insert("codes", text("d\(place)"), ["id": text("d\(place)"), "code": text("v\(place)")])
    case .takenKeys: return forger.insert("numbers", key, ["id": key, "words": "mine"])
    case .orphansOfTakenKeys: return forger.insert("parts", key, ["id": key, "row": "gone"])
    case .hiddenParent: return forger.insert("parts", key, ["id": key, "row": "p"])
    case .countedInserts:
      let line = forger.insert("tallies", "p", ["id": "p", "n": nil, "words": text("mine \(number)")])
      var members = line.objectValue ?? []
      members.set("generation", .integer(forger.sequence + Int64(number)))
      // Claims that the device itself made the row after it joined.
      members.set("first", line["stamp"] ?? .null)
      return .object(members)
    default: return nil
    }
  }
}

extension CostTests.Filling {
  /// Whether each line has a generation of its own. In most cases, this is because all lines are about one row.
  fileprivate var hasManyGenerations: Bool {
    [
      .steps, .conflictsOfRow, .conflictsOfWholeRow, .conflictsOfUnits, .conflictsOfLostRow, .settledConflictsOfRow,
      .reportsOfRow, .lateTree, .refusedUnits, .keptAgain, .backAndForth, .unitsBelowKeptOut,
      .keptWithChildren, .countedInserts,
    ].contains(self)
  }

  fileprivate var tableOfOneRow: String {
    switch self {
    case .conflictsOfWholeRow: "wholes"
    case .conflictsOfUnits: "moves"
    case .settledConflictsOfRow: "pairs"
    default: "rows"
    }
  }
}
