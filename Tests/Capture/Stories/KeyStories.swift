private let numbered = ["CREATE TABLE t (id INTEGER PRIMARY KEY, a)", "INSERT INTO t VALUES (1, 'x'), (2, 'y')"]
private let counted = [
  "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a)", "INSERT INTO t VALUES (1, 'x'), (9, 'y')",
  "DELETE FROM t WHERE id = 9",
]

/// Primary keys that change, that SQLite makes, or that are missing.
let keyStories: [Story] = [
  Story(
    "a new key is a delete and an insert", setUp: numbered, writes: ["UPDATE t SET id = 5 WHERE id = 1"],
    steps: ["delete t 1, 'x'", "insert t 5, 'x'"]),
  Story(
    "all keys turned at once", setUp: numbered, writes: ["UPDATE t SET id = -id"],
    steps: ["delete t 1, 'x'", "delete t 2, 'y'", "insert t -2, 'y'", "insert t -1, 'x'"]),
  Story(
    "keys turned and turned back", setUp: numbered, writes: ["UPDATE t SET id = -id", "UPDATE t SET id = -id"],
    steps: []),
  Story(
    "two keys swapped", setUp: numbered,
    writes: ["UPDATE t SET id = -id", "UPDATE t SET id = 3 + id"],
    steps: ["update t 1: a 'x' -> 'y'", "update t 2: a 'y' -> 'x'"]),
  Story(
    "text keys that push one another out in one statement",
    setUp: [
      "CREATE TABLE t (k TEXT PRIMARY KEY, a) WITHOUT ROWID", "INSERT INTO t VALUES ('a', 1), ('b', 2), ('c', 3)",
    ],
    writes: ["UPDATE OR REPLACE t SET k = char(unicode(k) + 1)"],
    steps: ["delete t 'a', 1", "delete t 'b', 2", "delete t 'c', 3", "insert t 'd', 1"]),
  Story(
    "text keys moved aside and back in another order",
    setUp: ["CREATE TABLE t (k TEXT PRIMARY KEY, a)", "INSERT INTO t VALUES ('a', 1), ('b', 2), ('c', 3)"],
    writes: [
      "UPDATE t SET k = k || '!'", "UPDATE t SET k = CASE k WHEN 'a!' THEN 'b' WHEN 'b!' THEN 'c' ELSE 'a' END",
    ],
    steps: ["update t 'a': a 1 -> 3", "update t 'b': a 2 -> 1", "update t 'c': a 3 -> 2"]),
  Story(
    "automatic keys", setUp: numbered,
    writes: [
      "INSERT INTO t (a) VALUES ('p'), ('q')", "INSERT INTO t VALUES (NULL, 'r')", "INSERT INTO t DEFAULT VALUES",
    ],
    steps: ["insert t 3, 'p'", "insert t 4, 'q'", "insert t 5, 'r'", "insert t 6, NULL"]),
  Story(
    "the first automatic key, and a reused key", setUp: ["CREATE TABLE t (id INTEGER PRIMARY KEY, a)"],
    writes: ["INSERT INTO t (a) VALUES (1)", "DELETE FROM t", "INSERT INTO t (a) VALUES (2)"], steps: ["insert t 1, 2"]),
  Story(
    "AUTOINCREMENT", setUp: counted, writes: ["INSERT INTO t (a) VALUES ('p'), ('q')"],
    steps: ["insert t 10, 'p'", "insert t 11, 'q'"]),
  Story(
    "negative and greatest keys", setUp: numbered,
    writes: [
      """
      INSERT INTO t VALUES (-5, 'n'), (-9223372036854775808, 'min'), (9223372036854775807, 'max'), (-1, 'minus'), (0, \
      'zero')
      """,
      "UPDATE t SET a = a || '!' WHERE id = -1",
    ],
    steps: [
      "insert t -9223372036854775808, 'min'", "insert t -5, 'n'", "insert t -1, 'minus!'", "insert t 0, 'zero'",
      "insert t 9223372036854775807, 'max'",
    ]),
  Story(
    "an automatic key behind the greatest",
    setUp: numbered + ["INSERT INTO t VALUES (9223372036854775807, 'max')"],
    writes: ["INSERT INTO t (a) VALUES ('chance')", "UPDATE t SET id = 77 WHERE a = 'chance'"],
    steps: ["insert t 77, 'chance'"]),
  Story(
    "-1 replaced, and other automatic keys beside it", setUp: numbered + ["INSERT INTO t VALUES (-1, 'm')"],
    writes: ["REPLACE INTO t VALUES (-1, 'M')", "INSERT INTO t (a) VALUES ('p')"],
    steps: ["update t -1: a 'm' -> 'M'", "insert t 3, 'p'"]),
  Story(
    "a key whose default is random",
    setUp: ["CREATE TABLE t (k TEXT PRIMARY KEY DEFAULT (hex(randomblob(8))), a)"],
    writes: ["INSERT INTO t (a) VALUES (1)", "UPDATE t SET k = 'k'"], steps: ["insert t 'k', 1"]),
  Story(
    "INTEGER PRIMARY KEY DESC is no name of the rowid",
    setUp: ["CREATE TABLE t (id INTEGER PRIMARY KEY DESC, a)", "INSERT INTO t VALUES (1, 'x')"],
    writes: ["INSERT INTO t VALUES (7, 'y'), (NULL, 'nameless')", "UPDATE t SET id = 8 WHERE id = 7"],
    steps: ["insert t 8, 'y'"]),
  Story(
    "composite keys",
    setUp: ["CREATE TABLE t (a TEXT, v, b INT, PRIMARY KEY (b, a))", "INSERT INTO t VALUES ('p', 1, 1), ('q', 2, 1)"],
    writes: [
      "UPDATE t SET b = 2 WHERE a = 'q'", "UPDATE t SET v = 9 WHERE a = 'p'",
      "REPLACE INTO t VALUES ('q', 5, 2), ('r', 6, 3)",
    ],
    steps: ["delete t 'q', 2, 1", "update t 1, 'p': v 1 -> 9", "insert t 'q', 5, 2", "insert t 'r', 6, 3"]),
  Story(
    "WITHOUT ROWID and STRICT",
    setUp: [
      "CREATE TABLE t (a TEXT, b ANY, PRIMARY KEY (a)) WITHOUT ROWID, STRICT",
      "INSERT INTO t VALUES ('p', 1), ('q', '2')",
    ],
    writes: [
      "REPLACE INTO t VALUES ('p', '1')", "DELETE FROM t WHERE a = 'q'", "FAILS INSERT INTO t VALUES (NULL, 1)",
    ],
    steps: ["delete t 'q', '2'", "update t 'p': b 1 -> '1'"]),
  Story(
    "generated columns follow from the others",
    setUp: [
      "CREATE TABLE t (s AS (a + 1) STORED, id INTEGER PRIMARY KEY, v AS (a * 2), a)",
      "INSERT INTO t VALUES (1, 10), (2, 20)",
    ],
    writes: ["UPDATE t SET a = 11 WHERE id = 1", "INSERT INTO t VALUES (3, 30)", "DELETE FROM t WHERE id = 2"],
    steps: ["delete t 2, 20", "update t 1: a 10 -> 11", "insert t 3, 30"]),
  Story(
    "a row that gets a key, and a row that loses its key",
    setUp: ["CREATE TABLE t (k TEXT PRIMARY KEY, a)", "INSERT INTO t VALUES (NULL, 1), ('b', 2)"],
    writes: [
      "INSERT INTO t VALUES (NULL, 3)", "UPDATE t SET a = 4 WHERE k IS NULL AND a = 3", "DELETE FROM t WHERE a = 4",
      "UPDATE t SET k = CASE a WHEN 1 THEN 'a' END",
    ],
    steps: ["delete t 'b', 2", "insert t 'a', 1"]),
  Story(
    "the case of a key that knows no case",
    setUp: ["CREATE TABLE t (k TEXT COLLATE NOCASE PRIMARY KEY, a)", "INSERT INTO t VALUES ('ab', 1), ('cd', 2)"],
    writes: ["UPDATE t SET k = upper(k) WHERE k = 'AB'", "REPLACE INTO t VALUES ('CD', 3)"],
    steps: ["delete t 'ab', 1", "delete t 'cd', 2", "insert t 'AB', 1", "insert t 'CD', 3"]),
  Story(
    "the case of a key changed and changed back",
    setUp: ["CREATE TABLE t (k TEXT COLLATE NOCASE PRIMARY KEY, a) WITHOUT ROWID", "INSERT INTO t VALUES ('ab', 1)"],
    writes: ["UPDATE t SET k = upper(k)", "UPDATE t SET k = lower(k)"], steps: []),
  Story(
    "a key that becomes another number of the same size",
    setUp: ["CREATE TABLE t (k PRIMARY KEY, a)", "INSERT INTO t VALUES (1, 'one'), (0.0, 'zero'), (2, 'two')"],
    writes: [
      "UPDATE t SET k = 1.0 WHERE k = 1", "UPDATE t SET k = -0.0 WHERE k = 0", "REPLACE INTO t VALUES (2.0, 'II')",
      "INSERT INTO t VALUES (3, 3)", "UPDATE t SET k = 3.0 WHERE k = 3",
    ],
    steps: [
      "delete t 0.0, 'zero'", "delete t 1, 'one'", "delete t 2, 'two'", "insert t -0.0, 'zero'", "insert t 1.0, 'one'",
      "insert t 2.0, 'II'", "insert t 3.0, 3",
    ]),
]
