import SatchelJSON
import Testing

@Suite("The main job, through the command line")
struct MainJobTests {
  @Test("a change made by any program reaches the hub, and each user's device gets exactly its own rows")
  func roundTrip() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id FROM sites ORDER BY id") == "hill\nlake")
    #expect(try camp.rows("phone/data.sqlite", "SELECT id FROM sites ORDER BY id") == "cave\nhill\nlake")

    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'steep')")
    let export = try camp.device("tablet", "export", "--json").json
    #expect(export["ok"] == true)
    #expect(export["changes"]?["reviews"] == 1)
    let file = try #require(export["file"]?.stringValue)
    let imported = try camp.hub("import", file, "--json").json
    #expect(imported["bundles"]?.arrayValue?.first?["taken"] == 1)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r3'") == "steep")

    #expect(camp.hub("emit", "--all").code == 0)
    #expect(camp.device("phone", "import", camp.path("hub/bundles/outbox/camp-hub-phone-2.satchel")).code == 0)
    #expect(camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel")).code == 0)
    #expect(try camp.rows("phone/data.sqlite", "SELECT id FROM reviews ORDER BY id") == "r1\nr2\nr3")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id FROM reviews ORDER BY id") == "r1\nr3")
    #expect(try camp.device("tablet", "status", "--json").json["pending"] == .object([]))
  }

  @Test("a device's own change that was taken as sent is not sent back to it")
  func noEcho() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.sql(
      "tablet/data.sqlite",
      "INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'steep'); UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    let emitted = try camp.hub("emit", "--device", "tablet", "--json").json
    #expect(emitted["emissions"]?.arrayValue?.first?["rows"] == 0)
  }

  @Test("where nothing is new, nothing is written")
  func nothingNew() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    camp.device("tablet", "export")
    let before = try camp.everything()
    #expect(try camp.device("tablet", "export", "--json").json["new"] == false)
    #expect(try camp.everything().keys.sorted() == before.keys.sorted())
    camp.hub("emit", "--all")
    let emitted = try camp.hub("emit", "--all", "--json").json
    #expect(emitted["emissions"]?.arrayValue?.allSatisfy { $0["new"] == false } == true)
  }

  @Test("a disagreement is shown side by side, decided at the hub, and the device learns the decision")
  func conflictAtTheHub() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'frogs' WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'winter' WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    let conflicts = try camp.listedConflicts()
    let conflict = try #require(conflicts.first)
    #expect(conflict["kind"] == "update/update")
    #expect(conflict["base_values"] == ["words": "quiet"])
    #expect(conflict["hub_values"] == ["words": "winter"])
    #expect(conflict["device_values"] == ["words": "frogs"])
    let id = try #require(conflict["id"]?.stringValue)
    let shown = camp.hub("conflicts", "show", String(id.prefix(6))).out
    for word in ["quiet", "winter", "frogs", "BEFORE", "HUB", "DEVICE"] { #expect(shown.contains(word)) }
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "device", "--note", "she was there").code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "frogs")
    camp.answer("tablet", 2)
    let told = try camp.device("tablet", "conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.first
    #expect(told?["state"] == "resolved")
    #expect(told?["note"] == "she was there")
    #expect(try camp.hub("conflicts", "resolve", id, "--keep", "hub", "--json").json["error"]?["reason"] == "decided")
  }

  @Test("a decision made on the device reaches the hub; a second decision changes nothing")
  func conflictOnTheDevice() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'frogs' WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'winter' WHERE id = 'r1'")
    camp.answer("tablet", 2)
    let found = try camp.device("tablet", "conflicts", "--json").json["conflicts"]?.arrayValue?.first?["id"]?
      .stringValue
    let id = try #require(found)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "winter")
    camp.deliver("tablet", 1)
    #expect(try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.first?["id"]?.stringValue == id)

    #expect(camp.device("tablet", "conflicts", "resolve", id, "--keep", "device").code == 0)
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "hub").code == 0)
    camp.deliver("tablet", 2)
    #expect(
      try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "winter", "the hub decided first")
    camp.answer("tablet", 3)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "winter")
  }

  @Test("a grant brings old rows with their children, a revoke takes them, and no row is touched for it")
  func grantAndRevoke() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    camp.hub("user", "set", "ann", "tier=2")
    camp.answer("tablet", 2)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id FROM reviews ORDER BY id") == "r1\nr2")
    camp.hub("user", "set", "ann", "tier=0")
    camp.answer("tablet", 3)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM reviews") == "0")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM sites") == "0")
  }

  @Test("a change outside the write rule is forbidden, and the device gets the true row back")
  func forbidden() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.sql(
      "phone/data.sqlite",
      "UPDATE reviews SET words = 'forged' WHERE id = 'r1'; UPDATE sites SET name = 'Mine' WHERE id = 'lake'"
    )
    camp.deliver("phone", 1)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "quiet")
    let kinds = try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.compactMap {
      $0["kind"]?.stringValue
    }
    #expect(kinds == ["forbidden", "forbidden"])
    camp.answer("phone", 2)
    #expect(try camp.rows("phone/data.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "quiet")
    #expect(try camp.rows("phone/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Lake")
  }

  @Test("a new device asks, people compare fingerprints on both sides, and nothing goes without that")
  func ceremony() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    let request = camp.path("request.satchel")
    let made = try camp.deviceAnywhere(
      "init", camp.path("laptop"), "--dataset", "camp", "--name", "laptop", "--request", request, "--json"
    ).json
    let shown = try #require(made["fingerprint"]?.stringValue)
    // The stick with the request is lost, so the device makes the request again.
    try camp.remove("request.satchel")
    let again = ["init", camp.path("laptop"), "--dataset", "camp", "--request", request, "--json", "--name"]
    #expect(try camp.deviceAnywhere(again + ["other"]).json["error"]?["reason"] == "exists")
    #expect(try camp.deviceAnywhere(again + ["laptop"]).json["fingerprint"]?.stringValue == shown)
    #expect(
      try camp.hub("device", "enrol", request, "--user", "ben", "--json").json["error"]?["reason"]
        == "fingerprint-needed")
    let foreign = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    #expect(camp.hub("device", "enrol", request, "--user", "ben", "--fingerprint", foreign).code == 3)
    #expect(camp.hub("device", "enrol", request, "--user", "ben", answers: ["nonsense"], interactive: true).code == 1)
    let typed = shown.lowercased().replacing("-", with: " ")
    #expect(camp.hub("device", "enrol", request, "--user", "ben", answers: [typed], interactive: true).code == 0)

    let first = camp.path("hub/bundles/outbox/camp-hub-laptop-1.satchel")
    #expect(camp.device("laptop", "import", first, "--json").code == 3)
    #expect(camp.device("laptop", "import", first, "--fingerprint", shown).code == 3)
    #expect(try camp.device("laptop", "status", "--json").json["state"] == "initial")
    #expect(camp.device("laptop", "import", first, "--fingerprint", foreign).code == 0)
    #expect(try camp.rows("laptop/data.sqlite", "SELECT count(*) FROM sites") == "3")
    #expect(try camp.deviceAnywhere(again + ["laptop"]).json["error"]?["reason"] == "exists")
  }

  @Test("bundles of one device in any order: each is taken when it can be, and a repeated one changes nothing")
  func order() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    for number in 2...4 {
      try camp.sql("office.sqlite", "INSERT INTO sites VALUES ('s\(number)', 'New', 1)")
      camp.hub("emit", "--device", "tablet")
      camp.device("tablet", "export")
      camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-\(number - 1).satchel"))
    }
    let emitted = (2...4).map { camp.path("hub/bundles/\($0 == 4 ? "outbox" : "sent")/camp-hub-tablet-\($0).satchel") }
    let outcome = camp.device("tablet", "import", emitted[2], emitted[0], emitted[1])
    #expect(outcome.code == 0)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM sites WHERE name = 'New'") == "3")
    #expect(camp.device("tablet", "import", emitted[1]).out.contains("nothing changed"))
  }
}

extension MainJobTests {
  @Test("a conflict that a device finds and decides before it exports reaches the hub as decided, with by whom")
  func foundAndDecidedAtOnce() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'frogs' WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'winter' WHERE id = 'r1'")
    camp.answer("tablet", 2)
    let found = try camp.device("tablet", "conflicts", "--json").json["conflicts"]?.arrayValue?.first?["id"]?
      .stringValue
    #expect(camp.device("tablet", "conflicts", "resolve", try #require(found), "--keep", "device").code == 0)
    camp.deliver("tablet", 1)
    let known = try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.first
    #expect(known?["state"] == "resolved")
    #expect(known?["decision"]?["by"] == "ann")
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "frogs")
  }

  @Test("a device whose change lost, and which writes the row again and loses again, keeps both values")
  func lostTwice() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    for (number, word) in [(2, "one"), (3, "two")] {
      try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = '\(word)' WHERE id = 'r1'")
      try camp.sql("office.sqlite", "UPDATE reviews SET words = 'office \(word)' WHERE id = 'r1'")
      camp.hub("emit", "--all")
      camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-\(number).satchel"))
    }
    let conflicts = try camp.listedConflicts(of: "tablet")
    #expect(conflicts.compactMap { $0["device_values"]?["words"]?.stringValue }.sorted() == ["one", "two"])
  }
}
