import SatchelCapture
import SatchelSQLite
import SatchelValues

/// Rules of tables that refer to themselves. Such a table is a tree, and no row below a hidden row is visible.
extension ScopeRules {
  /// The number of rows that SQL itself climbs in a tree, and the scope that decides if there are more.
  struct Climb {
    /// The greatest number of rows above a row that SQL reads.
    let rows: Int
    /// The number of the scope that decides about a row with more rows above it.
    let scope: Int64
  }

  /// The condition that no row above this row in its tree is hidden, along any of the table's references. Empty if the
  /// table is no tree. The search climbs from the row, so its cost grows with the depth. In a circle of rows, the
  /// search ends where it began.
  func treeCondition(_ table: TrackedTable) -> [Condition] {
    if table.treeKeys.isEmpty { return [] }
    return [Condition(subject: .tree, sql: climb.map { boundedTree(table, $0) } ?? wholeTree(table))]
  }

  private func wholeTree(_ table: TrackedTable) -> String {
    """
    NOT EXISTS (
      WITH RECURSIVE \(above(table))
      SELECT 1 FROM satchel_above WHERE \(hidden(table)))
    """
  }

  /// The same condition, but SQL reads only a limited number of rows above this row. If there are more rows, SQL calls
  /// the function of `OpenScopes`, and the scope decides.
  private func boundedTree(_ table: TrackedTable, _ climb: Climb) -> String {
    let key = table.schema.key.map { "\(quoted(table.name)).\(quoted(table.schema.columns[$0]))" }
    let arguments = ["\(climb.scope)", "\(place(table))"] + key
    return """
      (WITH RECURSIVE \(above(table, limit: "LIMIT \(climb.rows)"))
        SELECT CASE
          WHEN max(\(hidden(table))) THEN 0
          WHEN count(*) < \(climb.rows) THEN 1
          ELSE \(OpenScopes.function)(\(arguments.joined(separator: ", ")))
        END
        FROM satchel_above)
      """
  }

  /// For a tree that hides rows without a parent: the condition that a row above this row refers to a parent in another
  /// table. It does not hold for a circle of rows. It holds if there are more rows above than SQL reads, because then
  /// the scope decides in `treeCondition`.
  func namedAbove(_ table: TrackedTable) -> String {
    let name = quoted(table.name)
    let ways = table.treeKeys.enumerated().map { way, key in
      "EXISTS (SELECT 1 FROM \(name) WHERE \(Self.isAbove(name, key, way)) AND \(namesParent(table)))"
    }
    let isNamed = ways.joined(separator: " OR ")
    guard let climb else {
      return "EXISTS (WITH RECURSIVE \(above(table)) SELECT 1 FROM satchel_above WHERE \(isNamed))"
    }
    return """
      (WITH RECURSIVE \(above(table, limit: "LIMIT \(climb.rows)"))
        SELECT max(\(isNamed)) OR count(*) >= \(climb.rows) FROM satchel_above)
      """
  }

  /// Returns SQL for the rows above this row. Each reference has its own columns. If several references shared columns,
  /// SQLite would compare their values by the type of one reference.
  private func above(_ table: TrackedTable, limit: String = "") -> String {
    let (keys, name) = (table.treeKeys, quoted(table.name))
    /// Returns SQL for the values of one reference in the rows of `source`, and for whether the rows have them.
    func step(_ way: Int, _ source: String) -> (columns: String, isThere: String) {
      let own = keys[way].columns.map { "\(source).\(quoted(table.schema.columns[$0]))" }
      let columns = keys.indices.flatMap { $0 == way ? own : Self.names(keys[$0], $0).map { _ in "NULL" } }
      return (columns.joined(separator: ", "), Self.all(own.map { "\($0) IS NOT NULL" }))
    }
    let first = keys.indices.map { way in "SELECT \(step(way, name).columns) WHERE \(step(way, name).isThere)" }
    let further = keys.indices.flatMap { from in
      keys.indices.map { way in
        let next = step(way, "satchel_next")
        return """
          SELECT \(next.columns)
          FROM satchel_above JOIN \(name) AS satchel_next ON \(Self.isAbove("satchel_next", keys[from], from))
          WHERE \(next.isThere)
          """
      }
    }
    let columns = keys.indices.flatMap { Self.names(keys[$0], $0) }.joined(separator: ", ")
    return """
      satchel_above (\(columns)) AS (
          \((first + further).joined(separator: "\n    UNION\n    "))
          \(limit))
      """
  }

  /// The condition that a row of `satchel_above` is hidden or missing.
  private func hidden(_ table: TrackedTable) -> String {
    let name = quoted(table.name)
    let ways = table.treeKeys.enumerated().map { way, key in
      let isSeen =
        "EXISTS (SELECT 1 FROM \(rowsBesideTreeName(table)) AS \(name) WHERE \(Self.isAbove(name, key, way)))"
      return "(\(Self.names(key, way)[0]) IS NOT NULL AND NOT \(isSeen))"
    }
    return ways.joined(separator: " OR ")
  }

  /// Returns the columns to which the references of a tree lead. SQL must read no other column of the rows above,
  /// because each column that it reads counts as deciding about rights.
  func namingColumns(_ table: TrackedTable) -> String {
    var columns: [Name] = []
    for column in table.treeKeys.flatMap(\.parentColumns) where !columns.contains(column) { columns.append(column) }
    return quotedList(columns)
  }

  private static func names(_ key: ForeignKey, _ way: Int) -> [String] {
    key.columns.indices.map { "satchel_\(way + 1)_\($0 + 1)" }
  }

  private static func isAbove(_ row: String, _ key: ForeignKey, _ way: Int) -> String {
    all(zip(key.parentColumns, names(key, way)).map { refers("satchel_above.\($1)", to: "\(row).\(quoted($0))") })
  }

  /// Returns SQL for one step up a tree, from the row with the key `:satchel_1`, `:satchel_2`, ....
  ///
  /// The first column says whether nothing hides the row itself. The second column says whether the row refers to a
  /// parent in another table. It is also true if the row needs no such parent. Further columns follow for each
  /// reference of the tree: whether the row has this reference, and the key of the row to which it leads.
  func stepUpSQL(_ table: TrackedTable) -> String {
    let name = quoted(table.name)
    let key = table.schema.key.map { quoted(table.schema.columns[$0]) }
    let isOwn = Self.all(key.map { "satchel_own.\($0) = \(name).\($0)" })
    let alone = Self.all(conditionsOfRowAlone(table).map(\.sql))
    let keys = key.joined(separator: ", ")
    var columns = [
      "EXISTS (SELECT 1 FROM (SELECT \(keys) FROM \(name) WHERE \(alone)) AS satchel_own WHERE \(isOwn))",
      hidesOrphans(table) ? namesParent(table) : "1",
    ]
    var joins: [String] = []
    for (way, reference) in table.treeKeys.enumerated() {
      let own = reference.columns.map { "\(name).\(quoted(table.schema.columns[$0]))" }
      let parent = "satchel_parent_\(way + 1)"
      columns.append("(\(Self.all(own.map { "\($0) IS NOT NULL" })))")
      columns += key.map { "\(parent).\($0)" }
      let isParent = Self.all(zip(reference.parentColumns, own).map { Self.refers($1, to: "\(parent).\(quoted($0))") })
      joins.append("LEFT JOIN \(name) AS \(parent) ON \(isParent)")
    }
    return """
      \(visibleRowsCTE(above: table))SELECT \(columns.joined(separator: ", "))
      FROM \(name) \(joins.joined(separator: " "))
      WHERE \(isRow(table))
      """
  }
}
