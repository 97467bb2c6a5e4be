import Foundation
import SatchelValues
import Testing

/// A default value that gives each row a random key.
private let random = "DEFAULT (lower(hex(randomblob(8))))"

@Test(
  "a key that a random default makes is a new row's, also if a trigger of the app's writes the row at once",
  arguments: [
    "CREATE TABLE t (k TEXT NOT NULL \(random) PRIMARY KEY, a, b)",
    "CREATE TABLE t (k TEXT NOT NULL \(random) PRIMARY KEY, a, b) WITHOUT ROWID",
    "CREATE TABLE t (fid INTEGER PRIMARY KEY, k TEXT NOT NULL UNIQUE \(random), a, b)",
  ], [false, true])
func randomDefault(table: String, tidiesOften: Bool) throws {
  let rules = table.contains("fid") ? ["t": #"{ "key": ["k"] }"#] : [:]
  let captured = try CapturedDatabase(["t"], setUp: [table], rules: rules)
  if tidiesOften { try captured.tidyOften(room: 0, interval: 1) }
  try captured.write(
    "INSERT INTO t (k, a) VALUES ('old', 1)",
    "CREATE TRIGGER app AFTER INSERT ON t BEGIN UPDATE t SET b = NEW.a WHERE k = NEW.k; END",
    "INSERT INTO t (a) VALUES (2), (3)", "INSERT OR REPLACE INTO t (k, a) VALUES ('old', 4)",
    "UPDATE t SET b = 5 WHERE a = 2", "DELETE FROM t WHERE a = 3")
  #expect(try captured.faults() == [])
  try captured.begin(Generation(1))
  try captured.write("INSERT INTO t (a) VALUES (6)", "UPDATE t SET a = 7 WHERE a = 6", "UPDATE t SET a = 8 WHERE a = 2")
  #expect(try captured.faults() == [])
}
