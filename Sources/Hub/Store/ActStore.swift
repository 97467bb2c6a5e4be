import SatchelCrypto
import SatchelSQLite
import SatchelValues

/// The operators of the hub, and the record of their acts.
extension HubStore {
  static let operators = """
    CREATE TABLE satchel_operators (
      name TEXT PRIMARY KEY,
      key TEXT NOT NULL,      -- minisign public key with which the operator signs
      added INTEGER NOT NULL, -- milliseconds since 1970
      removed INTEGER         -- milliseconds since 1970; NULL: the operator may act
    ) WITHOUT ROWID
    """

  /// One row for each act. The numbers begin with 1 and have no gaps.
  static let acts = """
    CREATE TABLE satchel_acts (
      number INTEGER PRIMARY KEY,
      act TEXT NOT NULL,      -- JSON object: who did what, when and why, and the digest of the act before it
      signature TEXT NOT NULL -- of the operator over the act, in minisign's form
    )
    """

  /// All operators, including those who were removed.
  func operatorRecords() throws -> [Operator] {
    try database.all("SELECT name, key, added, removed FROM satchel_operators ORDER BY name") { row in
      Operator(
        name: row.text(0), key: PublicKey(line: row.text(1)), added: row.integer(2), removed: row.optionalInteger(3))
    }
  }

  func save(_ person: Operator, key: PublicKey) throws {
    try database.run(
      """
      INSERT OR REPLACE INTO satchel_operators (name, key, added, removed)
      VALUES (:name, :key, :added, :removed)
      """,
      [
        "name": .string(person.name), "key": .string(key.line), "added": .integer(person.added),
        "removed": person.removed.map { .integer($0) } ?? .null,
      ])
  }

  /// Records an act. Does nothing if `act` is nil.
  func add(_ act: SignedAct?) throws {
    guard let act else { return }
    try database.run(
      "INSERT INTO satchel_acts (number, act, signature) VALUES (:number, :act, :signature)",
      ["number": .integer(act.number), "act": .string(act.text), "signature": .string(act.signature)])
  }

  /// The acts, oldest first.
  func signedActs() throws -> [SignedAct] {
    try database.all("SELECT number, act, signature FROM satchel_acts ORDER BY number") { row in
      SignedAct(number: row.integer(0), text: row.text(1), signature: row.text(2))
    }
  }

  /// The newest acts, newest first.
  func newestActs(limit: Int64) throws -> [SignedAct] {
    try database.all(
      "SELECT number, act, signature FROM satchel_acts ORDER BY number DESC LIMIT :limit", ["limit": .integer(limit)]
    ) { row in SignedAct(number: row.integer(0), text: row.text(1), signature: row.text(2)) }
  }
}
