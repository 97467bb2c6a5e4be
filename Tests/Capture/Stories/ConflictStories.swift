private let unique = [
  "CREATE TABLE t (id INTEGER PRIMARY KEY, u TEXT UNIQUE, a INTEGER, b INTEGER, UNIQUE (a, b))",
  "INSERT INTO t VALUES (1, 'one', 1, 1), (2, 'two', 2, 2), (3, 'three', 3, 3)",
]
private let noCase = [
  "CREATE TABLE t (id INTEGER PRIMARY KEY, n TEXT)", "CREATE UNIQUE INDEX i ON t (n COLLATE NOCASE)",
  "INSERT INTO t VALUES (1, 'Asha'), (2, 'Bela')",
]

/// Statements that delete other rows than they name, without running a delete trigger.
let conflictStories: [Story] = [
  Story(
    "INSERT OR REPLACE through the primary key", setUp: unique,
    writes: ["INSERT OR REPLACE INTO t VALUES (1, 'new', 9, 9)"],
    steps: ["update t 1: u 'one' -> 'new', a 1 -> 9, b 1 -> 9"]),
  Story(
    "REPLACE through a UNIQUE column", setUp: unique, writes: ["REPLACE INTO t VALUES (4, 'one', 9, 9)"],
    steps: ["delete t 1, 'one', 1, 1", "insert t 4, 'one', 9, 9"]),
  Story(
    "REPLACE through an index over two columns", setUp: unique, writes: ["REPLACE INTO t VALUES (4, 'four', 2, 2)"],
    steps: ["delete t 2, 'two', 2, 2", "insert t 4, 'four', 2, 2"]),
  Story(
    "REPLACE of three rows by one", setUp: unique, writes: ["REPLACE INTO t VALUES (1, 'two', 3, 3)"],
    steps: ["delete t 2, 'two', 2, 2", "delete t 3, 'three', 3, 3", "update t 1: u 'one' -> 'two', a 1 -> 3, b 1 -> 3"]),
  Story(
    "REPLACE with an automatic key", setUp: unique, writes: ["REPLACE INTO t (u) VALUES ('two')"],
    steps: ["delete t 2, 'two', 2, 2", "insert t 4, 'two', NULL, NULL"]),
  Story(
    "REPLACE with recursive triggers", setUp: unique,
    writes: ["PRAGMA recursive_triggers = ON", "REPLACE INTO t VALUES (1, 'two', 3, 3)"],
    steps: ["delete t 2, 'two', 2, 2", "delete t 3, 'three', 3, 3", "update t 1: u 'one' -> 'two', a 1 -> 3, b 1 -> 3"]),
  Story(
    "UPDATE OR REPLACE through each index", setUp: unique,
    writes: ["UPDATE OR REPLACE t SET u = 'two' WHERE id = 1", "UPDATE OR REPLACE t SET a = 3, b = 3 WHERE id = 1"],
    steps: ["delete t 2, 'two', 2, 2", "delete t 3, 'three', 3, 3", "update t 1: u 'one' -> 'two', a 1 -> 3, b 1 -> 3"]),
  Story(
    "UPDATE OR REPLACE of the key", setUp: unique, writes: ["UPDATE OR REPLACE t SET id = id + 1 WHERE id < 3"],
    steps: ["delete t 1, 'one', 1, 1", "delete t 2, 'two', 2, 2", "update t 3: u 'three' -> 'one', a 3 -> 1, b 3 -> 1"]),
  Story(
    "REPLACE through an index that knows no case", setUp: noCase,
    writes: ["REPLACE INTO t VALUES (3, 'ASHA')", "UPDATE OR REPLACE t SET n = 'bELA' WHERE id = 3"],
    steps: ["delete t 1, 'Asha'", "delete t 2, 'Bela'", "insert t 3, 'bELA'"]),
  Story(
    "a table that says ON CONFLICT REPLACE itself",
    setUp: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, u UNIQUE ON CONFLICT REPLACE)",
      "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
    ],
    writes: ["INSERT INTO t VALUES (3, 'a')", "UPDATE t SET u = 'b' WHERE id = 3"],
    steps: ["delete t 1, 'a'", "delete t 2, 'b'", "insert t 3, 'b'"]),
  Story(
    "a partial UNIQUE index",
    setUp: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, u, live)",
      "CREATE UNIQUE INDEX \" where (\" ON t (u /* where */ COLLATE NOCASE) --where\n wHeRe live = (1) -- or so",
      "INSERT INTO t VALUES (1, 'a', 1), (2, 'a', 0), (3, 'a', 0), (5, 'b', 1)",
    ],
    writes: ["REPLACE INTO t VALUES (4, 'b', 1)", "UPDATE OR REPLACE t SET live = 1 WHERE id = 3"],
    steps: ["delete t 1, 'a', 1", "delete t 5, 'b', 1", "update t 3: live 0 -> 1", "insert t 4, 'b', 1"]),
  Story(
    "UNIQUE indexes over expressions",
    setUp: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, mail TEXT COLLATE NOCASE, n INTEGER NOT NULL DEFAULT 7)",
      "CREATE UNIQUE INDEX i ON t (lower(trim(mail)) COLLATE RTRIM DESC, n + 1) -- each once",
      "INSERT INTO t VALUES (1, 'Asha', 1), (2, 'asha', 2), (3, 'Bela', 7)",
    ],
    writes: [
      "REPLACE INTO t VALUES (4, ' ASHA ', 1)", "UPDATE OR REPLACE t SET n = 1 WHERE id = 2",
      "REPLACE INTO t VALUES (5, 'BELA', NULL)",
    ],
    steps: [
      "delete t 1, 'Asha', 1", "delete t 3, 'Bela', 7", "update t 2: n 2 -> 1", "insert t 5, 'BELA', 7",
    ]),
  Story(
    "UNIQUE indexes over generated columns",
    setUp: [
      "CREATE TABLE t (k TEXT PRIMARY KEY, a, g AS (lower(a)) STORED UNIQUE, h AS (length(a)))",
      "CREATE UNIQUE INDEX i ON t (h, substr(lower(a), 1, 1))",
      "INSERT INTO t (k, a) VALUES ('x', 'Ab'), ('y', 'cde'), ('z', 'dd')",
    ],
    writes: [
      "REPLACE INTO t (k, a) VALUES ('w', 'AB')", "UPDATE OR REPLACE t SET a = 'CX' || a WHERE k = 'z'",
      "REPLACE INTO t (k, a) VALUES ('v', 'czz')",
    ],
    steps: [
      "delete t 'x', 'Ab'", "delete t 'y', 'cde'", "insert t 'v', 'czz'", "insert t 'w', 'AB'",
      "update t 'z': a 'dd' -> 'CXdd'",
    ]),
  Story(
    "a NULL that REPLACE turns into the column's default, which another row has",
    setUp: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, u TEXT NOT NULL DEFAULT 'd' UNIQUE, n INT)",
      "INSERT INTO t VALUES (1, 'd', 1), (2, 'e', 2)",
    ],
    writes: ["REPLACE INTO t VALUES (3, NULL, 3)", "UPDATE OR REPLACE t SET u = NULL WHERE id = 2"],
    steps: ["delete t 1, 'd', 1", "update t 2: u 'e' -> 'd'"]),
  Story(
    "a NULL in the key that REPLACE turns into the key's default",
    setUp: [
      "CREATE TABLE t (k TEXT NOT NULL PRIMARY KEY DEFAULT \"d\", n)",
      "INSERT INTO t VALUES ('d', 1), ('e', 2), ('f', 3)",
    ],
    writes: ["REPLACE INTO t VALUES (NULL, 4)", "UPDATE OR REPLACE t SET k = NULL WHERE k = 'e'"],
    steps: ["delete t 'e', 2", "update t 'd': n 1 -> 2"]),
  Story(
    "the same without a row of the default key",
    setUp: [
      "CREATE TABLE t (k TEXT NOT NULL DEFAULT d, n, PRIMARY KEY (k)) WITHOUT ROWID", "INSERT INTO t VALUES ('e', 2)",
    ],
    writes: ["UPDATE OR REPLACE t SET k = NULL"], steps: ["delete t 'e', 2", "insert t 'd', 2"]),
  Story(
    "REPLACE through the rowid of a table with another key",
    setUp: [
      "CREATE TABLE t (k TEXT PRIMARY KEY, a)",
      "INSERT INTO t (rowid, k, a) VALUES (1, 'a', 1), (2, 'b', 2), (-1, 'c', 3)",
    ],
    writes: [
      "REPLACE INTO t (rowid, k, a) VALUES (1, 'n', 9)", "UPDATE OR REPLACE t SET rowid = 2 WHERE k = 'n'",
      "REPLACE INTO t (rowid, k, a) VALUES (-1, 'm', 8)",
    ],
    steps: ["delete t 'a', 1", "delete t 'b', 2", "delete t 'c', 3", "insert t 'm', 8", "insert t 'n', 9"]),
  Story(
    "REPLACE through the rowid of a table with a column of that name",
    setUp: ["CREATE TABLE t (rowid TEXT PRIMARY KEY, oid)", "INSERT INTO t (_rowid_, rowid, oid) VALUES (1, 'a', 1)"],
    writes: ["REPLACE INTO t (_rowid_, rowid, oid) VALUES (1, 'n', 9)"], steps: ["delete t 'a', 1", "insert t 'n', 9"]),
  Story(
    "OR IGNORE", setUp: unique,
    writes: [
      "INSERT OR IGNORE INTO t VALUES (1, 'n', 9, 9), (4, 'two', 9, 9), (5, 'n', 9, 9)",
      "UPDATE OR IGNORE t SET u = 'n'",
    ],
    steps: ["insert t 5, 'n', 9, 9"]),
  Story(
    "OR FAIL keeps what came before", setUp: unique,
    writes: ["FAILS INSERT OR FAIL INTO t VALUES (4, 'four', 4, 4), (5, 'two', 5, 5), (6, 'six', 6, 6)"],
    steps: ["insert t 4, 'four', 4, 4"]),
  Story(
    "OR ABORT takes back the statement", setUp: unique,
    writes: [
      "BEGIN", "UPDATE t SET a = 7 WHERE id = 1", "FAILS INSERT INTO t VALUES (4, 'four', 4, 4), (5, 'two', 5, 5)",
      "COMMIT",
    ],
    steps: ["update t 1: a 1 -> 7"]),
  Story(
    "OR ROLLBACK takes back the transaction", setUp: unique,
    writes: ["BEGIN", "UPDATE t SET a = 7 WHERE id = 1", "FAILS INSERT OR ROLLBACK INTO t VALUES (5, 'two', 5, 5)"],
    steps: []),
  Story(
    "the statement's clause does not reach the pre-images: OR REPLACE", setUp: unique,
    writes: [
      "UPDATE t SET a = 7 WHERE id = 1", "INSERT OR REPLACE INTO t VALUES (1, 'one', 8, 8)",
      "UPDATE OR REPLACE t SET b = 9 WHERE id = 1",
      "REPLACE INTO t VALUES (4, 'four', 4, 4)", "REPLACE INTO t VALUES (4, 'vier', 4, 4)",
    ],
    steps: ["update t 1: a 1 -> 8, b 1 -> 9", "insert t 4, 'vier', 4, 4"]),
  Story(
    "the statement's clause does not reach the pre-images: OR FAIL, OR ABORT and OR ROLLBACK", setUp: unique,
    writes: [
      "BEGIN", "UPDATE t SET a = 7 WHERE id = 1", "UPDATE OR FAIL t SET a = 8 WHERE id = 1",
      "UPDATE OR ABORT t SET a = 9 WHERE id = 1",
      "UPDATE OR ROLLBACK t SET a = 10 WHERE id = 1", "UPDATE OR IGNORE t SET a = 11 WHERE id = 1",
      "INSERT OR ROLLBACK INTO t VALUES (4, 'four', 4, 4)", "DELETE FROM t WHERE id = 4",
      "INSERT OR ROLLBACK INTO t VALUES (4, 'four', 4, 4)", "COMMIT",
    ],
    steps: ["update t 1: a 1 -> 11", "insert t 4, 'four', 4, 4"]),
  Story(
    "UPSERT beside REPLACE", setUp: unique,
    writes: ["INSERT OR REPLACE INTO t VALUES (1, 'two', 9, 9) ON CONFLICT (id) DO UPDATE SET a = 5"],
    steps: ["update t 1: a 1 -> 5"]),
]
