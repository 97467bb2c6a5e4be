import SatchelSQLite
import SatchelValues

/// A row of this device that got another primary key.
public struct RenumberedRow: Hashable, Sendable {
  public let table: Name
  public let old: Value
  public let new: Value
  /// The emission with which the row got its new key.
  let number: EmissionNumber
}

/// `satchel_rekeyed`: a row for each row of this device that got another primary key.
enum RenumberedTable {
  static let schema = """
    CREATE TABLE satchel_rekeyed (
      entry INTEGER PRIMARY KEY,
      table_name TEXT NOT NULL,
      old_key NOT NULL,
      new_key NOT NULL,
      number INTEGER NOT NULL,  -- the emission with which it did
      sequence INTEGER,         -- the last export before that; NULL: the hub gave the key, and knows
      known INTEGER NOT NULL    -- 1: the hub is known to know of it
    );
    \(index)
    """

  static let index = "CREATE INDEX satchel_rekeyed_keys ON satchel_rekeyed (table_name, new_key)"

  /// - Parameters:
  ///   - sequence: the last export before the row got its new key; nil: the hub gave the key.
  static func add(_ row: RenumberedRow, sequence: SequenceNumber?, in database: borrowing Database) throws {
    try database.run(
      """
      INSERT INTO satchel_rekeyed (table_name, old_key, new_key, number, sequence, known)
      VALUES (:table, :old, :new, :number, :sequence, :known)
      """, values(row, sequence))
  }

  /// Adds the record of a row, unless the database has that record already.
  static func restore(_ row: RenumberedRow, sequence: SequenceNumber?, in database: borrowing Database) throws {
    try database.run(
      """
      INSERT INTO satchel_rekeyed (table_name, old_key, new_key, number, sequence, known)
      SELECT :table, :old, :new, :number, :sequence, :known
      WHERE NOT EXISTS (
        SELECT 1 FROM satchel_rekeyed
        WHERE table_name = :table AND old_key = :old AND new_key = :new AND number = :number)
      """, values(row, sequence))
  }

  private static func values(_ row: RenumberedRow, _ sequence: SequenceNumber?) -> KeyValuePairs<String, Value> {
    [
      "table": .string(row.table.text), "old": row.old, "new": row.new, "number": .integer(row.number.rawValue),
      "sequence": sequence.map { .integer($0.rawValue) } ?? .null, "known": .integer(sequence == nil ? 1 : 0),
    ]
  }

  /// Records that the hub knows the new keys that this device chose before the acknowledged export.
  static func markKnown(before acknowledged: SequenceNumber, in database: borrowing Database) throws {
    try database.run(
      "UPDATE satchel_rekeyed SET known = 1 WHERE sequence < :acknowledged",
      ["acknowledged": .integer(acknowledged.rawValue)])
  }

  static func markAllKnown(in database: borrowing Database) throws {
    try database.run("UPDATE satchel_rekeyed SET known = 1")
  }

  /// Whether this device itself gave the key to a row of the table.
  static func isGivenHere(_ key: Value, in table: Name, _ database: borrowing Database) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_rekeyed WHERE table_name = :table AND new_key = :key AND sequence IS NOT NULL",
      ["table": .string(table.text), "key": key]
    ) { _ in true } ?? false
  }

  /// The rows that got other keys with one emission, in the order of the changes.
  static func rows(with number: EmissionNumber, in database: borrowing Database) throws -> [RenumberedRow] {
    try database.all(
      "SELECT \(columns) FROM satchel_rekeyed WHERE number = :number ORDER BY entry",
      ["number": .integer(number.rawValue)]
    ) { row($0) }
  }

  /// The rows whose new keys the hub may not know yet, in the order of the changes.
  static func unknownToHub(in database: borrowing Database) throws -> [RenumberedRow] {
    try database.all("SELECT \(columns) FROM satchel_rekeyed WHERE known = 0 ORDER BY entry") { row($0) }
  }

  /// All rows that ever got other keys, in the order of the changes.
  static func all(in database: borrowing Database) throws -> [RenumberedRow] {
    try database.all("SELECT \(columns) FROM satchel_rekeyed ORDER BY entry") { row($0) }
  }

  /// The emissions with which rows got other keys, in the order of their numbers.
  static func emissions(
    after first: EmissionNumber, through last: EmissionNumber, in database: borrowing Database
  ) throws -> [EmissionNumber] {
    try database.all(
      "SELECT DISTINCT number FROM satchel_rekeyed WHERE number > :first AND number <= :last ORDER BY number",
      ["first": .integer(first.rawValue), "last": .integer(last.rawValue)]
    ) { EmissionNumber($0.integer(0)) }
  }

  private static let columns = "table_name, old_key, new_key, number"

  private static func row(_ row: borrowing Statement) -> RenumberedRow {
    RenumberedRow(
      table: Name(row.text(0)), old: row.value(1), new: row.value(2), number: EmissionNumber(row.integer(3)))
  }
}
