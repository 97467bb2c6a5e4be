import Testing

/// Three devices wrote one after the other. Each knew what the devices before it had written. Then the hub is set back
/// or restored, and the devices deliver again in some order.
@Suite("A lost time that comes back in every order")
struct DeliveryOrderTests {
  private let camp: CommandLineFixture
  private let devices = ["a", "b", "c"]

  init() throws { camp = try CommandLineFixture() }

  /// How the first device of an order delivers.
  enum Manner {
    case usual
    /// Its stick arrives after the other devices have delivered, and arrives twice.
    case late
    /// It imports the hub's first bundle of the new epoch before it delivers.
    case importFirst
  }

  /// How the hub loses the devices' writes.
  enum Way: CaseIterable {
    case filesPutBack, backup

    /// The orders that are played after this way. With both ways, each story meets all six orders.
    var orders: [[String]] {
      switch self {
      case .filesPutBack: [["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"]]
      case .backup: [["a", "c", "b"], ["b", "c", "a"], ["c", "b", "a"]]
      }
    }
  }

  static let stories: [(rules: String, manner: Manner)] = [
    (#""conflict": "manual""#, .usual), (#""conflict": "hub""#, .late),
    (#""conflict": "device", "merge": "row""#, .importFirst), (#""conflict": "newest", "merge": "row""#, .late),
  ]

  /// Each device adds to a counter and replaces the previous device's element of a list. Each also overwrites the same
  /// note. Device b deletes a row that a made. Device c deletes an old row that a changed.
  private func writeInTurn() throws {
    let acts = [
      """
      UPDATE counts SET n = n + 3, tags = '["a"]'; INSERT INTO notes VALUES ('new', 'by a');
      UPDATE notes SET name = 'by a' WHERE id = 'name'; UPDATE notes SET name = 'changed' WHERE id = 'old';
      """,
      """
      UPDATE counts SET n = n + 5, tags = '["b"]'; DELETE FROM notes WHERE id = 'new';
      UPDATE notes SET name = 'by b' WHERE id = 'name';
      """,
      """
      UPDATE counts SET n = n + 7, tags = '["c"]'; DELETE FROM notes WHERE id = 'old';
      UPDATE notes SET name = 'by c' WHERE id = 'name';
      """,
    ]
    for (device, act) in zip(devices, acts) {
      camp.awaitLaterTime()
      try camp.sql("\(device)/data.sqlite", act)
      for name in [device] + devices { try camp.carry(name) }
    }
  }

  private func rows(_ database: String) throws -> String {
    try camp.rows(database, "SELECT n, tags, (SELECT json_group_object(id, name) FROM notes) FROM counts")
  }

  private func deliver(_ device: String, _ manner: Manner) throws {
    if manner == .importFirst { camp.device(device, "import", try camp.emit(device)) }
    if manner != .late { return try camp.carry(device) }
    try camp.makeFolder("late")
    camp.device(device, "sync", camp.path("late"))
  }

  /// The hub imports the late stick's bundles twice.
  private func takeLate() throws {
    for _ in 1...2 { camp.hub("sync", camp.path("late")) }
    try camp.remove("late")
  }

  private func bringBackHub(_ way: Way) throws {
    switch way {
    case .filesPutBack:
      try camp.putBackHub()
      #expect(camp.hub("restore", "--in-place").code == 0)
    case .backup: try camp.restore()
    }
    try camp.removeIfThere("stick")
  }

  @Test(
    "counters, lists, deleted rows and known changes are as they were, whoever delivers first", arguments: stories,
    Way.allCases)
  func everyOrder(story: (rules: String, manner: Manner), way: Way) throws {
    let (rules, manner) = story
    try camp.open(
      """
      CREATE TABLE counts (id TEXT PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0, tags TEXT);
      CREATE TABLE notes (id TEXT PRIMARY KEY, name TEXT);
      INSERT INTO counts VALUES ('one', 0, '[]'); INSERT INTO notes VALUES ('name', ''), ('old', '');
      """,
      CommandLineFixture.definition(
        #"{ "notes": { \#(rules) }, "counts": { "columns": { "n": "sum", "tags": "union" } } }"#), devices: devices)
    for device in devices { try camp.carry(device, rounds: 2) }
    if way == .backup { try camp.backUp() } else { try camp.keepHub() }
    try writeInTurn()
    let truth = try rows("office.sqlite")
    #expect(truth == #"15|["c"]|{"name":"by c"}"#)
    for device in devices {
      #expect(try rows("\(device)/data.sqlite") == truth)
      try camp.copy(device, to: "\(device)-then")
    }
    for order in way.orders {
      try bringBackHub(way)
      for (place, device) in order.enumerated() { try deliver(device, place == 0 ? manner : .usual) }
      if manner == .late { try takeLate() }
      for _ in 1...2 { for device in order { try camp.carry(device) } }
      for database in ["office.sqlite"] + devices.map({ "\($0)/data.sqlite" }) {
        #expect(try rows(database) == truth, "\(database), \(order), \(manner), \(way)")
      }
      let open = "SELECT kind, key FROM satchel_conflicts WHERE state IN ('open', 'held')"
      #expect(try camp.rows("office.sqlite", open) == "", "\(order), \(manner), \(way)")
      for device in devices {
        try camp.remove(device)
        try camp.copy("\(device)-then", to: device)
      }
    }
  }
}
