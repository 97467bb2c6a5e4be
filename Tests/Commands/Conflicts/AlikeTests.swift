import Testing

/// If a device delivers first, the hub merges its changes. If the device imports first, the device rebases its changes.
@Suite("Delivered first or imported first, the result is the same")
struct AlikeTests {
  /// The writes on both sides before the two sides exchange bundles.
  enum Shape: String, CaseIterable {
    /// The office writes a column that the device writes later, and writes another column after the device.
    case otherColumnLater
    case writtenAndBack, deletedAndMadeAnew
    /// The device and the office write the same value. Then the device writes another value.
    case sameThenOther
    /// The hub does not accept the device's first write. The device writes the row again before it knows this.
    case correctedAfterRefusal
    /// The device deletes a row. The office has changed this row and changed it back.
    case deletedWhereBack
    /// Both sides make a row with the same primary key. Later the office changes a column of this row.
    case madeTwice
  }

  private static let policies = ["newest", "hub", "manual", "device", #"newest", "merge": "row"#]

  private func open(_ policy: String) throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT CHECK (a <> 'forbidden at the hub'), b TEXT);
      INSERT INTO t VALUES ('k', 'a0', 'b0');
      """, CommandLineFixture.definition(#"{ "t": { "conflict": "\#(policy)" } }"#), devices: ["d"])
    try camp.answer("d")
    return camp
  }

  private func write(_ shape: Shape, in camp: CommandLineFixture) throws {
    func hub(_ text: String) throws {
      try camp.sql("office.sqlite", text)
      camp.hub("emit", "--all")
      camp.awaitLaterTime()
    }
    func device(_ text: String) throws {
      try camp.sql("d/data.sqlite", text)
      camp.awaitLaterTime()
    }
    switch shape {
    case .otherColumnLater:
      try hub("UPDATE t SET a = 'office'")
      try device("UPDATE t SET a = 'device'")
      try hub("UPDATE t SET b = 'office'")
    case .writtenAndBack:
      try device("UPDATE t SET a = 'device'")
      try hub("UPDATE t SET a = 'x'")
      try hub("UPDATE t SET a = 'a0', b = 'office'")
    case .deletedAndMadeAnew:
      try device("UPDATE t SET a = 'device'")
      try hub("DELETE FROM t")
      try hub("INSERT INTO t VALUES ('k', 'a0', 'office')")
    case .sameThenOther:
      try hub("UPDATE t SET a = 'same'")
      try device("UPDATE t SET a = 'same'")
      _ = try camp.export("d")
      try device("UPDATE t SET a = 'device'")
    case .correctedAfterRefusal:
      try camp.sql("d/data.sqlite", "PRAGMA ignore_check_constraints = ON; UPDATE t SET a = 'forbidden at the hub'")
      try camp.deliver("d")
      try device("UPDATE t SET a = 'right'")
    case .deletedWhereBack:
      try hub("UPDATE t SET a = 'x'")
      try hub("UPDATE t SET a = 'a0'")
      try device("DELETE FROM t")
    case .madeTwice:
      try hub("INSERT INTO t VALUES ('n', 'office', 'office')")
      try device("INSERT INTO t VALUES ('n', 'device', 'device')")
      try hub("UPDATE t SET b = 'later' WHERE id = 'n'")
    }
  }

  /// The rows and the conflicts of the hub and of the device. They must be the same on both sides.
  private func outcome(_ shape: Shape, _ policy: String, importsFirst: Bool, full: Bool) throws -> String {
    let camp = try open(policy)
    try write(shape, in: camp)
    if importsFirst { try camp.answer("d", full: full) }
    try camp.deliver("d")
    for _ in 0..<2 {
      try camp.answer("d")
      try camp.deliver("d")
    }
    let rows = try camp.rows("office.sqlite", "SELECT * FROM t ORDER BY id")
    #expect(try camp.rows("d/data.sqlite", "SELECT * FROM t ORDER BY id") == rows)
    let conflicts = try camp.rows(
      "office.sqlite", "SELECT kind, state, winners, hub_values, device_values FROM satchel_conflicts ORDER BY id")
    return "\(rows)\n\(conflicts)"
  }

  @Test("under every policy", arguments: Shape.allCases, policies)
  func alike(_ shape: Shape, _ policy: String) throws {
    let delivered = try outcome(shape, policy, importsFirst: false, full: false)
    #expect(try outcome(shape, policy, importsFirst: true, full: false) == delivered, "by a delta")
    #expect(try outcome(shape, policy, importsFirst: true, full: true) == delivered, "by a full bundle")
  }

  @Test("a write is newer than an older one of the same column, whatever came into the row after it")
  func newestByColumn() throws {
    let outcome = try outcome(.otherColumnLater, "newest", importsFirst: true, full: false)
    #expect(outcome.hasPrefix("k|device|office\n"))
  }
}
