private let any = ["CREATE TABLE t (k PRIMARY KEY, v)"]

/// Values that all differ from each other.
private let values = [
  "NULL", "0", "1", "-1", "9223372036854775807", "-9223372036854775808", "0.0", "-0.0", "1.0", "1e300", "5e-324",
  "9e999",
  "-9e999",
  "''", "'1'", "'a'", "'A'", "'\u{e9}'", "'e\u{301}'", "CAST(x'ff' AS TEXT)", "CAST(x'610062' AS TEXT)",
  "CAST(x'6100' AS TEXT)",
  "x''", "x'61'", "x'6100'",
]

/// Values that other tools often confuse with each other.
let valueStories: [Story] =
  [
    Story(
      "an integer becomes the real of the same size", setUp: any + ["INSERT INTO t VALUES ('a', 1)"],
      writes: ["UPDATE t SET v = 1.0"], steps: ["update t 'a': v 1 -> 1.0"]),
    Story(
      "zero becomes negative", setUp: any + ["INSERT INTO t VALUES ('a', 0.0)"], writes: ["UPDATE t SET v = -0.0"],
      steps: ["update t 'a': v 0.0 -> -0.0"]),
    Story(
      "text becomes a blob", setUp: any + ["INSERT INTO t VALUES ('a', '')"], writes: ["UPDATE t SET v = x''"],
      steps: ["update t 'a': v '' -> x''"]),
    Story(
      "a composed letter becomes a decomposed one", setUp: any + ["INSERT INTO t VALUES ('a', '\u{e9}')"],
      writes: ["UPDATE t SET v = 'e\u{301}'"], steps: ["update t 'a': v '\u{e9}' -> 'e\u{301}'"]),
    Story(
      "rows whose keys look alike",
      setUp: ["CREATE TABLE t (k TEXT PRIMARY KEY, v)", "INSERT INTO t VALUES ('\u{e9}', 1), ('e\u{301}', 2)"],
      writes: ["UPDATE t SET v = v + 10", "DELETE FROM t WHERE k = '\u{e9}'"],
      steps: ["delete t '\u{e9}', 1", "update t 'e\u{301}': v 2 -> 12"]),
    Story(
      "columns convert what they get",
      setUp: [
        "CREATE TABLE t (k TEXT PRIMARY KEY, i INTEGER, r REAL, n NUMERIC, b BLOB, s TEXT)",
        "INSERT INTO t VALUES (1, '2', 3, '4.0', 5, 6)",
      ],
      writes: [
        "UPDATE t SET i = 2.0, r = '3', n = 4, b = 5.0, s = 7", "INSERT INTO t VALUES (2, 'x', -0.5, 1.5, 1, 1.0)",
      ],
      steps: ["update t '1': b 5 -> 5.0, s '6' -> '7'", "insert t '2', 'x', -0.5, 1.5, 1, '1.0'"]),
    Story(
      "keys of every kind",
      setUp: any + ["INSERT INTO t VALUES " + distinctKeys.map { "(\($0), 1)" }.joined(separator: ", ")],
      writes: ["UPDATE t SET v = 1", "UPDATE t SET v = 2 WHERE typeof(k) = 'blob' AND k = x'61'"],
      steps: ["update t x'61': v 1 -> 2"]),
  ]
  + values.indices.map { i in
    let (from, to) = (values[i], values[(i + 1) % values.count])
    return Story(
      "\(from) survives, and so does \(to)", setUp: any + ["INSERT INTO t VALUES (1, \(from)), (2, \(to)), (3, 'x')"],
      writes: [
        "UPDATE t SET v = \(to) WHERE k = 1", "UPDATE t SET v = \(from) WHERE k = 2",
        "UPDATE t SET v = \(from) WHERE k = 3",
        "UPDATE t SET v = \(to) WHERE k = 3",
      ],
      steps: [
        "update t 1: v \(shown[i]) -> \(shown[(i + 1) % values.count])",
        "update t 2: v \(shown[(i + 1) % values.count]) -> \(shown[i])",
        "update t 3: v 'x' -> \(shown[(i + 1) % values.count])",
      ])
  }

private let distinctKeys = values.filter { !["NULL", "0.0", "-0.0", "1.0"].contains($0) }

/// The values as the function `literal` writes them.
private let shown = values.map { value in
  switch value {
  case "1e300": "1e+300"
  case "9e999": "inf"
  case "-9e999": "-inf"
  case let cast where cast.hasPrefix("CAST("): "text " + cast.dropFirst(5).prefix { $0 != " " }
  case let other: other
  }
}
