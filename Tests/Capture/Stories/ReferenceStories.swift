private func family(_ action: String) -> [String] {
  [
    "CREATE TABLE p (id INTEGER PRIMARY KEY, a)",
    "CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER DEFAULT 3 REFERENCES p \(action))",
    "INSERT INTO p VALUES (1, 'x'), (2, 'y'), (3, 'z')", "INSERT INTO c VALUES (10, 1), (11, 1), (20, 2)",
  ]
}

private func story(_ name: String, _ action: String, _ writes: [String], _ steps: [String]) -> Story {
  Story(name, tables: ["c", "p"], setUp: family(action), writes: ["PRAGMA foreign_keys = ON"] + writes, steps: steps)
}

/// Effects of foreign keys on rows that the statement itself does not name.
let referenceStories: [Story] = [
  story(
    "ON DELETE CASCADE", "ON DELETE CASCADE", ["DELETE FROM p WHERE id = 1"],
    ["delete c 10, 1", "delete c 11, 1", "delete p 1, 'x'"]),
  story(
    "ON DELETE SET NULL", "ON DELETE SET NULL", ["DELETE FROM p WHERE id = 1"],
    ["delete p 1, 'x'", "update c 10: p 1 -> NULL", "update c 11: p 1 -> NULL"]),
  story(
    "ON DELETE SET DEFAULT", "ON DELETE SET DEFAULT", ["DELETE FROM p WHERE id = 2"],
    ["delete p 2, 'y'", "update c 20: p 2 -> 3"]),
  story(
    "ON UPDATE CASCADE", "ON UPDATE CASCADE", ["UPDATE p SET id = 9 WHERE id = 1"],
    ["delete p 1, 'x'", "insert p 9, 'x'", "update c 10: p 1 -> 9", "update c 11: p 1 -> 9"]),
  story(
    "REPLACE of a parent deletes its children", "ON DELETE CASCADE", ["REPLACE INTO p VALUES (1, 'X')"],
    ["delete c 10, 1", "delete c 11, 1", "update p 1: a 'x' -> 'X'"]),
  story("a delete that is refused", "ON DELETE RESTRICT", ["FAILS DELETE FROM p WHERE id = 1"], []),
  Story(
    "a cascade down a tree",
    setUp: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, up REFERENCES t ON DELETE CASCADE)",
      "INSERT INTO t VALUES (1, NULL), (2, 1), (3, 2), (4, NULL)",
    ], writes: ["PRAGMA foreign_keys = ON", "DELETE FROM t WHERE id = 1"],
    steps: ["delete t 1, NULL", "delete t 2, 1", "delete t 3, 2"]),
  Story(
    "a cascade into a composite key", tables: ["p", "c"],
    setUp: [
      "CREATE TABLE p (k TEXT PRIMARY KEY) WITHOUT ROWID",
      "CREATE TABLE c (k TEXT REFERENCES p ON UPDATE CASCADE ON DELETE CASCADE, n, PRIMARY KEY (k, n)) WITHOUT ROWID",
      "INSERT INTO p VALUES ('a'), ('b')", "INSERT INTO c VALUES ('a', 1), ('b', 1)",
    ],
    writes: ["PRAGMA foreign_keys = ON", "UPDATE p SET k = 'z' WHERE k = 'a'", "DELETE FROM p WHERE k = 'b'"],
    steps: ["delete c 'a', 1", "delete c 'b', 1", "delete p 'a'", "delete p 'b'", "insert p 'z'", "insert c 'z', 1"]),
  story(
    "parents and children come in an order in which they can be written", "ON DELETE CASCADE",
    [
      "INSERT INTO p VALUES (4, 'n')", "INSERT INTO c VALUES (40, 4)", "DELETE FROM c WHERE id = 20",
      "DELETE FROM p WHERE id = 2",
    ],
    ["delete c 20, 2", "delete p 2, 'y'", "insert p 4, 'n'", "insert c 40, 4"]),
]
