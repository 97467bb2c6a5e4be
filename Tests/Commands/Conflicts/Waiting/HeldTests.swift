import SatchelJSON
import SatchelPlatform
import Testing

/// Changes wait at the hub for a missing parent row. When the parent comes, the hub checks them by the rules again.
@Suite("Waiting changes follow the rules when they enter")
struct HeldTests {
  private let camp: CommandLineFixture
  private let schema = """
    CREATE TABLE p (id TEXT PRIMARY KEY);
    CREATE TABLE c (id TEXT PRIMARY KEY, p TEXT REFERENCES p (id), owner TEXT, x TEXT);
    INSERT INTO p VALUES ('p1');
    INSERT INTO c VALUES ('c1', 'p1', 'ann', 'keep me');
    """

  init() throws { camp = try CommandLineFixture() }

  /// Makes a hub with ann's device a and ben's device b. On a, the row c1 names a parent that does not exist at the hub
  /// yet.
  private func open(_ rules: String) throws {
    try camp.open(schema, CommandLineFixture.definition(#"{ "p": {}, "c": { \#(rules) } }"#), devices: ["a"])
    camp.hub("user", "add", "ben")
    camp.provision("b", for: "ben")
    for name in ["a", "b"] { try camp.answer(name) }
    try camp.sql("a/data.sqlite", "UPDATE c SET p = 'p2', x = 'of a' WHERE id = 'c1'")
  }

  private func deliverParent() throws {
    try camp.sql("b/data.sqlite", "INSERT INTO p VALUES ('p2')")
    try camp.deliver("b")
  }

  private func row() throws -> String { try camp.rows("office.sqlite", "SELECT id, p, owner, x FROM c") }

  private func conflicts() throws -> String {
    try camp.rows(
      "office.sqlite", "SELECT operation, kind, state FROM satchel_conflicts ORDER BY generation, key")
  }

  /// a exports its update of c1, then deletes c1. The hub receives both changes.
  private func deliverWithDelete() throws {
    _ = try camp.export("a")
    try camp.sql("a/data.sqlite", "DELETE FROM c WHERE id = 'c1'")
    try camp.deliver("a")
    #expect(try conflicts() == "update|foreign key|held\ndelete|foreign key|held")
  }

  @Test("a delete that waited does not delete where nothing is deleted")
  func neverDeleted() throws {
    try open(#""delete": "never""#)
    try deliverWithDelete()
    try deliverParent()
    #expect(try row() == "c1|p2|ann|of a")
    #expect(try conflicts() == "update|foreign key|settled\ndelete|forbidden|held")
    #expect(camp.hub("conflicts", "--all").out.contains("forbidden"))
    camp.hub("emit", "--all")
    #expect(try row() == "c1|p2|ann|of a", "nor later")
  }

  @Test("what waited behind a change that was decided for the hub enters by nothing but a decision")
  func behindDecision() throws {
    try open("")
    try camp.sql("office.sqlite", "UPDATE c SET x = 'office' WHERE id = 'c1'")
    try deliverWithDelete()
    let id = try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts WHERE operation = 'update'")
    let decided = camp.hub("conflicts", "resolve", id, "--keep", "hub")
    #expect(decided.code == 0, "\(decided.error)")
    #expect(try conflicts() == "update|foreign key|resolved\ndelete|foreign key|open")
    try deliverParent()
    camp.hub("emit", "--all")
    #expect(try row() == "c1|p1|ann|office")
  }

  @Test("a new row that its user may not make any more does not enter with its parent, but is forbidden")
  func lostRightToMake() throws {
    try open(#""write": "owner = :user OR x <> 'secret'""#)
    try camp.sql("a/data.sqlite", "INSERT INTO c VALUES ('c2', 'p2', 'zoe', 'open')")
    try camp.deliver("a")
    #expect(try conflicts() == "update|foreign key|held\ninsert|foreign key|held")
    try camp.write(
      "next.json",
      #"{ "dataset": "camp", "version": 2, "tables": { "p": {}, "c": { "write": "owner = :user" } } }"#)
    let applied = camp.hub("dataset", "apply", camp.path("next.json"))
    #expect(applied.code == 0, "\(applied.error)")
    try camp.answer("b")
    try deliverParent()
    #expect(try row() == "c1|p2|ann|of a")
    #expect(try conflicts() == "update|foreign key|settled\ninsert|forbidden|held")
    try camp.answer("a")
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("a right that was taken meanwhile is taken from what waits too")
  func lostRight() throws {
    try open(#""write": "owner = :user""#)
    try camp.deliver("a")
    try camp.sql("office.sqlite", "UPDATE c SET owner = 'ben' WHERE id = 'c1'")
    try deliverParent()
    #expect(try row() == "c1|p1|ben|keep me")
    #expect(try conflicts() == "update|forbidden|held")
  }

  @Test("a device that may change nothing any more changes nothing by what waited")
  func readOnly() throws {
    try open("")
    try camp.deliver("a")
    #expect(camp.hub("device", "set", "a", "--edits", "no").code == 0)
    try deliverParent()
    #expect(try row() == "c1|p1|ann|keep me")
    #expect(try conflicts() == "update|forbidden|held")
  }

  @Test("what a device wrote in its time enters, also if its time is over when the parent comes")
  func expired() throws {
    try open("")
    try camp.deliver("a")
    let now = SystemClock().milliseconds()
    try camp.sql("office.sqlite", "UPDATE satchel_devices SET expires = \(now) WHERE name = 'a'")
    camp.awaitLaterTime()
    try deliverParent()
    #expect(try row() == "c1|p2|ann|of a")
    #expect(try conflicts() == "update|foreign key|settled")
  }

  @Test("what was written after the last day waits for a person", arguments: ["device set a", "user set ann"])
  func writtenTooLate(_ command: String) throws {
    try open("")
    try camp.deliver("a")
    let words = ["-C", camp.path("hub")] + command.split(separator: " ").map(String.init)
    #expect(camp.hubAnywhere(words + ["--expires", "2001-01-01"]).code == 0)
    try deliverParent()
    #expect(try row() == "c1|p1|ann|keep me")
    #expect(try conflicts() == "update|forbidden|held")
    #expect(camp.hub("conflicts", "--json").out.contains("after the last day"))
    // A person corrects the last day. The command reports how many changes the wrong day kept out, and how to accept
    // them.
    let other = camp.hubAnywhere(words + ["--expires", "2001-02-02", "--json"])
    #expect(try other.json["kept_out"] == 0, "\(other.out)")
    let corrected = camp.hubAnywhere(words + ["--expires", "never"])
    #expect(corrected.out.contains("The former last day kept out 1 change."), "\(corrected.out)\(corrected.error)")
    #expect(corrected.out.contains("satchel-hub conflicts resolve ID --keep device"))
    let id = try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts")
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "device").code == 0)
    #expect(try row() == "c1|p2|ann|of a")
  }

  @Test(
    "what a stolen device delivered from its revocation on does not enter; what it delivered before does",
    arguments: [1, 2])
  func revoked(from number: Int) throws {
    try open("")
    try camp.deliver("a")
    #expect(camp.hub("device", "revoke", "a", "--from", "\(number)").code == 0)
    try deliverParent()
    let isWithin = number > 1
    #expect(try row() == (isWithin ? "c1|p2|ann|of a" : "c1|p1|ann|keep me"))
    #expect(try conflicts() == "update|foreign key|\(isWithin ? "settled" : "open")")
  }
}
