import Foundation
import SatchelJSON
import TestSupport
import Testing

/// SQLite changes some texts when it reads them from a UTF-16 file. Satchel refuses such a file before it becomes part
/// of a workspace.
@Suite("Databases in UTF-16")
struct EncodingTests {
  private let camp: CommandLineFixture
  private static let table = "CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT); INSERT INTO t VALUES ('x', 'y')"

  init() throws {
    camp = try CommandLineFixture()
    try camp.write("camp.json", CommandLineFixture.definition(#"{ "t": {} }"#))
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

  @Test("a template in UTF-16 is refused by its name, and no device is made of it")
  func template() throws {
    try camp.sql("office.sqlite", Self.table)
    camp.makeHub("hub", over: "office.sqlite")
    camp.hub("user", "add", "ann")
    let template = camp.path("empty.sqlite")
    try camp.sql("empty.sqlite", "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT)")
    func provision(_ more: String...) -> CommandLineFixture.Outcome {
      let words = ["device", "provision", "tablet", "--user", "ann", "--into", camp.path("tablet")]
      return camp.hubAnywhere(["-C", camp.path("hub")] + words + ["--template", template] + more)
    }
    for refused in [provision("--dry-run"), provision()] {
      #expect(refused.code == 1 && refused.error.contains("The template \(template) holds its texts in UTF-16le"))
    }
    #expect(!FileManager.default.fileExists(atPath: camp.path("tablet")))
    #expect(try camp.hub("device", "list", "--json").json["devices"] == [])
    try convert("empty.sqlite", to: "UTF-8")
    #expect(provision().code == 0)
  }

  /// Replaces a database with a copy whose texts have another encoding.
  private func convert(_ database: String, to encoding: String) throws {
    let steps = """
      sqlite3 "$1" .dump > "$1.sql" && rm -f "$1" "$1-wal" "$1-shm" \
      && sqlite3 -cmd "PRAGMA encoding = '$2'" "$1" < "$1.sql" && rm "$1.sql"
      """
    let shell = try ChildProcess(
      "/bin/sh", ["-c", steps, "sh", camp.path(database), encoding], complaints: .withOutput)
    let words = String(decoding: shell.readToEnd(), as: UTF8.self)
    #expect(shell.wait() == 0, "\(words)")
  }

  @Test("if a file was made again in UTF-16, the doctor says first how it gets into UTF-8")
  func madeAgain() throws {
    try camp.open(Self.table, CommandLineFixture.definition(#"{ "t": {} }"#), devices: ["tablet"])
    try camp.remove("tablet/data.sqlite")
    try camp.sql("tablet/data.sqlite", "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT)")
    // A repair would remove this file, but the doctor repairs nothing before the database is in UTF-8.
    try camp.write("tablet/bundles/inbox/.satchel-left", "x")
    let looked = camp.device("tablet", "doctor")
    #expect(looked.out.contains(".satchel-left was left behind"), "\(looked.out)")
    #expect(looked.code == 1 && looked.out.contains("sqlite3 OLD .dump | sqlite3 NEW. Then: satchel doctor\n"))
    #expect(!looked.out.contains("doctor --repair"), "\(looked.out)")
    try convert("tablet/data.sqlite", to: "UTF-8")
    #expect(camp.device("tablet", "doctor").out.contains("Next: satchel doctor --repair"))
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test(
    "a database that one takes the place of is named, and works again as a copy in UTF-8", arguments: ["tablet", "hub"])
  func replaced(place: String) throws {
    try camp.open(Self.table, CommandLineFixture.definition(#"{ "t": {} }"#), devices: ["tablet"])
    let database = place == "hub" ? "office.sqlite" : "tablet/data.sqlite"
    func run(_ words: String...) -> CommandLineFixture.Outcome {
      place == "hub"
        ? camp.hubAnywhere(["-C", camp.path("hub")] + words) : camp.deviceAnywhere(["-C", camp.path("tablet")] + words)
    }
    try convert(database, to: "UTF-16le")
    #expect(run("status").out.contains("the database holds its texts in UTF-16le"))
    let other = place == "hub" ? try camp.export("tablet") : try camp.emit("tablet")
    for words in [["import", other], place == "hub" ? ["emit", "--all"] : ["export"], ["doctor", "--repair"]] {
      let stopped =
        place == "hub"
        ? camp.hubAnywhere(["-C", camp.path("hub")] + words) : camp.deviceAnywhere(["-C", camp.path("tablet")] + words)
      #expect(stopped.code == 1 && stopped.error.contains(".dump"), "\(words): \(stopped)")
    }
    try convert(database, to: "UTF-8")
    #expect(run("doctor", "--repair").code == 0)
    #expect(run("doctor").out == "All is well.\n")
    try camp.sql("tablet/data.sqlite", "UPDATE t SET a = 'z'")
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT a FROM t") == "z")
  }
}
