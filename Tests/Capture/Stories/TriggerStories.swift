private let table = ["CREATE TABLE t (id INTEGER PRIMARY KEY, a, n INT DEFAULT 0)", "INSERT INTO t VALUES (1, 'x', 0)"]
private let touchNew = "CREATE TRIGGER touch_new AFTER INSERT ON t BEGIN UPDATE t SET n = n + 1 WHERE id = NEW.id; END"
private let touchOld =
  "CREATE TRIGGER touch_old AFTER UPDATE OF a ON t BEGIN UPDATE t SET n = n + 1 WHERE id = NEW.id; END"
private let inserting =
  "CREATE TRIGGER i BEFORE INSERT ON t WHEN NEW.a <> 'copy' BEGIN INSERT INTO t (a) VALUES ('copy'); END"
private let touching = [
  "INSERT INTO t (a) VALUES ('y')", "UPDATE t SET a = 'X' WHERE id = 1", "INSERT INTO t (id, a) VALUES (-1, 'm')",
]
private let touched = ["insert t -1, 'm', 1", "update t 1: a 'x' -> 'X', n 0 -> 1", "insert t 2, 'y', 1"]

private let counted = [
  "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, n INT)", "INSERT INTO t VALUES (9, 0)", "DELETE FROM t",
]

/// The app's own triggers. SQLite may run them before or after capture's triggers.
let triggerStories: [Story] = [
  Story(
    "a trigger on the same row, older than capture", setUp: table + [touchNew, touchOld], writes: touching,
    steps: touched),
  Story(
    "a trigger on the same row, younger than capture", setUp: table, writes: [touchNew, touchOld] + touching,
    steps: touched),
  Story(
    "a trigger on the same row, with recursive triggers", setUp: table,
    writes: ["PRAGMA recursive_triggers = ON", touchNew, touchOld, "REPLACE INTO t (id, a) VALUES (1, 'y')"],
    steps: ["update t 1: a 'x' -> 'y', n 0 -> 1"]),
  Story(
    "a key that differs from the prediction because of an older trigger, and a younger trigger that writes the row",
    setUp: table + [inserting],
    writes: [touchNew, "INSERT INTO t (a) VALUES ('y')", "UPDATE t SET a = 'z' WHERE id = 1"],
    steps: ["update t 1: a 'x' -> 'z'", "insert t 2, 'copy', 1", "insert t 3, 'y', 1"]),
  Story(
    "such a key of a row that was there until an older trigger deleted it",
    setUp: table + [
      "INSERT INTO t VALUES (2, 'w', 0)",
      "CREATE TRIGGER d BEFORE INSERT ON t BEGIN DELETE FROM t WHERE id = (SELECT max(id) FROM t); END",
    ],
    writes: [touchNew, "INSERT INTO t (a) VALUES ('y')"], steps: ["update t 2: a 'w' -> 'y', n 0 -> 1"]),
  Story(
    "such keys of rows that are written and deleted later", setUp: table + [inserting],
    writes: [
      touchNew, touchOld, "INSERT INTO t (a) VALUES ('y'), ('z')", "UPDATE t SET a = 'v' WHERE id = 3",
      "DELETE FROM t WHERE id = 5",
    ],
    steps: ["insert t 2, 'copy', 1", "insert t 3, 'v', 2", "insert t 4, 'copy', 1"]),
  Story(
    "a trigger on a row with an AUTOINCREMENT key, older than capture",
    setUp: counted + ["CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET n = n + 1 WHERE id = NEW.id; END"],
    writes: ["INSERT INTO t (n) VALUES (5), (6)"], steps: ["insert t 10, 6", "insert t 11, 7"]),
  Story(
    "a trigger on a row with an AUTOINCREMENT key, younger than capture", setUp: counted,
    writes: [
      "CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET n = n + 1 WHERE id = NEW.id; END",
      "INSERT INTO t (n) VALUES (5), (6)",
    ], steps: ["insert t 10, 6", "insert t 11, 7"]),
  Story(
    "a trigger on a row with an AUTOINCREMENT key, behind rows that are left out",
    setUp: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, n INT NOT NULL)", "INSERT INTO t VALUES (9, 0)",
      "DELETE FROM t",
    ],
    writes: [
      "CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET n = n + 1 WHERE id = NEW.id; END",
      "INSERT OR IGNORE INTO t (n) VALUES (NULL), (5), (NULL), (NULL), (6)", "INSERT INTO t (n) VALUES (7)",
    ], steps: ["insert t 11, 6", "insert t 14, 7", "insert t 15, 8"]),
  Story(
    "a trigger on a row whose key is -1, which is gone again",
    setUp: ["CREATE TABLE t (id INTEGER PRIMARY KEY, n INT)"],
    writes: [
      "CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET n = n + 1 WHERE id = NEW.id; END",
      "INSERT INTO t VALUES (-1, 5)",
      "DELETE FROM t", "INSERT INTO t VALUES (-1, 6)", "DELETE FROM t",
    ], steps: []),
  Story(
    "a trigger that gives the new row another key", setUp: table,
    writes: [
      "CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET id = NEW.id + 100 WHERE id = NEW.id; END",
      "INSERT INTO t (a) VALUES ('y')",
    ],
    steps: ["insert t 102, 'y', 0"]),
  Story(
    "a trigger that deletes the new row", setUp: table,
    writes: [
      "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t WHERE id = NEW.id; END", "INSERT INTO t (a) VALUES ('y')",
    ],
    steps: []),
  Story(
    "a trigger that inserts another row", setUp: table,
    writes: [
      "CREATE TRIGGER g AFTER INSERT ON t WHEN NEW.a <> 'echo' BEGIN INSERT INTO t (a) VALUES ('echo'); END",
      "INSERT INTO t (a) VALUES ('y')",
    ],
    steps: ["insert t 2, 'y', 0", "insert t 3, 'echo', 0"]),
  Story(
    "a trigger before the write that changes other rows", setUp: table + ["INSERT INTO t VALUES (2, 'y', 0)"],
    writes: [
      "CREATE TRIGGER g BEFORE UPDATE OF a ON t BEGIN UPDATE t SET n = n + 1 WHERE id <> NEW.id; END",
      "UPDATE t SET a = 'X' WHERE id = 1",
    ], steps: ["update t 1: a 'x' -> 'X'", "update t 2: n 0 -> 1"]),
  Story(
    "a trigger that forbids", setUp: table,
    writes: [
      "CREATE TRIGGER g BEFORE DELETE ON t BEGIN SELECT raise(IGNORE); END", "DELETE FROM t",
      "CREATE TRIGGER h BEFORE UPDATE ON t BEGIN SELECT raise(ABORT, 'no'); END", "FAILS UPDATE t SET a = 1",
    ], steps: []),
  Story(
    "a trigger that writes another table", tables: ["t", "s"],
    setUp: table + ["CREATE TABLE s (k TEXT PRIMARY KEY, n)", "INSERT INTO s VALUES ('count', 1)"],
    writes: [
      """
      CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE s SET n = n + 1; INSERT INTO s VALUES (NEW.a, NEW.id) ON \
      CONFLICT DO UPDATE SET n = NEW.id; END
      """,
      "INSERT INTO t (a) VALUES ('y'), ('y')",
    ], steps: ["insert t 2, 'y', 0", "insert t 3, 'y', 0", "update s 'count': n 1 -> 3", "insert s 'y', 3"]),
  Story(
    "a view with a trigger", setUp: table,
    writes: [
      "CREATE VIEW v AS SELECT a FROM t",
      "CREATE TRIGGER g INSTEAD OF INSERT ON v BEGIN INSERT INTO t (a) VALUES (NEW.a); END",
      "INSERT INTO v VALUES ('y')",
    ], steps: ["insert t 2, 'y', 0"]),
  Story(
    "a trigger of one connection alone", setUp: table,
    writes: [
      "CREATE TEMP TRIGGER g AFTER UPDATE OF a ON t BEGIN UPDATE t SET n = 7 WHERE id = NEW.id; END",
      "UPDATE t SET a = 'X'",
    ],
    steps: ["update t 1: a 'x' -> 'X', n 0 -> 7"]),
]
