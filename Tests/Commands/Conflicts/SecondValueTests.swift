import Foundation
import SatchelJSON
import Testing

/// A device's change overwrites one value on the device and another value at the hub. The conflict keeps both values.
@Suite("Values that one change meets one after the other")
struct SecondValueTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  private func open(_ policy: String) throws {
    try camp.open(
      "CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT); INSERT INTO t VALUES ('k', 'old')",
      CommandLineFixture.definition(#"{ "t": { "conflict": "\#(policy)" } }"#), devices: ["tablet", "phone"])
  }

  @Test(
    "both are in conflicts at the hub", arguments: ["device", "newest"],
    ["UPDATE t SET a = 'ours'", "DELETE FROM t WHERE id = 'k'"])
  func atTheHub(policy: String, change: String) throws {
    try open(policy)
    try camp.sql("phone/data.sqlite", "UPDATE t SET a = 'first'")
    try camp.deliver("phone")
    try camp.sql("phone/data.sqlite", "UPDATE t SET a = 'second'")
    let later = try camp.export("phone")
    try camp.sql("tablet/data.sqlite", change)
    try camp.answer("tablet")
    #expect(camp.hub("import", later).code == 0)
    try camp.deliver("tablet")
    let met = "SELECT json_extract(hub_values, '$.a') FROM satchel_conflicts ORDER BY 1"
    #expect(try camp.rows("office.sqlite", met) == "first\nsecond")
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM satchel_conflicts") == "2")
  }

  @Test("both are in conflicts on the device")
  func onTheDevice() throws {
    try open("device")
    for words in ["first", "second"] {
      try camp.sql("phone/data.sqlite", "UPDATE t SET a = '\(words)'")
      try camp.deliver("phone")
      if words == "first" { try camp.sql("tablet/data.sqlite", "UPDATE t SET a = 'ours'") }
      try camp.answer("tablet")
    }
    let met = "SELECT json_extract(hub_values, '$.a') FROM satchel_conflicts ORDER BY 1"
    #expect(try camp.rows("tablet/data.sqlite", met) == "first\nsecond")
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", met) == "first\nsecond")
    #expect(try camp.rows("office.sqlite", "SELECT a FROM t") == "ours")
  }
}
