import SatchelCapture
import SatchelSQLite
import SatchelValues
import Testing

@Test(
  "added, removed and renamed columns are distinguished, in words",
  arguments: [
    (["a", "b"], ["a", "b"], nil),
    (["a", "b"], ["a", "b", "c"], "has the new column c"),
    (["a", "b", "c"], ["a", "c"], "no longer has the column b"),
    (["a", "b"], ["a", "c"], "calls the column b now c"),
    (["a", "b"], ["b", "a"], "has its columns in another order"),
    (["a", "b"], ["a", "c", "d"], "has the new column d and calls the column b now c"),
    (["a", "\u{e9}"], ["a", "e\u{301}"], "calls the column \u{e9} now e\u{301}"),
  ] as [([Name], [Name], String?)])
func columnWords(old: [Name], current: [Name], words: String?) {
  let mapping = ColumnMapping(from: old, to: current)
  #expect(mapping.words.map { Name($0) } == words.map { Name($0) })
  for name in old where mapping.current(name) != nil { #expect(mapping.current(name).flatMap(mapping.old) == name) }
}

@Test("two steps are distinguished whose end looks like a single one")
func columnSteps() {
  let gone = ColumnMapping(from: ["id", "a", "b"], to: ["id", "b"])
  let both = gone.then(ColumnMapping(from: ["id", "b"], to: ["id", "c"]))
  #expect(both.current("a") == nil && both.current("b") == "c" && both.old("c") == "b")
  #expect(both.gone == ["a"] && both.new.isEmpty && both.renamed.map(\.from) == ["b"])
  #expect(ColumnMapping(from: ["id", "a", "b"], to: ["id", "c"]).current("a") == "c")
  let back = gone.then(ColumnMapping(from: ["id", "b"], to: ["id", "a", "b"]))
  #expect(back.current("a") == nil && back.new == ["a"] && !back.isIdentity)
}

@Test("reinstalled capture keeps pending changes, in the table's present columns")
func reinstalled() throws {
  let captured = try CapturedDatabase(
    ["t"],
    setUp: ["CREATE TABLE t (id INTEGER PRIMARY KEY, a, gone)", "INSERT INTO t VALUES (1, 'x', 'g'), (2, 'y', 'h')"])
  try captured.write(
    "UPDATE t SET a = 'x0' WHERE id = 1", "INSERT INTO t VALUES (3, 'z', NULL)",
    "CREATE TABLE n (id INTEGER PRIMARY KEY, b, c DEFAULT 7)",
    "INSERT INTO n (id, b) SELECT id, a FROM t", "DROP TABLE t", "ALTER TABLE n RENAME TO t")
  let database = try captured.open()
  let dataset = try definition(["t"])
  let tables = try TrackedTable.find(dataset, in: database)
  #expect(try Capture.damage(in: database, tables: tables, dataset: dataset).map(\.kind) == [.columns])
  try database.writeTransaction {
    _ = try Capture.reinstall(in: database, tables: tables, generation: .zero)
  }
  #expect(try Capture.damage(in: database, tables: tables, dataset: dataset).isEmpty)
  // `gone` is read as `c`, and `a` as `b`: a new name at the position of a missing name counts as the same column.
  try database.execute("UPDATE t SET b = 'y0' WHERE id = 2")
  try Capture.settle(tables, in: database)
  let steps = try PreImageStore.steps(tables, since: .zero, in: database)
  #expect(steps.map { $0.key } == [1, 2, 3].map { RowKey([.integer($0)]) })
  #expect(
    steps[0].change
      == .update([
        ColumnChange(column: 1, was: .string("x"), value: .string("x0")),
        ColumnChange(column: 2, was: .string("g"), value: .integer(7)),
      ]))
  #expect(steps[1].change == .update([ColumnChange(column: 1, was: .string("y"), value: .string("y0"))]))
}
