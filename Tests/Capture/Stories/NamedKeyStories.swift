import Foundation

private let layer = [
  "CREATE TABLE t (fid INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL UNIQUE, a, b UNIQUE)",
  "INSERT INTO t VALUES (1, 'u', 'x', 1), (2, 'v', 'y', 2)",
]
private let plain = [layer[0].replacing(" AUTOINCREMENT", with: ""), layer[1]]
private let rules = ["t": #"{ "key": ["uuid"] }"#]

private func story(_ name: String, setUp: [String] = layer, _ writes: [String], _ steps: [String]) -> Story {
  Story(name, setUp: setUp, writes: writes, steps: steps, rules: rules)
}

/// Tables whose rows a UNIQUE column identifies. Their INTEGER PRIMARY KEY is local.
let namedKeyStories: [Story] = [
  story(
    "another local key is no change", ["UPDATE t SET fid = fid + 10", "UPDATE t SET fid = -5 WHERE uuid = 'u'"], []),
  story(
    "new local keys, as after loading a layer again",
    ["DELETE FROM t", "INSERT INTO t (uuid, a, b) VALUES ('v', 'y', 2), ('u', 'x', 1)"], []),
  story(
    "a load that changes one value",
    ["DELETE FROM t", "INSERT INTO t (uuid, a, b) VALUES ('v', 'y', 2), ('u', 'z', 1)"], ["update t 'u': a 'x' -> 'z'"]),
  story(
    "rows without a local key", ["INSERT INTO t (uuid, a) VALUES ('w', 'z'), ('x', 'p')"],
    ["insert t 'w', 'z', NULL", "insert t 'x', 'p', NULL"]),
  story(
    "a name that a default makes",
    setUp: ["CREATE TABLE t (fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE DEFAULT (lower('NAME')), a)"],
    ["INSERT INTO t (a) VALUES (1)"], ["insert t 'name', 1"]),
  story(
    "another name is a delete and an insert", ["UPDATE t SET uuid = 'w' WHERE fid = 1"],
    ["delete t 'u', 'x', 1", "insert t 'w', 'x', 1"]),
  story(
    "names swapped", ["UPDATE t SET uuid = uuid || '!'", "UPDATE t SET uuid = iif(fid = 1, 'v', 'u')"],
    ["update t 'u': a 'x' -> 'y', b 1 -> 2", "update t 'v': a 'y' -> 'x', b 2 -> 1"]),
  story(
    "OR REPLACE by the local key takes a row of another name", ["INSERT OR REPLACE INTO t VALUES (1, 'w', 'z', 3)"],
    ["delete t 'u', 'x', 1", "insert t 'w', 'z', 3"]),
  story(
    "OR REPLACE by the name, another index and the local key takes three rows",
    setUp: plain + ["INSERT INTO t VALUES (3, 'w', 'z', 3)"], ["INSERT OR REPLACE INTO t VALUES (3, 'u', 'n', 2)"],
    ["delete t 'v', 'y', 2", "delete t 'w', 'z', 3", "update t 'u': a 'x' -> 'n', b 1 -> 2"]),
  story(
    "OR REPLACE of the local key by an update takes a row of another name",
    ["UPDATE OR REPLACE t SET fid = 2 WHERE uuid = 'u'"], ["delete t 'v', 'y', 2"]),
  story(
    "OR REPLACE of the local key by its other name",
    ["UPDATE OR REPLACE t SET rowid = 1 WHERE uuid = 'v'"], ["delete t 'u', 'x', 1"]),
  story(
    "an upsert by the local key that gives another name",
    ["INSERT INTO t VALUES (1, 'w', 'z', 9) ON CONFLICT (fid) DO UPDATE SET uuid = excluded.uuid"],
    ["delete t 'u', 'x', 1", "insert t 'w', 'x', 1"]),
  story(
    "an upsert by the name",
    ["INSERT INTO t (uuid, a) VALUES ('u', 'z') ON CONFLICT (uuid) DO UPDATE SET a = excluded.a"],
    ["update t 'u': a 'x' -> 'z'"]),
  story(
    "a local key that SQLite gives once more", setUp: plain,
    ["DELETE FROM t WHERE uuid = 'v'", "INSERT INTO t (uuid) VALUES ('w')"],
    ["delete t 'v', 'y', 2", "insert t 'w', NULL, NULL"]),
  story("a name that may not be NULL", ["FAILS INSERT INTO t (uuid) VALUES (NULL)"], []),
  story(
    "an index that holds the local key", setUp: layer + ["CREATE UNIQUE INDEX i ON t (fid, a)"],
    ["INSERT OR REPLACE INTO t VALUES (2, 'w', 'y', 5)"], ["delete t 'v', 'y', 2", "insert t 'w', 'y', 5"]),
]
