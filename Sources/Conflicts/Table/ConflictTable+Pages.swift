import SatchelCapture
import SatchelJSON
import SatchelSQLite
import SatchelValues

/// A number of conflicts that have their table and their kind in common.
public struct ConflictCount: Sendable {
  public let table: Name
  public let kind: ConflictKind
  public let state: ConflictState
  public let count: Int64
}

/// Lists of conflicts by a filter. A unit counts once.
extension ConflictTable {
  /// The beginning of a query. `found` has the conflicts of a filter. `heads` has those of them that belong to no unit,
  /// and one conflict for each unit. A device may name any conflict as the representative of a unit. If that conflict
  /// is missing, another conflict of the unit takes its place.
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

  /// One page of the conflicts of a filter, oldest first, and the number of all conflicts of the filter.
  /// - Parameter tables: the tables whose labels are searched for the filter's text.
  public static func page(
    _ filter: ConflictFilter, _ tables: [TrackedTable] = [], from first: Int64, count: Int64,
    in database: borrowing Database
  ) throws -> (conflicts: [StoredConflict], total: Int64) {
    // One query gets the page and the total, because each query reads all conflicts of the wanted states.
    let found = try all(
      "SELECT id, count(*) OVER () FROM heads ORDER BY noted, id LIMIT :count OFFSET :first", filter, tables,
      [("count", .integer(count)), ("first", .integer(first))], in: database
    ) { (id: ConflictID($0.text(0)), total: $0.integer(1)) }
    guard let total = found.first?.total else {
      return ([], first == 0 ? 0 : try self.count(filter, tables, in: database))
    }
    return (try found.compactMap { try $0.id.flatMap { try conflict($0, in: database) } }, total)
  }

  /// The number of conflicts of a filter.
  public static func count(
    _ filter: ConflictFilter, _ tables: [TrackedTable] = [], in database: borrowing Database
  ) throws -> Int64 {
    try all("SELECT count(*) FROM heads", filter, tables, in: database) { $0.integer(0) }.first ?? 0
  }

  /// The numbers of conflicts of a filter, by table, kind and state.
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

  /// The ids of all conflicts of a filter. Each change of a unit that fits the filter is among them.
  public static func ids(
    _ filter: ConflictFilter, _ tables: [TrackedTable] = [], in database: borrowing Database
  ) throws -> Set<ConflictID> {
    Set(try all("SELECT id FROM found", filter, tables, in: database) { ConflictID($0.text(0)) }.compactMap(\.self))
  }

  /// The conflict of a filter that follows another conflict in the list, and how many others the list has. After the
  /// last conflict comes the first one; nil: there is no other.
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

  /// The conflicts of one row in any state, oldest first.
  public static func about(_ key: RowKey, of table: TrackedTable, in database: borrowing Database) throws
    -> [StoredConflict]
  {
    // One key can be spelled in several ways.
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
