import Foundation
import SatchelJSON
import Testing

/// One change that meets one value on its device and another one at the hub: whatever is written over is kept.
@Suite("Values that one change meets one after the other")
struct SecondValueTests {
  private let camp: Camp

  init() throws { camp = try Camp() }

  private func open(_ policy: String) throws {
    try camp.sql("office.sqlite", "CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT); INSERT INTO t VALUES ('k', 'old')")
    try camp.write("camp.json", #"{ "dataset": "camp", "version": 1, "tables": { "t": { "conflict": "\#(policy)" } } }"#)
    camp.hubAnywhere("init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    camp.hub("user", "add", "ann")
    for name in ["tablet", "phone"] {
      #expect(camp.hub("device", "provision", name, "--user", "ann", "--into", camp.path(name)).code == 0)
    }
  }

  private func export(_ name: String) throws -> String {
    try #require(try camp.device(name, "export", "--json").json["file"]?.stringValue)
  }

  private func answer(_ name: String) throws {
    let emission = try #require(try camp.hub("emit", "--device", name, "--json").json["emissions"]?.arrayValue?.first)
    #expect(camp.device(name, "import", try #require(emission["file"]?.stringValue)).code == 0)
  }

  @Test(
    "both are in conflicts at the hub", arguments: ["device", "newest"],
    ["UPDATE t SET a = 'ours'", "DELETE FROM t WHERE id = 'k'"])
  func atTheHub(policy: String, change: String) throws {
    try open(policy)
    try camp.sql("phone/data.sqlite", "UPDATE t SET a = 'first'")
    #expect(camp.hub("import", try export("phone")).code == 0)
    try camp.sql("phone/data.sqlite", "UPDATE t SET a = 'second'")
    let later = try export("phone")
    try camp.sql("tablet/data.sqlite", change)
    try answer("tablet")
    #expect(camp.hub("import", later).code == 0)
    #expect(camp.hub("import", try export("tablet")).code == 0)
    let met = "SELECT json_extract(hub_values, '$.a') FROM satchel_conflicts ORDER BY 1"
    #expect(try camp.rows("office.sqlite", met) == "first\nsecond")
    try answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM satchel_conflicts") == "2")
  }

  @Test("both are in conflicts on the device")
  func onTheDevice() throws {
    try open("device")
    for words in ["first", "second"] {
      try camp.sql("phone/data.sqlite", "UPDATE t SET a = '\(words)'")
      #expect(camp.hub("import", try export("phone")).code == 0)
      if words == "first" { try camp.sql("tablet/data.sqlite", "UPDATE t SET a = 'ours'") }
      try answer("tablet")
    }
    let met = "SELECT json_extract(hub_values, '$.a') FROM satchel_conflicts ORDER BY 1"
    #expect(try camp.rows("tablet/data.sqlite", met) == "first\nsecond")
    #expect(camp.hub("import", try export("tablet")).code == 0)
    #expect(try camp.rows("office.sqlite", met) == "first\nsecond")
    #expect(try camp.rows("office.sqlite", "SELECT a FROM t") == "ours")
  }
}
