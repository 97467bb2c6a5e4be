private let people = ["CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)", "INSERT INTO t VALUES (1, 'x', 1), (2, 'y', 2)"]

/// Ordinary writes.
let plainStories: [Story] = [
  Story("nothing happened", setUp: people, writes: ["SELECT * FROM t"], steps: []),
  Story(
    "insert, update and delete", setUp: people,
    writes: ["INSERT INTO t VALUES (3, 'z', 3)", "UPDATE t SET a = 'X' WHERE id = 1", "DELETE FROM t WHERE id = 2"],
    steps: ["delete t 2, 'y', 2", "update t 1: a 'x' -> 'X'", "insert t 3, 'z', 3"]),
  Story(
    "delete of all rows", setUp: people, writes: ["DELETE FROM t"], steps: ["delete t 1, 'x', 1", "delete t 2, 'y', 2"]),
  Story(
    "changed and changed back", setUp: people, writes: ["UPDATE t SET a = a || '!'", "UPDATE t SET a = rtrim(a, '!')"],
    steps: []),
  Story(
    "inserted and deleted", setUp: people, writes: ["INSERT INTO t VALUES (3, 1, 1)", "DELETE FROM t WHERE id = 3"],
    steps: []),
  Story(
    "deleted and inserted again as it was", setUp: people,
    writes: ["DELETE FROM t", "INSERT INTO t VALUES (1, 'x', 1), (2, 'y', 2)"],
    steps: []),
  Story(
    "deleted and inserted again otherwise", setUp: people,
    writes: ["DELETE FROM t", "INSERT INTO t VALUES (1, 'x', 9)"],
    steps: ["delete t 2, 'y', 2", "update t 1: b 1 -> 9"]),
  Story("an update that changes nothing", setUp: people, writes: ["UPDATE t SET a = a, id = id"], steps: []),
  Story(
    "UPSERT that inserts and that updates", setUp: people,
    writes: ["INSERT INTO t VALUES (2, 'n', 7), (3, 'n', 7) ON CONFLICT (id) DO UPDATE SET b = excluded.b"],
    steps: ["update t 2: b 2 -> 7", "insert t 3, 'n', 7"]),
  Story(
    "UPSERT that does nothing", setUp: people, writes: ["INSERT INTO t VALUES (2, 'n', 7) ON CONFLICT DO NOTHING"],
    steps: []),
  Story(
    "UPDATE FROM", setUp: people,
    writes: ["UPDATE t SET b = s.column2 FROM (VALUES (1, 10), (2, 2)) AS s WHERE s.column1 = t.id"],
    steps: ["update t 1: b 1 -> 10"]),
  Story(
    "INSERT SELECT from the table itself", setUp: people, writes: ["INSERT INTO t (a, b) SELECT a, b FROM t"],
    steps: ["insert t 3, 'x', 1", "insert t 4, 'y', 2"]),
  Story("a transaction that is rolled back", setUp: people, writes: ["BEGIN", "DELETE FROM t", "ROLLBACK"], steps: []),
  Story(
    "a savepoint that is rolled back", setUp: people,
    writes: [
      "BEGIN", "UPDATE t SET a = 'kept' WHERE id = 1", "SAVEPOINT s", "UPDATE t SET a = 'lost'",
      "DELETE FROM t WHERE id = 2",
      "ROLLBACK TO s", "RELEASE s", "COMMIT",
    ],
    steps: ["update t 1: a 'x' -> 'kept'"]),
  Story(
    "a WAL, and VACUUM afterwards", setUp: people,
    writes: [
      "PRAGMA journal_mode = WAL", "UPDATE t SET a = 'w' WHERE id = 1", "VACUUM", "DELETE FROM t WHERE id = 2",
      "VACUUM",
    ],
    steps: ["delete t 2, 'y', 2", "update t 1: a 'x' -> 'w'"]),
  Story(
    "another database is attached that has a table of the same name", setUp: people,
    writes: [
      "ATTACH ':memory:' AS other", "CREATE TABLE other.t (id INTEGER PRIMARY KEY, a, b)",
      "INSERT INTO other.t VALUES (50, 'o', 0)",
      "INSERT INTO main.t SELECT * FROM other.t",
    ],
    steps: ["insert t 50, 'o', 0"]),
  Story(
    "hardened writers", setUp: people,
    writes: ["PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON", "INSERT INTO t VALUES (3, 1, 1)"],
    steps: ["insert t 3, 1, 1"]),
]
