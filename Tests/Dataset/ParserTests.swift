import SatchelCrypto
import SatchelDataset
import SatchelValues
import Testing

private func read(_ json: String) throws -> DatasetDefinition { try DatasetDefinition(json: Array(json.utf8)) }

/// A definition with one table `t`, which has these members.
private func table(_ members: String) -> String {
  #"{ "dataset": "d", "version": 1, "tables": { "t": { \#(members) } } }"#
}

@Test("everything has a default but the dataset's name, its version and the tables' names")
func defaults() throws {
  let json = table("")
  let dataset = try read(json)
  #expect(dataset.name == "d" && dataset.version == 1 && dataset.snapshot == .first && dataset.attributes.isEmpty)
  #expect(dataset.encryption == .never && dataset.escrow.isEmpty)
  #expect(dataset.source == Array(json.utf8))
  let rules = try #require(dataset.rules(for: "t"))
  #expect(rules.parents == nil && rules.visible == nil && rules.write == .visible)
  #expect(rules.conflict == .manual && rules.merge == .column && rules.columns.isEmpty)
  #expect(rules.policy(of: "a") == .winner(.manual))
  #expect(dataset.rules(for: "T") == nil && dataset.attribute("x") == nil)
}

@Test("every member is read")
func everything() throws {
  let archivist = AgeIdentity(seed: [UInt8](repeating: 7, count: 32)).recipient
  let dataset = try read(
    #"""
    { "dataset": "camp-grounds_2", "version": 7, "snapshot": 3, "encrypt": "always",
      "escrow": ["\#(archivist.text)"], "attributes": { "tier": "integer", "Region_2": "text", "share": "real" },
      "tables": {
        "z": { "visible": "tier <= :tier", "write": "none", "conflict": "hub" },
        "a": { "parents": ["z"], "write": "author = :user", "conflict": "newest", "merge": "row",
               "columns": { "x": "device", "y": "manual" }, "unique": "policy", "delete": "hard", "keys": "as-is" },
        "e\u0301": { "parents": [] }, "\u00e9": {} } }
    """#)
  #expect(dataset.name == "camp-grounds_2" && dataset.version == 7 && dataset.snapshot == .every(3))
  #expect(dataset.encryption == .always && dataset.escrow == [archivist])
  #expect(dataset.attributes.map(\.name) == ["tier", "Region_2", "share"])
  #expect(dataset.attributes.map(\.kind) == [.integer, .text, .real])
  #expect(dataset.tables.map(\.name) == ["z", "a", "e\u{301}", "\u{e9}"])
  let z = try #require(dataset.rules(for: "z"))
  #expect(z.visible == "tier <= :tier" && z.write == .none && z.conflict == .hub)
  let a = try #require(dataset.rules(for: "a"))
  #expect(a.parents == ["z"] && a.write == .expression("author = :user") && a.merge == .row)
  #expect(a.policy(of: "x") == .winner(.device) && a.policy(of: "y") == .winner(.manual))
  #expect(a.policy(of: "other") == .winner(.newest))
  #expect(dataset.rules(for: "e\u{301}")?.parents == [])
  #expect(dataset.rules(for: "\u{e9}")?.parents == nil)
}

@Test(
  "an attribute accepts values that fit its kind",
  arguments: [
    ("integer", "12", Value.integer(12)), ("integer", "-9223372036854775808", .integer(.min)), ("integer", "1.5", nil),
    ("integer", "", nil),
    ("integer", "9223372036854775808", nil), ("real", "1.5", .real(1.5)), ("real", "1", .real(1)), ("real", "inf", nil),
    ("real", "nan", nil),
    ("real", "x", nil), ("text", "", .string("")), ("text", "12", .string("12")),
  ] as [(String, String, Value?)])
func attributeValues(kind: String, text: String, value: Value?) throws {
  let dataset = try read(#"{ "dataset": "d", "version": 1, "attributes": { "x": "\#(kind)" }, "tables": { "t": {} } }"#)
  #expect(dataset.attribute("x")?.value(of: text) == value)
}

@Test("a snapshot rule says which exports carry one")
func snapshots() {
  func exports(_ rule: SnapshotRule) -> [Int64] { (1...7).filter { rule.applies(to: SequenceNumber($0)) } }
  #expect(exports(.first) == [1])
  #expect(exports(.always) == [1, 2, 3, 4, 5, 6, 7])
  #expect(exports(.never) == [])
  #expect(exports(.every(1)) == [1, 2, 3, 4, 5, 6, 7])
  #expect(exports(.every(3)) == [1, 4, 7])
}

@Test("a proof rule says which exports carry digests of all rows")
func proofs() throws {
  func exports(_ rule: String?) throws -> [Int64] {
    let member = rule.map { #""prove": \#($0), "# } ?? ""
    let prove = try read(#"{ "dataset": "d", "version": 1, \#(member)"tables": { "t": {} } }"#).prove
    var last: SequenceNumber?
    return (1...20).filter {
      let applies = prove.applies(to: SequenceNumber($0), after: last)
      if applies { last = SequenceNumber($0) }
      return applies
    }
  }
  #expect(try exports(nil) == [1, 9, 17])
  #expect(try exports("5") == [1, 6, 11, 16])
  #expect(try exports(#""always""#) == Array(1...20))
  #expect(try exports(#""never""#) == [])
  for wrong in ["0", "-1", #""first""#, "true"] { #expect(throws: DatasetError.self) { try exports(wrong) } }
}

private let whichFile = "It is the file that names tables and rules: docs/DATASET.md describes it."

/// Wrong definitions. Each has the place of its error, and a part of the message.
private let wrong: [(json: String, place: String, problem: String, hint: String?)] = [
  ("", "", "it is not JSON", whichFile),
  ("{ \"dataset\": \"d\", }", "", "in line 1, column 19", whichFile),
  ("{ \"dataset\": \"d\",\n  \"é\": 1\n  \"version\": 1 }", "", "in line 3, column 3", whichFile),
  (#"{ "dataset": "d", "dataset": "e", "version": 1, "tables": { "t": {} } }"#, "", "it is not JSON", whichFile),
  ("[]", "", "it must be an object", nil),
  (#"{ "version": 1, "tables": { "t": {} } }"#, "dataset", "it is missing", nil),
  (#"{ "dataset": 5, "version": 1, "tables": { "t": {} } }"#, "dataset", "it must be a text", nil),
  (
    #"{ "dataset": "A b", "version": 1, "tables": { "t": {} } }"#, "dataset", "\"A b\" cannot be part of a file name",
    safeNameHint
  ),
  (
    #"{ "dataset": "", "version": 1, "tables": { "t": {} } }"#, "dataset", "cannot be part of a file name", safeNameHint
  ),
  (#"{ "dataset": "d", "tables": { "t": {} } }"#, "version", "it is missing", nil),
  (#"{ "dataset": "d", "version": "1", "tables": { "t": {} } }"#, "version", "it must be a whole number", nil),
  (#"{ "dataset": "d", "version": 1.5, "tables": { "t": {} } }"#, "version", "it must be a whole number", nil),
  (#"{ "dataset": "d", "version": 0, "tables": { "t": {} } }"#, "version", "it must be a whole number from 1 on", nil),
  (#"{ "dataset": "d", "version": 1 }"#, "tables", "at least one table must be named", nil),
  (#"{ "dataset": "d", "version": 1, "tables": {} }"#, "tables", "at least one table must be named", nil),
  (#"{ "dataset": "d", "version": 1, "tables": [] }"#, "tables", "it must be an object", nil),
  (
    #"{ "dataset": "d", "version": 1, "table": {}, "tables": { "t": {} } }"#, "table", "knows no such member",
    """
    Did you mean "tables"? Allowed here: dataset, version, snapshot, prove, history, brake, orphans, \
    encrypt, escrow, attributes, attachments, tables, $schema, comment.
    """
  ),
  (
    #"{ "dataset": "d", "version": 1, "snapshot": "often", "tables": { "t": {} } }"#, "snapshot",
    "\"always\", \"never\" or a whole number", nil
  ),
  (
    #"{ "dataset": "d", "version": 1, "snapshot": 0, "tables": { "t": {} } }"#, "snapshot", "a whole number from 1 on",
    nil
  ),
  (
    #"{ "dataset": "d", "version": 1, "history": 0, "tables": { "t": {} } }"#, "history", "a number of days from 1 to",
    nil
  ),
  (#"{ "dataset": "d", "version": 1, "comment": 1, "tables": { "t": {} } }"#, "comment", "it must be a text", nil),
  (
    table(#""conflct": "hub""#), "tables.t.conflct", "knows no such member",
    """
    Did you mean "conflict"? Allowed here: key, parents, orphans, references, visible, write, conflict, merge, \
    columns, attachments, unique, delete, deleted, late, keys, block, unit, brake, label, priority, comment.
    """
  ),
  (#"{ "dataset": "d", "version": 1, "encrypt": "often", "tables": { "t": {} } }"#, "encrypt", "never, always", nil),
  (
    #"{ "dataset": "d", "version": 1, "escrow": "age1", "tables": { "t": {} } }"#, "escrow", "a list of at most 16", nil
  ),
  (
    #"{ "dataset": "d", "version": 1, "escrow": ["age1"], "tables": { "t": {} } }"#, "escrow", "as age-keygen shows it",
    nil
  ),
  (
    #"{ "dataset": "d", "version": 1, "attributes": [], "tables": { "t": {} } }"#, "attributes", "it must be an object",
    nil
  ),
  (
    #"{ "dataset": "d", "version": 1, "attributes": { "x": "blob" }, "tables": { "t": {} } }"#, "attributes.x",
    "integer, real, text", nil
  ),
  (
    #"{ "dataset": "d", "version": 1, "attributes": { "x": 1 }, "tables": { "t": {} } }"#, "attributes.x",
    "integer, real, text",
    nil
  ),
  (
    #"{ "dataset": "d", "version": 1, "attributes": { "user": "text" }, "tables": { "t": {} } }"#, "attributes.user",
    "the user's name already", nil
  ),
  (
    #"{ "dataset": "d", "version": 1, "attributes": { "1x": "text" }, "tables": { "t": {} } }"#, "attributes.1x",
    "begins with a letter", nil
  ),
  (
    #"{ "dataset": "d", "version": 1, "attributes": { "x-y": "text" }, "tables": { "t": {} } }"#, "attributes.x-y",
    "letters, digits and _", nil
  ),
  (
    #"{ "dataset": "d", "version": 1, "attributes": { "": "text" }, "tables": { "t": {} } }"#, "attributes.",
    "begins with a letter", nil
  ),
  (
    #"{ "dataset": "d", "version": 1, "attachments": ["a"], "tables": { "t": {} } }"#, "attachments",
    "it must be an object", nil
  ),
  (
    #"{ "dataset": "d", "version": 1, "attachments": { "file": 0 }, "tables": { "t": {} } }"#, "attachments.file",
    "a number of bytes from 1 to", nil
  ),
  (
    #"{ "dataset": "d", "version": 1, "attachments": { "file": 9, "bundle": 8 }, "tables": { "t": {} } }"#,
    "attachments.bundle",
    "would fit into no bundle", "Make it at least as large as attachments.file."
  ),
  (table(#""attachments": "photo""#), "tables.t.attachments", "a list of columns that name files", nil),
  (table(#""attachments": ["photo", "photo"]"#), "tables.t.attachments", "a column occurs twice", nil),
  (#"{ "dataset": "d", "version": 1, "tables": { "t": 5 } }"#, "tables.t", "it must be an object", nil),
  (
    #"{ "dataset": "d", "version": 1, "tables": { "Satchel_t": {} } }"#, "tables.Satchel_t",
    "belong to Satchel and SQLite", nil
  ),
  (
    #"{ "dataset": "d", "version": 1, "tables": { "sqlite_stat1": {} } }"#, "tables.sqlite_stat1",
    "belong to Satchel and SQLite",
    nil
  ),
  (
    table(#""colour": 1"#), "tables.t.colour", "knows no such member",
    """
    Allowed here: key, parents, orphans, references, visible, write, conflict, merge, columns, attachments, unique, \
    delete, deleted, late, keys, block, unit, brake, label, priority, comment.
    """
  ),
  (table(#""parents": "p""#), "tables.t.parents", "it must be a list of tables", nil),
  (table(#""parents": [1]"#), "tables.t.parents", "it must be a list of tables", nil),
  (table(#""parents": ["p"]"#), "tables.t.parents", "\"p\" is not a table of this dataset", "The dataset has: t."),
  (
    table(#""parents": ["T"]"#), "tables.t.parents", "\"T\" is not a table of this dataset",
    "Did you mean \"t\"? The dataset has: t."
  ),
  (
    table(#""references": { "a": "b" }"#), "tables.t.references.a", "\"b\" is not a table of this dataset",
    "The dataset has: t."
  ),
  (table(#""references": ["a"]"#), "tables.t.references", "it must be an object, { ... }", nil),
  (
    table(#""references": { "a": ["t"] }"#), "tables.t.references.a",
    "it must be a table, \"trees\", or { \"table\": \"trees\", \"column\": \"uuid\" }", nil
  ),
  (table(#""references": { "a": { "column": "b" } }"#), "tables.t.references.a.table", "it is missing", nil),
  (
    table(#""references": { "a": { "table": "t", "delete": "cascade" } }"#), "tables.t.references.a.delete",
    "this version of Satchel knows no such member", "Allowed here: table, column, comment."
  ),
  (table(#""visible": true"#), "tables.t.visible", "it must be a text", nil),
  (table(#""write": null"#), "tables.t.write", "it must be a text", nil),
  (table(#""conflict": "client""#), "tables.t.conflict", "\"client\" is not hub, device, newest, manual", nil),
  (
    table(#""conflict": "newst""#), "tables.t.conflict", "\"newst\" is not hub, device, newest, manual",
    "Did you mean \"newest\"?"
  ),
  (table(#""merge": "cell""#), "tables.t.merge", "\"cell\" is not column, row", nil),
  (table(#""columns": []"#), "tables.t.columns", "it must be an object", nil),
  (table(#""columns": { "a": "most" }"#), "tables.t.columns.a", "a policy is hub, device, newest, manual", nil),
  (table(#""columns": { "a": 1 }"#), "tables.t.columns.a", "a policy is hub, device, newest, manual", nil),
  (table(#""unique": "join""#), "tables.t.unique", "\"join\" is not policy, fold", nil),
  (table(#""delete": "soft""#), "tables.t.delete", "which column says", "Name it: \"deleted\": \"COLUMN\""),
  (table(#""delete": "later""#), "tables.t.delete", "\"later\" is not hard, soft, never", nil),
  (table(#""deleted": "d""#), "tables.t.deleted", "only with \"delete\": \"soft\"", nil),
  (table(#""conflict": "sum""#), "tables.t.conflict", "is not hub, device, newest, manual", nil),
  (
    table(#""merge": "row", "columns": { "a": "sum" }"#), "tables.t.columns.a", "whole rows win or lose",
    "Leave out \"merge\": \"row\"."
  ),
  (table(#""keys": "random""#), "tables.t.keys", "\"random\" is not as-is, blocks, rekey", nil),
  (table(#""block": 100"#), "tables.t.block", "only with \"keys\": \"blocks\"", nil),
  (table(#""keys": "blocks", "block": 9"#), "tables.t.block", "from 10 to", nil),
  (table(#""keys": "blocks", "block": "many""#), "tables.t.block", "it must be a whole number", nil),
  (table(#""unit": "row""#), "tables.t.unit", "it is \"transaction\", \"parent\" or", nil),
  (
    table(#""unit": { "parent": "nowhere" }"#), "tables.t.unit", "\"nowhere\" is not a table of this dataset",
    "The dataset has: t."
  ),
  (table(#""unit": {}"#), "tables.t.unit.parent", "it is missing", nil),
]

@Test("an error is reported with its place and a remedy", arguments: wrong.indices)
func errors(index: Int) throws {
  let (json, place, problem, hint) = wrong[index]
  do {
    _ = try read(json)
    Issue.record("taken: \(json)")
  } catch let error as DatasetError {
    #expect(error.place == place, "\(json)")
    #expect(error.problem.contains(problem), "\(json): \(error.problem)")
    #expect(error.hint == hint, "\(json)")
    #expect(error.reason == "dataset-definition")
    let start = place.isEmpty ? "The dataset's definition: " : "The dataset's definition, at \(place): "
    #expect(error.message == start + error.problem + ".")
  }
}

@Test("a definition of a megabyte is no definition that people wrote")
func size() { #expect(DatasetDefinition.maximumBytes == 1_048_576) }

@Test("rows without a parent are visible unless the dataset or the table says otherwise; a new hub only adds its word")
func orphans() throws {
  #expect(try read(table("")).rules(for: "t")?.orphans == .visible)
  let json = """
    {
      "dataset": "d", "version": 1,
      "tables": { "t": {}, "u": { "orphans": "visible" } } }
    """
  let plain = try read(json)
  #expect(plain.orphans == nil)
  let hidden = try plain.saying(.hidden)
  #expect(hidden.orphans == .hidden && hidden.rules(for: "t")?.orphans == .hidden)
  #expect(hidden.rules(for: "u")?.orphans == .visible)
  #expect(String(decoding: hidden.source, as: UTF8.self) == #"{ "orphans": "hidden","# + json.dropFirst())
  // If the definition already has the member, it stays unchanged.
  #expect(try hidden.saying(.visible).source == hidden.source)
}
