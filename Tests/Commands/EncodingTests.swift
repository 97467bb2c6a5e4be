import SatchelJSON
import Testing

/// SQLite changes some texts when it reads them from a file in UTF-16. Such a file is refused before it becomes part of
/// a workspace.
@Suite("Databases in UTF-16")
struct EncodingTests {
  private let camp: Camp
  private static let table = "CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT); INSERT INTO t VALUES ('x', 'y')"

  init() throws {
    camp = try Camp()
    try camp.write("camp.json", Camp.definition(#"{ "t": {} }"#))
  }

  @Test("a hub is not made of one, and nothing is left behind", arguments: ["UTF-16le", "UTF-16be"])
  func hub(encoding: String) throws {
    try camp.sql("office.sqlite", "PRAGMA encoding = '\(encoding)'; \(Self.table)")
    let made = camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    #expect(made.code == 1 && made.error.contains(encoding) && made.error.contains(".dump"), "\(made.error)")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'satchel%'") == "0")
  }

  @Test("a device does not fill a UTF-16 database that its app made")
  func device() throws {
    try camp.sql("office.sqlite", Self.table)
    camp.makeHub("hub", over: "office.sqlite")
    camp.hub("user", "add", "ann")
    let made = camp.deviceAnywhere(
      "init", camp.path("tablet"), "--dataset", "camp", "--name", "tablet", "--request", camp.path("request"), "--json")
    let fingerprint = try #require(try made.json["fingerprint"]?.stringValue)
    #expect(camp.hub("device", "enrol", camp.path("request"), "--user", "ann", "--fingerprint", fingerprint).code == 0)
    try camp.sql("tablet/data.sqlite", "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT)")
    let hub = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    let taken = camp.device("tablet", "import", try camp.emit("tablet"), "--fingerprint", hub)
    #expect(taken.code != 0 && taken.error.contains("UTF-16le"), "\(taken)")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM t") == "0")
  }
}
