import SatchelCapture
import SatchelJSON
import SatchelSQLite
import SatchelValues

/// The number of conflicts with the same table, kind and state.
public struct ConflictCount: Sendable {
  public let table: Name
  public let kind: ConflictKind
  public let state: ConflictState
  public let count: Int64
}

/// Selects conflicts by a filter. Lists and counts have a unit only once.
extension ConflictTable {
  /// The beginning of each query. `found` has all conflicts that the filter selects. `heads` has those without a
  /// unit, and one conflict of each unit. That is the conflict that represents the unit, or else another conflict of
  /// the unit: a device may name a conflict that is missing.
  private static let heads = """
    WITH
      found AS MATERIALIZED (
        SELECT id, noted, unit, device FROM satchel_conflicts WHERE \(ConflictConditions.sql)
      ),
      heads AS (
        SELECT id, noted FROM found WHERE unit IS NULL
        UNION ALL
        SELECT id, noted
        FROM (
          SELECT id, noted, row_number() OVER (PARTITION BY unit, device ORDER BY id IS NOT unit, noted, id) AS place
          FROM found
          WHERE unit IS NOT NULL)
        WHERE place = 1
      )
    """

  private static func all<T>(
    _ sql: String, _ filter: ConflictFilter, _ tables: [TrackedTable], _ more: [(String, Value)] = [],
    in database: borrowing Database, _ body: (borrowing Statement) throws -> T
  ) throws -> [T] {
    let labelled = try filter.text.map { try RowLabels.rows(labelled: $0, tables, in: database) } ?? .null
    return try database.using("\(heads)\n\(sql)") { statement in
      try ConflictConditions(filter: filter, labelled: labelled).bind(to: statement)
      for (name, value) in more { try statement.bind(value, to: name) }
      var result: [T] = []
      while try statement.step() { result.append(try body(statement)) }
      return result
    }
  }

  /// One page of the conflicts that the filter selects, oldest first, and the number of all of them.
  /// - Parameter tables: the tables in whose labels the filter's text is searched.
  public static func page(
    _ filter: ConflictFilter, _ tables: [TrackedTable] = [], from first: Int64, count: Int64,
    in database: borrowing Database
  ) throws -> (conflicts: [StoredConflict], total: Int64) {
    // One query returns the page and the total, because each query must read all conflicts in the filter's states.
    let found = try all(
      "SELECT id, count(*) OVER () FROM heads ORDER BY noted, id LIMIT :count OFFSET :first", filter, tables,
      [("count", .integer(count)), ("first", .integer(first))], in: database
    ) { (id: ConflictID($0.text(0)), total: $0.integer(1)) }
    guard let total = found.first?.total else {
      return ([], first == 0 ? 0 : try self.count(filter, tables, in: database))
    }
    return (try found.compactMap { try $0.id.flatMap { try conflict($0, in: database) } }, total)
  }

  /// The number of conflicts that the filter selects.
  public static func count(
    _ filter: ConflictFilter, _ tables: [TrackedTable] = [], in database: borrowing Database
  ) throws -> Int64 {
    try all("SELECT count(*) FROM heads", filter, tables, in: database) { $0.integer(0) }.first ?? 0
  }

  /// The number of conflicts that the filter selects, for each table, kind and state.
  public static func counts(
    _ filter: ConflictFilter, _ tables: [TrackedTable] = [], in database: borrowing Database
  ) throws -> [ConflictCount] {
    try all(
      """
      SELECT table_name, kind, state, count(*)
      FROM satchel_conflicts
      WHERE id IN (SELECT id FROM heads)
      GROUP BY table_name, kind, state
      ORDER BY table_name, kind, state
      """, filter, tables, in: database
    ) { row -> ConflictCount? in
      guard let kind = ConflictKind(rawValue: row.text(1)), let state = ConflictState(rawValue: row.text(2)) else {
        return nil
      }
      return ConflictCount(table: Name(row.text(0)), kind: kind, state: state, count: row.integer(3))
    }.compactMap(\.self)
  }

  /// The ids of all conflicts that the filter selects. Units are not shortened to one conflict here.
  public static func ids(
    _ filter: ConflictFilter, _ tables: [TrackedTable] = [], in database: borrowing Database
  ) throws -> Set<ConflictID> {
    Set(try all("SELECT id FROM found", filter, tables, in: database) { ConflictID($0.text(0)) }.compactMap(\.self))
  }

  /// The conflict that follows `conflict` in the filter's list, and the number of other conflicts in the list. The
  /// first conflict follows the last one. nil if the list has no other conflict.
  public static func next(
    after conflict: StoredConflict, _ filter: ConflictFilter, _ tables: [TrackedTable] = [],
    in database: borrowing Database
  ) throws -> (id: ConflictID, left: Int64)? {
    try all(
      """
      SELECT id, count(*) OVER ()
      FROM heads
      WHERE id <> :id
      ORDER BY (noted, id) <= (:noted, :id), noted, id
      LIMIT 1
      """, filter, tables, [("id", .string(conflict.record.id.text)), ("noted", .integer(conflict.noted))],
      in: database
    ) { row in ConflictID(row.text(0)).map { (id: $0, left: row.integer(1)) } }.first ?? nil
  }

  /// The conflicts about one row, in any state, oldest first.
  public static func about(_ key: RowKey, of table: TrackedTable, in database: borrowing Database) throws
    -> [StoredConflict]
  {
    // A key may have several spellings. If so, all conflicts of the table are read.
    let spelled: Value = table.keepsSpellings ? .null : .text(canonicalKey(key))
    return try database.all(
      """
      SELECT \(columns)
      FROM satchel_conflicts
      WHERE table_name = :table AND key = coalesce(:key, key)
      ORDER BY noted, id
      """, ["table": .string(table.name.text), "key": spelled]
    ) { try stored($0) }.filter { $0.record.key == key }
  }
}
