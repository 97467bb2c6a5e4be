import SatchelJSON
import SatchelWorkspace
import TestSupport
import Testing

/// The hub treats a conflict in a device's bundle as a report of the device's user about that user's own changes. Other
/// claims in the line do not matter.
@Suite("Forged conflicts and decisions")
struct ConflictForgeryTests {
  private let lab: AttackFixture
  private let before: Protected

  init() throws {
    lab = try AttackFixture()
    before = try Protected(lab)
  }

  /// Lines which claim that a change waits. They also claim an author of this change.
  enum Forgery: CaseIterable {
    case hiddenPrice, privateNote, insertInOthersName, deletedRow, unknownUser, hiddenParent, openUpdate, own

    func line(_ forger: Forger) throws -> JSONValue {
      switch self {
      case .hiddenPrice:
        try forger.conflict("prices", 3, was: ["cents": 99999], now: ["cents": 1]) { $0.hold(as: "boss") }
      case .privateNote:
        try forger.conflict("notes", "n4", was: ["pub": 0], now: ["pub": 1]) { $0.hold(as: "ben") }
      case .insertInOthersName:
        try forger.conflict("notes", "n9", was: .null, now: Self.note("n9", by: "boss")) {
          $0.hold(as: "boss")
          $0.set("op", "insert")
        }
      case .deletedRow:
        try forger.conflict("notes", "n4", was: Self.note("n4", by: "ben"), now: .null) {
          $0.hold(as: "ben")
          $0.set("op", "delete")
        }
      case .unknownUser:
        try forger.conflict("prices", 3, was: ["cents": 99999], now: ["cents": 1]) { $0.hold(as: "nobodyknows") }
      case .hiddenParent:
        try forger.conflict("replies", "r9", was: .null, now: ["id": "r9", "note": "n4", "body": "x"]) {
          $0.hold(as: "ben")
          $0.set("op", "insert")
          $0.set("kind", "foreign key")
        }
      case .openUpdate:
        try forger.conflict("prices", 1, was: ["cents": 300], now: ["cents": 1]) {
          $0.set("user", "boss")
          $0.set("note", "agreed by phone")
        }
      case .own: try forger.conflict("prices", 1, was: ["cents": 300], now: ["cents": 1]) { $0.hold(as: "ann") }
      }
    }

    private static func note(_ id: String, by author: String) -> JSONValue {
      ["id": .string(id), "author": .string(author), "pub": 1, "body": "x", "likes": 0, "photo": nil]
    }
  }

  @Test(
    """
    a change that a device reports as waiting is not executed or decided by a rule, whoever is its author
    """,
    arguments: Forgery.allCases)
  func waitingReport(forgery: Forgery) throws {
    let line = try forgery.line(lab.forger)
    #expect(try lab.refusal(of: lab.forger.bundle { $0.conflicts = [line] }) == nil)
    #expect(try before.differences(to: Protected(lab)) == [])
    // The change must not be made at the end of a later import, nor when a person decides all conflicts at once.
    #expect(try lab.takesTheVictim())
    let later = try Protected(lab)
    for policy in ["newest", "device"] {
      #expect(lab.tool("conflicts", "resolve", "--all", "--policy", policy).code == 0)
      #expect(try later.differences(to: Protected(lab)) == [])
    }
    #expect(try lab.atHub("SELECT user, state FROM satchel_conflicts") == ["ann|open"])
    #expect(try !lab.tellsSecrets(to: "evil"))
  }

  @Test("a report is shown as a report, of the user who made the bundle")
  func shown() throws {
    let line = try Forgery.openUpdate.line(lab.forger)
    #expect(try lab.refusal(of: lab.forger.bundle { $0.conflicts = [line] }) == nil)
    let list = lab.tool("conflicts").out
    #expect(list.contains("reported") && list.contains("ann") && !list.contains("boss"))
    let id = try #require(line["conflict"]?.stringValue)
    #expect(lab.tool("conflicts", "show", id).out.contains("Only evil reported this"))
    #expect(lab.tool("conflicts", "show", id, "--json").out.contains("\"reported\": true"))
  }

  @Test("a report of a device that may change nothing is kept, and all together decide nothing of it")
  func readOnly() throws {
    _ = try lab.hub.setDevice("evil", readOnly: true)
    let line = try lab.forger.conflict("notes", "n1", was: ["body": "mine"], now: ["body": "forged"]) {
      $0.hold(as: "ann")
    }
    #expect(try lab.refusal(of: lab.forger.bundle { $0.conflicts = [line] }) == nil)
    lab.tool("conflicts", "resolve", "--all", "--policy", "device")
    #expect(try lab.atHub("SELECT body FROM notes WHERE id = 'n1'") == ["mine"])
    #expect(try lab.atHub("SELECT kind, state FROM satchel_conflicts") == ["forbidden|open"])
  }

  @Test("the id of another device's conflict, used before that device uses it, hides and reveals nothing")
  func takenID() throws {
    try lab.write("UPDATE notes SET photo = 'benphoto.jpg' WHERE id = 'n4'", in: lab.victim.folder)
    lab.tick()
    let theirs = try lab.victim.export().file
    let id = try conflictID(ofOnlyLineIn: theirs)
    let line = try lab.forger.conflict("notes", "n2", was: ["body": "a"], now: ["body": "c"]) {
      $0.set("conflict", .string(id))
      $0.set("state", "settled")
    }
    #expect(try lab.refusal(of: lab.forger.bundle { $0.conflicts = [line] }) == nil)
    try lab.write("UPDATE notes SET photo = 'SECRET-hub.jpg' WHERE id = 'n4'", in: lab.hub.folder)
    _ = try lab.hub.importBundle(theirs)
    let found = try lab.atHub("SELECT user, key, device_values FROM satchel_conflicts WHERE id = '\(id)'")
    #expect(found == [#"ben|["n4"]|{"photo":"benphoto.jpg"}"#])
    #expect(lab.tool("conflicts", "show", id).out.contains("benphoto.jpg"))
    #expect(try !lab.tellsSecrets(to: "evil"))
    // The record of the attacker that has this id is a conflict of the attacker.
    let decision: JSONValue = [
      "conflict": .string(id), "decision": "hub", "user": "ann", "generation": .integer(try lab.forger.sequence),
      "stamp": .string(try lab.forger.stamp()),
    ]
    #expect(try lab.refusal(of: lab.forger.bundle { $0.resolutions = [decision] }) == nil)
    #expect(try lab.atHub("SELECT state FROM satchel_conflicts WHERE user = 'ben'") == ["open"])
    #expect(try lab.atHub("SELECT state, decided_by FROM satchel_conflicts WHERE user = 'ann'") == ["resolved|ann"])
  }

  /// The id that the conflict about the only change in a bundle will have.
  private func conflictID(ofOnlyLineIn bundle: String) throws -> String {
    let folder = try lab.folder.folder("theirs")
    try StockTool.tar("--zstd", "-xf", bundle, in: folder)
    var line = try JSONValue.parse(lab.folder.read("theirs/changes.jsonl").dropLast()).objectValue ?? []
    line.set("device", .string(lab.victim.configuration.id.text))
    line.set("device_values", line.first { $0.name == "set" }?.value ?? .null)
    return try Forger.conflictID(of: .object(line))
  }

  @Test("a decision counts for the author of its bundle, in a conflict of this author alone")
  func decisions() throws {
    // The changes of ben and of ann both lose against the hub's change.
    try lab.write("UPDATE notes SET body = 'bens' WHERE id = 'n5'", in: lab.victim.folder)
    try lab.write("UPDATE notes SET body = 'hubs' WHERE id IN ('n1', 'n5')", in: lab.hub.folder)
    lab.tick()
    _ = try lab.hub.importBundle(lab.victim.export().file)
    let mine = try lab.forger.update("notes", "n1", set: ["body": "anns"], was: ["body": "mine"])
    #expect(try lab.refusal(of: lab.forger.bundle { $0.changes = [mine] }) == nil)
    let ids = try lab.atHub("SELECT id FROM satchel_conflicts ORDER BY user")
    #expect(ids.count == 2)
    let forger = try lab.forger
    let decisions = ids.map { id -> JSONValue in
      [
        "conflict": .string(id), "decision": "hub", "user": "boss", "generation": .integer(forger.sequence),
        "stamp": .string(forger.stamp()),
      ]
    }
    #expect(try lab.refusal(of: forger.bundle { $0.resolutions = decisions }) == nil)
    #expect(
      try lab.atHub("SELECT user, state, decided_by FROM satchel_conflicts ORDER BY user") == [
        "ann|resolved|ann", "ben|open|NULL",
      ])
  }

  @Test("what the hub finds itself takes the place of what the device reported")
  func confirmed() throws {
    try lab.write("UPDATE notes SET body = 'hubs' WHERE id = 'n1'", in: lab.hub.folder)
    let forger = try lab.forger
    let change = forger.update("notes", "n1", set: ["body": "anns"], was: ["body": "mine"])
    let report = try forger.conflict("notes", "n1", was: ["body": "invented"], now: ["body": "anns"]) {
      $0.set("stamp", change["stamp"] ?? "")
      $0.set("hub_values", ["body": "invented too"])
    }
    #expect(
      try lab.refusal(
        of: forger.bundle {
          $0.changes = [change]
          $0.conflicts = [report]
        }) == nil)
    #expect(
      try lab.atHub("SELECT base_values, hub_values, device_values FROM satchel_conflicts") == [
        #"{"body":"mine"}|{"body":"hubs"}|{"body":"anns"}"#
      ])
    #expect(!lab.tool("conflicts").out.contains("reported"))
  }

  /// When the update arrives that would let the row in.
  enum Delivery: CaseIterable { case withReport, afterReport }

  @Test("a row that a device only reports to be kept out is not let in by a later update", arguments: Delivery.allCases)
  func updateOfReportedRow(delivery: Delivery) throws {
    let row: JSONValue = ["id": "n9", "author": "ann", "pub": 0, "body": "x", "likes": 0, "photo": nil]
    let report = try lab.forger.conflict("notes", "n9", was: .null, now: row) {
      $0.set("op", "insert")
      $0.set("kind", "unique")
      $0.set("hub_values", .null)
    }
    if delivery == .afterReport { #expect(try lab.refusal(of: lab.forger.bundle { $0.conflicts = [report] }) == nil) }
    let update = try lab.forger.update("notes", "n9", set: ["body": "y"], was: ["body": "x"])
    let bundle = try lab.forger.bundle {
      $0.changes = [update]
      if delivery == .withReport { $0.conflicts = [report] }
    }
    #expect(try lab.refusal(of: bundle) == nil)
    #expect(try lab.atHub("SELECT count(*) FROM notes WHERE id = 'n9'") == ["0"])
    #expect(try lab.atHub("SELECT state FROM satchel_conflicts WHERE kind = 'unique'") == ["open"])
    #expect(try before.differences(to: Protected(lab)) == [])
  }

  @Test("a report that names a table, a key or a generation that cannot be refuses the bundle")
  func impossible() throws {
    for (name, value) in [
      ("table", "satchel_devices"), ("table", "nothing"), ("key", [1, 2]), ("generation", 99), ("device", "x"),
    ] as [(String, JSONValue)] {
      let device = lab.victim.configuration.id.text
      let line = try lab.forger.conflict("notes", "n1", was: ["body": "a"], now: ["body": "b"]) {
        $0.set(name, name == "device" ? .string(device) : value)
      }
      #expect(try lab.refusal(of: lab.forger.bundle { $0.conflicts = [line] }) == "bad-line", "\(name)")
    }
    #expect(try lab.atHub("SELECT count(*) FROM satchel_conflicts") == ["0"])
  }
}

extension [JSONValue.Member] {
  fileprivate mutating func hold(as user: String) {
    set("user", .string(user))
    set("kind", "constraint")
    set("state", "held")
    set("hub_values", .null)
  }
}
