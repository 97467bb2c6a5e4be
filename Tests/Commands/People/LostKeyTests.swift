import Foundation
import SatchelJSON
import Testing

/// After its backup, the hub assigned new primary keys. Then the hub is restored. Changes that devices wrote about rows
/// with these keys must stay with these rows.
@Suite("Keys of the lost time")
struct LostKeyTests {
  private let camp: CommandLineFixture
  private static let devices = ["a", "b"]

  init() throws { camp = try CommandLineFixture() }

  private func open(_ schema: String, _ tables: String) throws {
    // The names a and b sort before `hub`. So a sync imports these devices' bundles before the hub's own bundles.
    try camp.open(schema, CommandLineFixture.definition(tables), devices: Self.devices)
    try round()
    try camp.backUp()
  }

  private func round() throws { try camp.round(Self.devices) }

  /// The hub is restored from its backup. Then the devices exchange bundles in this order.
  private func restore(then order: [String]) throws {
    try camp.restore()
    for _ in 0..<4 { try camp.round(order) }
    for name in order { #expect(camp.device(name, "doctor").code == 0) }
    #expect(camp.hub("doctor").code == 0)
  }

  private func agree(on rows: String, _ sql: String) throws {
    for database in ["office.sqlite", "a/data.sqlite", "b/data.sqlite"] {
      #expect(try camp.rows(database, sql) == rows, "\(database)")
    }
  }

  private static let orders = [devices, devices.reversed()]

  @Test("a note about another device's row stays with that row", arguments: orders, [false, true])
  func rekeyed(order: [String], isDelivered: Bool) throws {
    try open(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, made TEXT, n INTEGER, note TEXT); INSERT INTO t VALUES (1, 'office', 0, \
      '')
      """,
      #"{ "t": { "keys": "rekey", "columns": { "n": "sum" } } }"#)
    for name in ["a", "b"] { try camp.sql("\(name)/data.sqlite", "INSERT INTO t VALUES (2, '\(name)', 0, '')") }
    for _ in 0..<2 { try round() }
    try camp.sql("b/data.sqlite", "UPDATE t SET n = n + 100, note = 'about a' WHERE made = 'a'")
    if isDelivered { try round() }
    try restore(then: order)
    try agree(on: "a|100|about a\nb|0|\noffice|0|", "SELECT made, n, note FROM t ORDER BY made")
  }

  @Test("children of rows that were folded hang on the same parents", arguments: orders, [false, true])
  func folded(order: [String], isDelivered: Bool) throws {
    try open(
      """
      CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT UNIQUE, words TEXT);
      CREATE TABLE visits (id INTEGER PRIMARY KEY, person INTEGER REFERENCES people (id), note TEXT);
      """, #"{ "people": { "unique": "fold", "keys": "rekey" }, "visits": { "keys": "rekey" } }"#)
    try camp.sql("a/data.sqlite", "INSERT INTO people VALUES (2, 'ida', ''), (3, 'olu', '')")
    try camp.sql("b/data.sqlite", "INSERT INTO people VALUES (2, 'olu', ''), (3, 'eve', '')")
    for _ in 0..<2 { try round() }
    try camp.sql(
      "b/data.sqlite",
      "UPDATE people SET words = 'seen ' || name; INSERT INTO visits SELECT NULL, id, 'visit of ' || name FROM people")
    if isDelivered { try round() }
    try restore(then: order)
    try agree(
      on: "eve|seen eve|visit of eve\nida|seen ida|visit of ida\nolu|seen olu|visit of olu",
      "SELECT name, words, note FROM people LEFT JOIN visits ON person = people.id ORDER BY name")
  }
}
