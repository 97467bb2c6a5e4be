/// Tables and columns whose names need quotes in SQL.
let nameStories: [Story] =
  [
    "old", "new", "excluded", "select", "satchel", "main", "rowid", "generation", "it's \"quoted\"", "with space",
    "[x]", "`y`",
    "naïve 🏕", "semi;colon--",
  ].map { table in
    let name = "\"" + table.replacing("\"", with: "\"\"") + "\""
    return Story(
      "the table \(table)", tables: [table],
      setUp: [
        "CREATE TABLE \(name) (id INTEGER PRIMARY KEY, u UNIQUE, a)",
        "INSERT INTO \(name) VALUES (1, 'x', 1), (2, 'y', 2), (3, 'z', 3)",
      ],
      writes: [
        "UPDATE OR REPLACE \(name) SET u = 'y' WHERE id = 1", "REPLACE INTO \(name) (u, a) VALUES ('z', 9)",
        "UPDATE \(name) SET id = 5 WHERE id = 1",
      ],
      steps: [
        "delete \(table) 1, 'x', 1", "delete \(table) 2, 'y', 2", "delete \(table) 3, 'z', 3",
        "insert \(table) 4, 'z', 9",
        "insert \(table) 5, 'y', 1",
      ])
  }
  + [
    "old", "new", "select", "rowid", "satchel_generation", "SATCHEL_STAMP", "satchel_existed", "satchel_row",
    "generation",
    "stamp", "one", "now",
    "it's \"quoted\"", "with space", "e\u{301}",
  ].map { column in
    let name = "\"" + column.replacing("\"", with: "\"\"") + "\""
    return Story(
      "the column \(column)",
      setUp: ["CREATE TABLE t (id TEXT PRIMARY KEY, \(name) UNIQUE)", "INSERT INTO t VALUES ('a', 1), ('b', 2)"],
      writes: ["UPDATE t SET \(name) = 3 WHERE id = 'a'", "REPLACE INTO t VALUES ('c', 2)"],
      steps: ["delete t 'b', 2", "update t 'a': \(column) 1 -> 3", "insert t 'c', 2"])
  }
  + [
    "old", "satchel_generation", "satchel_stamp", "satchel_stamp_", "key",
  ].map { column in
    Story(
      "the key \(column)",
      setUp: [
        "CREATE TABLE t (\"\(column)\" PRIMARY KEY, satchel_stamp_x)", "INSERT INTO t VALUES ('a', 1), ('b', 2)",
      ],
      writes: ["UPDATE t SET \"\(column)\" = 'c' WHERE satchel_stamp_x = 1"],
      steps: ["delete t 'a', 1", "insert t 'c', 1"])
  } + [
    Story(
      "two columns that look alike",
      setUp: [
        "CREATE TABLE t (id INTEGER PRIMARY KEY, \"\u{e9}\", \"e\u{301}\")", "INSERT INTO t VALUES (1, 'c', 'd')",
      ],
      writes: ["UPDATE t SET \"e\u{301}\" = 'D'"], steps: ["update t 1: e\u{301} 'd' -> 'D'"]),
    Story(
      "two tables that look alike", tables: ["\u{e9}", "e\u{301}"],
      setUp: [
        "CREATE TABLE \"\u{e9}\" (id INTEGER PRIMARY KEY)", "CREATE TABLE \"e\u{301}\" (id INTEGER PRIMARY KEY)",
      ],
      writes: ["INSERT INTO \"e\u{301}\" VALUES (1)"], steps: ["insert e\u{301} 1"]),
  ]
