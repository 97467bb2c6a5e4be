import Foundation
import SatchelJSON
import Testing

/// A device's folder was copied while changes were pending. Both copies deliver these changes, but they count once.
@Suite("Copies of a device with pending changes")
struct CopyTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE counts (id INTEGER PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0, words TEXT, tags TEXT);
      INSERT INTO counts VALUES (1, 0, 'one', '[]'), (2, 0, 'two', '[]');
      """,
      CommandLineFixture.definition(
        #"{ "counts": { "conflict": "manual", "keys": "rekey", "columns": { "n": "sum", "tags": "union" } } }"#),
      devices: ["tablet", "phone"])
  }

  private func write(_ folder: String, _ sql: String) throws { try camp.sql("\(folder)/data.sqlite", sql) }

  @discardableResult private func deliver(_ folder: String) throws -> CommandLineFixture.Outcome {
    camp.hub("import", try camp.export(folder))
  }

  private func answer(_ folder: String, _ name: String) throws { try camp.answer(name, in: folder) }

  /// The copy continues as another device with its own name.
  private func rename(_ copy: String = "copy") throws {
    let request = camp.path("request.satchel")
    let renewed = camp.device(copy, "renew", "--name", copy, "--request", request, "--json")
    let fingerprint = try #require(try renewed.json["fingerprint"]?.stringValue)
    #expect(camp.hub("device", "enrol", request, "--user", "ann", "--fingerprint", fingerprint).code == 0)
  }

  private func counts(_ database: String = "office.sqlite") throws -> String {
    try camp.rows(database, "SELECT id, n, words, tags FROM counts ORDER BY id").replacing("\n", with: " ")
  }

  private var conflicts: String {
    get throws { try camp.rows("office.sqlite", "SELECT kind, state, key FROM satchel_conflicts ORDER BY key") }
  }

  /// Exchanges bundles with all devices. Expects that each of them then has the hub's rows.
  private func settle(_ devices: [(folder: String, name: String)]) throws {
    for _ in 0..<2 {
      for (folder, name) in devices {
        #expect(try deliver(folder).code == 0)
        try answer(folder, name)
      }
    }
    for (folder, _) in devices {
      #expect(try counts("\(folder)/data.sqlite") == counts())
      #expect(camp.device(folder, "doctor").code == 0)
    }
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("what was pending at the copy counts once, also if the operator goes on with the copy")
  func keptCopy() throws {
    try write("tablet", "UPDATE counts SET n = n + 5 WHERE id = 1")
    try camp.copy("tablet", to: "copy")
    try deliver("tablet")
    try write("copy", "UPDATE counts SET n = n + 1 WHERE id = 1")
    let stopped = try deliver("copy")
    #expect(stopped.code == 3, "\(stopped.out)\(stopped.error)")
    let forked = camp.hub("device", "fork", "tablet", "--keep", "2")
    #expect(forked.code == 0, "\(forked.error)")
    for _ in 0..<2 {
      try deliver("copy")
      try answer("copy", "tablet")
    }
    for database in ["office.sqlite", "copy/data.sqlite"] {
      #expect(try counts(database) == "1|6|one|[] 2|0|two|[]", "\(database)")
    }
    #expect(try conflicts.isEmpty)
  }

  private static let pending = """
    UPDATE counts SET n = n + 5, tags = '["a"]' WHERE id = 1; INSERT INTO counts VALUES (3, 0, 'made once', '[]')
    """

  private enum First: CaseIterable { case tablet, copy }

  /// - Parameter isAnswered: whether the second device imports the hub's answer to the first before it delivers.
  private func deliverBoth(_ first: First, isAnswered: Bool) throws {
    try rename()
    if first == .tablet {
      try deliver("tablet")
    } else {
      try answer("copy", "copy")
      try deliver("copy")
    }
    if first == .tablet { try answer("copy", "copy") }
    if isAnswered && first == .copy { try answer("tablet", "tablet") }
    try settle([("copy", "copy"), ("tablet", "tablet"), ("phone", "phone")])
  }

  @Test(
    "whichever comes first, a counter counts once, a set holds each element, and a new row is one",
    arguments: First.allCases,
    [true, false])
  private func once(first: First, isAnswered: Bool) throws {
    try write("tablet", Self.pending)
    try camp.copy("tablet", to: "copy")
    try deliverBoth(first, isAnswered: isAnswered)
    #expect(try counts() == #"1|5|one|["a"] 2|0|two|[] 3|0|made once|[]"#)
    #expect(try conflicts == "")
  }

  @Test(
    "what one of them wrote after that into the same rows counts besides", arguments: First.allCases, [true, false])
  private func more(first: First, isAnswered: Bool) throws {
    try write("tablet", Self.pending)
    try camp.copy("tablet", to: "copy")
    try write(
      "copy",
      #"UPDATE counts SET n = n + 3, words = 'of the copy', tags = '["a","b"]' WHERE id = 1; UPDATE counts SET words = 'edited' WHERE id = 3"#
    )
    try deliverBoth(first, isAnswered: isAnswered)
    let result = try counts()
    #expect(result == #"1|8|of the copy|["a","b"] 2|0|two|[] 3|0|edited|[]"#)
    #expect(try conflicts == "")
  }

  @Test("where one of three copies has more in common with the next, a person decides", arguments: [true, false])
  func three(isShortFirst: Bool) throws {
    try write("tablet", "UPDATE counts SET n = n + 5 WHERE id = 1")
    try camp.copy("tablet", to: "copy")
    try write("tablet", "UPDATE counts SET n = n + 3 WHERE id = 1")
    try camp.copy("tablet", to: "second")
    try write("tablet", "UPDATE counts SET n = n + 2 WHERE id = 1")
    for copy in isShortFirst ? ["copy", "second"] : ["second", "copy"] {
      try rename(copy)
      try answer(copy, copy)
      try deliver(copy)
    }
    try settle([("tablet", "tablet"), ("copy", "copy"), ("second", "second")])
    #expect(try counts() == "1|8|one|[] 2|0|two|[]")
    #expect(try conflicts.split(separator: "\n").count == 1)
  }

  @Test("an export that lay in the outbox when the folder was copied counts once, too", arguments: First.allCases)
  private func exported(first: First) throws {
    try write("tablet", Self.pending)
    #expect(camp.device("tablet", "export").code == 0)
    try write("tablet", "UPDATE counts SET n = n + 100 WHERE id = 2")
    try camp.copy("tablet", to: "copy")
    try deliverBoth(first, isAnswered: false)
    #expect(try counts() == #"1|5|one|["a"] 2|100|two|[] 3|0|made once|[]"#)
    #expect(try conflicts == "")
  }

  @Test(
    "if both copies counted on in a new row, a person decides, and no element of a set is lost",
    arguments: First.allCases)
  private func newRow(first: First) throws {
    try write("tablet", #"INSERT INTO counts VALUES (3, 10, 'new', '["s"]')"#)
    try write("tablet", "UPDATE counts SET n = n + 1 WHERE id = 3")
    try camp.copy("tablet", to: "copy")
    try write("tablet", #"UPDATE counts SET n = n + 100, tags = '["s","a"]' WHERE id = 3"#)
    try write("copy", #"UPDATE counts SET n = n + 1000, tags = '["s","c"]' WHERE id = 3"#)
    try deliverBoth(first, isAnswered: false)
    #expect(try counts().contains(first == .tablet ? "3|111|" : "3|1011|"))
    let open = try camp.rows(
      "office.sqlite", "SELECT device_values ->> 'n' FROM satchel_conflicts WHERE state = 'open' AND key = '[3]'")
    #expect(open == (first == .tablet ? "1011" : "111"))
  }

  @Test("a new row that was edited meanwhile is still the same row")
  func edited() throws {
    try write("tablet", Self.pending)
    try camp.copy("tablet", to: "copy")
    try deliver("tablet")
    try answer("phone", "phone")
    try write("phone", "UPDATE counts SET words = 'edited' WHERE id = 3")
    try deliver("phone")
    try rename()
    try answer("copy", "copy")
    try settle([("copy", "copy"), ("tablet", "tablet"), ("phone", "phone")])
    #expect(try counts() == #"1|5|one|["a"] 2|0|two|[] 3|0|edited|[]"#)
    #expect(try conflicts == "")
  }

  @Test("changes that a copy wrote after a later export into shared rows meet no change", arguments: [true, false])
  func later(isExported: Bool) throws {
    try write("tablet", Self.pending)
    try camp.copy("tablet", to: "copy")
    if isExported { #expect(camp.device("copy", "export").code == 0) }
    try write("copy", "UPDATE counts SET n = n + 1, words = 'later' WHERE id = 1")
    try deliverBoth(.tablet, isAnswered: false)
    let result = try counts()
    #expect(result == #"1|6|later|["a"] 2|0|two|[] 3|0|made once|[]"#)
    let met = try conflicts
    #expect(met == "")
  }

  @Test("if both continued to count, and the shared part is unknown, a person decides")
  func unclear() throws {
    try write("tablet", "UPDATE counts SET n = n + 5 WHERE id = 1")
    try camp.copy("tablet", to: "copy")
    try write("tablet", "UPDATE counts SET n = n + 1 WHERE id = 1")
    try write("copy", "UPDATE counts SET n = n + 3 WHERE id = 1")
    try deliverBoth(.tablet, isAnswered: false)
    #expect(try counts() == "1|6|one|[] 2|0|two|[]")
    let found = try conflicts
    #expect(found == "update/update|open|[1]")
  }

  @Test("rows that both made after that under one key are two")
  func two() throws {
    try camp.copy("tablet", to: "copy")
    try write("tablet", "INSERT INTO counts VALUES (3, 1, 'of the tablet', '[]')")
    try write("copy", "INSERT INTO counts VALUES (3, 1, 'of the copy', '[]')")
    try deliverBoth(.tablet, isAnswered: false)
    let both = try camp.rows("office.sqlite", "SELECT words FROM counts WHERE id > 2 ORDER BY words")
    #expect(both == "of the copy\nof the tablet")
    #expect(try conflicts == "")
  }

  @Test(
    """
    a tablet that was put back from its own backup goes on with that, and nothing that it delivered before is lost or \
    counts twice
    """
  )
  func restored() throws {
    try write("tablet", Self.pending)
    try camp.copy("tablet", to: "backup")
    try deliver("tablet")
    try write("tablet", "UPDATE counts SET words = 'after the backup' WHERE id = 2")
    try deliver("tablet")
    #expect(camp.hub("device", "fork", "tablet", "--restored").error.contains("Nothing came"))
    try camp.remove("tablet")
    try camp.copy("backup", to: "tablet")
    try write("tablet", "UPDATE counts SET n = n + 10 WHERE id = 1")
    #expect(try deliver("tablet").code != 0)
    let settled = camp.hub("device", "fork", "tablet", "--restored")
    #expect(settled.code == 0 && settled.out.contains("tablet continues from the restored state"), "\(settled.error)")
    try answer("tablet", "tablet")
    try settle([("tablet", "tablet"), ("phone", "phone")])
    #expect(try counts() == #"1|15|one|["a"] 2|0|after the backup|[] 3|0|made once|[]"#)
    #expect(try conflicts == "")
  }

  @Test("a bundle that came under a device's former name did come, and a bundle of the other copy did not")
  func formerName() throws {
    func export(_ numbers: ClosedRange<Int>, of folder: String, lost: Int? = nil) throws {
      for number in numbers {
        try write(folder, "UPDATE counts SET words = '\(folder) \(number)' WHERE id = 1")
        if number == lost { _ = try camp.export(folder) } else { #expect(try deliver(folder).code == 0) }
      }
    }
    func missing(_ name: String) throws -> JSONValue? {
      try camp.hub("device", "show", name, "--json").json["device"]?["missing"]
    }
    try export(1...3, of: "tablet", lost: 2)
    try camp.copy("tablet", to: "copy")
    try export(4...6, of: "tablet")
    try rename()
    try export(4...6, of: "copy", lost: 5)
    #expect(try missing("tablet") == [[2, 2]])
    #expect(try missing("copy") == [[5, 5], [2, 2]])
  }
}
