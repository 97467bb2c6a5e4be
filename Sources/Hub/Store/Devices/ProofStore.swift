import SatchelBundle
import SatchelJSON
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The result of comparing a device's rows with the rows that the hub expects there.
public struct StateProof: Sendable {
  public enum Result: String, Sendable, CaseIterable {
    /// Both sides had the same rows.
    case verified
    case differs
    /// The hub did not know any more which rows the device should have.
    case unknown
  }

  public let result: Result
  /// The time of the last comparison, in milliseconds since 1970.
  public let at: Int64
  /// The export with the digests, and the emission on which the device made this export.
  public let sequence: SequenceNumber
  public let emission: EmissionNumber
  /// The last time when both sides had the same rows, in milliseconds since 1970. nil if they never had.
  public let verified: Int64?
  /// The reason why the result is unknown, or why the differing rows are not named. For people.
  public let words: String?
  public let differences: [StateDifference]
  /// Whether the hub asks the device for the rows that differ, one by one.
  public let isAsking: Bool

  /// A sentence for people with the tables whose rows differ on a device.
  public func differenceWords(of device: String) -> String {
    let tables = differences.map { difference in
      let (here, there) = (difference.rowsHere, difference.rowsThere)
      return here == there ? "\(difference.table)" : "\(difference.table) (\(there) rows for \(here))"
    }
    return "The rows of \(device) differ from the hub's record of them, in \(tables.joined(separator: ", "))"
  }
}

extension HubStore {
  /// One row for each device that sent digests of its rows.
  static let proofs = """
    CREATE TABLE satchel_proofs (
      device TEXT PRIMARY KEY,
      result TEXT NOT NULL,       -- verified, differs, unknown
      at INTEGER NOT NULL,        -- milliseconds since 1970 when it was compared last
      sequence INTEGER NOT NULL,  -- the export that told of the rows
      emission INTEGER NOT NULL,  -- on which it stood
      verified INTEGER,           -- milliseconds since 1970 when both last had the same rows; NULL: never
      words TEXT,                 -- why the result is unknown
      differences TEXT NOT NULL DEFAULT '[]', -- JSON: the tables that differ, with their sums and numbers of rows
      questions TEXT NOT NULL DEFAULT '[]',   -- JSON: the sums of which the device is asked for the rows
      asked INTEGER               -- the emission that asked first; NULL: none has yet
    ) WITHOUT ROWID
    """

  /// One row for each row of the dataset that differs between a device and what the hub expects there.
  static let differentRows = """
    CREATE TABLE satchel_different_rows (
      device TEXT NOT NULL,
      table_name TEXT NOT NULL,
      key TEXT NOT NULL,   -- JSON array
      kind TEXT NOT NULL,  -- only-at-hub, only-on-device, different
      PRIMARY KEY (device, table_name, key)
    ) WITHOUT ROWID
    """

  /// The last comparison of a device's rows. nil if the device never sent digests of its rows.
  func proof(of device: ReplicaID) throws -> StateProof? {
    try database.first(
      """
      SELECT result, at, sequence, emission, verified, words, differences, questions
      FROM satchel_proofs
      WHERE device = :device
      """, ["device": .string(device.text)]
    ) { row in
      StateProof(
        result: StateProof.Result(rawValue: row.text(0)) ?? .unknown, at: row.integer(1),
        sequence: SequenceNumber(row.integer(2)), emission: EmissionNumber(row.integer(3)),
        verified: row.optionalInteger(4),
        words: row.optionalText(5), differences: StateDifference.parse(list: row.text(6)),
        isAsking: !StateEntry.Question.parse(list: row.text(7)).isEmpty)
    }
  }

  /// The checksums that differ. The hub requests from the device the rows in each of them.
  func questions(for device: ReplicaID) throws -> [StateEntry.Question] {
    try database.first("SELECT questions FROM satchel_proofs WHERE device = :device", ["device": .string(device.text)])
    {
      StateEntry.Question.parse(list: $0.text(0))
    } ?? []
  }

  /// Whether the hub must ask this device for rows, and no emission has carried the question yet.
  func mustAsk(_ device: ReplicaID) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_proofs WHERE device = :device AND questions <> '[]' AND asked IS NULL",
      ["device": .string(device.text)]
    ) { _ in true } ?? false
  }

  /// The first emission that carried the question. nil if there is none.
  private func askedBy(_ device: ReplicaID) throws -> EmissionNumber? {
    try database.first("SELECT asked FROM satchel_proofs WHERE device = :device", ["device": .string(device.text)]) {
      $0.optionalInteger(0).map { EmissionNumber($0) }
    } ?? nil
  }

  func markAsked(_ device: ReplicaID, by number: EmissionNumber) throws {
    try database.run(
      "UPDATE satchel_proofs SET asked = :number WHERE device = :device AND questions <> '[]' AND asked IS NULL",
      ["device": .string(device.text), "number": .integer(number.rawValue)])
  }

  /// Makes the next emission ask a device to name its rows of these sums.
  func ask(_ device: ReplicaID, _ questions: [StateEntry.Question]) throws {
    try database.run(
      "UPDATE satchel_proofs SET questions = :questions, asked = NULL WHERE device = :device",
      ["device": .string(device.text), "questions": .string(StateEntry.Question.text(of: questions))])
  }

  /// Saves the outcome of a comparison of a device's rows.
  func saveProof(_ outcome: StateCheck.Outcome, of device: ReplicaID, _ changes: Manifest.Changes, at time: Int64)
    throws
  {
    let before = try proof(of: device)
    var (result, words, differences) = (StateProof.Result.verified, String?.none, [StateDifference]())
    switch outcome.result {
    case .verified: break
    case .differs(let found): (result, differences) = (.differs, found)
    // A result that differed before stays, because the rows still differ.
    case .unknown(let why):
      (result, words) = (before?.result == .differs ? .differs : .unknown, why)
      differences = before?.differences ?? []
    }
    let asked = try questions(for: device)
    let hasHeard = try askedBy(device).map { $0 <= changes.received } ?? false
    // The device has received the question. It has answered it, or has too many rows for an answer. So the hub does not
    // ask again.
    let left = result == .verified || hasHeard ? [] : asked
    if result == .differs, hasHeard, outcome.compared.isEmpty, !asked.isEmpty {
      words = "the parts that differ have too many rows to be named one by one"
    }
    try database.run(
      """
      INSERT INTO satchel_proofs (device, result, at, sequence, emission, verified, words, differences, questions)
      VALUES (:device, :result, :at, :sequence, :emission, :verified, :words, :differences, :questions)
      ON CONFLICT (device) DO UPDATE SET result = excluded.result, at = excluded.at, sequence = excluded.sequence,
        emission = excluded.emission, verified = excluded.verified, words = excluded.words,
        differences = excluded.differences, questions = excluded.questions
      """,
      [
        "device": .string(device.text), "result": .string(result.rawValue), "at": .integer(time),
        "sequence": .integer(changes.sequence.rawValue), "emission": .integer(changes.received.rawValue),
        "verified": (result == .verified ? time : before?.verified).map { .integer($0) } ?? .null,
        "words": words.map { .string($0) } ?? .null, "differences": .string(StateDifference.text(of: differences)),
        "questions": .string(StateEntry.Question.text(of: left)),
      ])
    if result == .verified {
      try database.run("DELETE FROM satchel_different_rows WHERE device = :device", ["device": .string(device.text)])
    } else if !outcome.compared.isEmpty {
      try replaceDifferentRows(of: device, by: outcome.rows)
    }
  }

  private func replaceDifferentRows(of device: ReplicaID, by rows: [DifferentRow]) throws {
    try database.run("DELETE FROM satchel_different_rows WHERE device = :device", ["device": .string(device.text)])
    for row in rows {
      try database.run(
        "INSERT INTO satchel_different_rows (device, table_name, key, kind) VALUES (:device, :table, :key, :kind)",
        [
          "device": .string(device.text), "table": .string(row.table.text), "key": .text(canonicalKey(row.key)),
          "kind": .string(row.kind.rawValue),
        ])
    }
  }

  /// The rows on a device that differ from the rows that the hub expects there, from the last comparison.
  func differentRows(of device: ReplicaID) throws -> [DifferentRow] {
    try database.all(
      "SELECT table_name, key, kind FROM satchel_different_rows WHERE device = :device ORDER BY table_name, key",
      ["device": .string(device.text)]
    ) { row -> DifferentRow? in
      guard case .text(let key) = row.value(1), let kind = DifferentRow.Kind(rawValue: row.text(2)) else { return nil }
      return DifferentRow(table: Name(row.text(0)), key: try RowKey(canonical: key), kind: kind)
    }.compactMap(\.self)
  }

  func forgetDifferentRows(of device: ReplicaID) throws { try replaceDifferentRows(of: device, by: []) }
}

extension StateDifference {
  fileprivate static func text(of differences: [StateDifference]) -> String {
    let list = differences.map { difference -> JSONValue in
      [
        "table": .string(difference.table.text), "sums": .array(difference.sums.map { .integer(Int64($0)) }),
        "here": .integer(difference.rowsHere), "there": .integer(difference.rowsThere),
      ]
    }
    return String(decoding: JSONValue.array(list).compactBytes, as: UTF8.self)
  }

  fileprivate static func parse(list text: String) -> [StateDifference] {
    let list = try? JSONValue.parse(Array(text.utf8), limits: JSONLimits()).arrayValue
    return (list ?? []).compactMap { value in
      guard let table = value["table"]?.stringValue, let sums = value["sums"]?.arrayValue,
        let here = value["here"]?.integerValue,
        let there = value["there"]?.integerValue
      else { return nil }
      return StateDifference(
        table: Name(table), sums: sums.compactMap { $0.integerValue.map { Int($0) } }, rowsHere: here, rowsThere: there)
    }
  }
}
