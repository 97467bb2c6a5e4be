import SatchelCapture
import SatchelSQLite
import SatchelValues

/// The rows and tables on which the visibility of a row depends.
struct ScopeLinks {
  /// A reference along which a table's rows inherit visibility.
  struct Link {
    let parent: Int
    /// SQL for the numbers of the rows that refer to the rows in `:numbers`, a JSON array. nil if the rows that
    /// referred to a deleted row cannot be found. This is so if the reference does not lead to the parent's key, or if
    /// equal values may have different bytes.
    let children: String?
    /// SQL for the numbers of the rows that refer to no parent.
    let orphans: String
  }

  /// For each table, the links to its parents.
  let links: [[Link]]
  /// For each table: the tables in which its rule reads rows other than its own row. Any row of those tables may decide
  /// about any row of this table.
  let reads: [Set<Int>]
  /// The indices of the tables, parents before their children.
  let order: [Int]

  init(_ store: HubStore, _ rules: ScopeRules) throws {
    let tables = store.tables
    links = tables.map { table in
      (table.parentKeys(in: store.dataset) + table.treeKeys).compactMap { key in
        store.place(of: key.parent).map { parent in
          Link(
            parent: parent, children: Self.children(of: tables[parent], in: table, along: key, store),
            orphans: Self.numbers(
              of: table, where: key.columns.map { "\(Self.column($0, table)) IS NULL" }.joined(separator: " OR ")))
        }
      }
    }
    reads = try tables.map { table in
      guard let rule = table.rules.visible else { return [] }
      return try Self.reads(rule, of: table, store)
    }
    order = Self.parentsFirst(links)
  }

  /// Returns a table and all tables above it.
  func withAbove(_ place: Int) -> [Int] {
    var (found, next) = ([place], 0)
    while next < found.count {
      for link in links[found[next]] where !found.contains(link.parent) { found.append(link.parent) }
      next += 1
    }
    return found
  }

  /// The tables of which every row may decide. Either a rule reads the table, or the children of its rows cannot be
  /// found.
  var readAsWhole: Set<Int> {
    links.joined().filter { $0.children == nil }.reduce(into: reads.reduce([]) { $0.union($1) }) {
      $0.insert($1.parent)
    }
  }

  /// Returns the SQL for `Link.children`. Without an index on the referring columns, each use reads the whole table.
  private static func children(
    of parent: TrackedTable, in table: TrackedTable, along key: ForeignKey, _ store: HubStore
  ) -> String? {
    let columns = key.columns.map { table.schema.columns[$0] }
    let isKey = key.parentColumns.sorted() == parent.schema.key.map { parent.schema.columns[$0] }.sorted()
    let isComparable = zip(columns, key.parentColumns).allSatisfy { own, other in
      let comparison = store.database.comparison(of: own, in: table.name)
      return comparison?.isBinary == true && comparison == store.database.comparison(of: other, in: parent.name)
    }
    guard isKey, isComparable else { return nil }
    let names = RowNumbers.names(parent)
    return numbers(
      of: table,
      where: """
        (\(key.columns.map { column($0, table) }.joined(separator: ", "))) IN (
          SELECT \(quotedList(key.parentColumns))
          FROM \(names.table)
          WHERE \(names.number) IN (SELECT value FROM json_each(:numbers)))
        """)
  }

  private static func column(_ column: Int, _ table: TrackedTable) -> String {
    "\(quoted(table.name)).\(quoted(table.schema.columns[column]))"
  }

  private static func numbers(of table: TrackedTable, where condition: String) -> String {
    let names = RowNumbers.names(table)
    let isSame = names.key.map { "satchel_numbers.\($0) = \(quoted(table.name)).\($0)" }.joined(separator: " AND ")
    return """
      SELECT satchel_numbers.\(names.number)
      FROM \(quoted(table.name)) CROSS JOIN \(names.table) AS satchel_numbers ON \(isSame)
      WHERE \(condition)
      """
  }

  /// Returns the tables in which a rule reads rows other than its own row.
  static func reads(_ rule: String, of table: TrackedTable, _ store: HubStore) throws -> Set<Int> {
    let authorizer = try authorizer(of: rule, in: table, store)
    return Set(store.tables.indices.filter { authorizer.reads(store.tables[$0].name) })
  }

  /// Finds which columns a rule reads outside its own row. To find them, the rule is prepared over one row of NULL
  /// values instead of its table, so only reads of tables remain. If the rule cannot be prepared in this way, the
  /// result includes the reads of its own row.
  static func authorizer(of rule: String, in table: TrackedTable, _ store: HubStore) throws -> ReadAuthorizer {
    func prepared(_ from: String) throws -> ReadAuthorizer {
      let authorizer = ReadAuthorizer(tables: store.tables.map(\.name.text))
      _ = try store.database.authorized(by: authorizer) {
        try store.database.prepare("SELECT 1 FROM \(from) WHERE (\(rule)\n)").columnCount
      }
      return authorizer
    }
    let columns = try store.database.columnNames(of: table.name).map { "NULL AS \(quoted($0))" }.joined(separator: ", ")
    do { return try prepared("(SELECT \(columns)) AS \(quoted(table.name))") } catch is SQLiteError {
      return try prepared(quoted(table.name))
    }
  }

  private static func parentsFirst(_ links: [[Link]]) -> [Int] {
    var order: [Int] = []
    func visit(_ place: Int) {
      if order.contains(place) { return }
      // `ScopeRules` allows no circle of parents, except that a tree's table refers to itself.
      for link in links[place] where link.parent != place { visit(link.parent) }
      order.append(place)
    }
    for place in links.indices { visit(place) }
    return order
  }
}
