import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues

/// The rules of one table as this hub understands them. A person can check whether the rules were meant so.
public struct RuleSummary: Sendable {
  public let table: Name
  public let rows: Int64
  /// Which rows a user sees, in words.
  public let sees: String
  /// Which rows a user may change, in words.
  public let changes: String
  /// The number of rows that name no parent, in a table whose rows follow a parent.
  public let withoutParent: Int64
  /// The rule about who sees rows that name no parent. nil if the rows of the table follow no parent.
  public let orphans: OrphanRule?
  /// Whether the table has a rule `visible` of its own.
  public let hasOwnRule: Bool
  /// Whether every user sees every row.
  public private(set) var isForEverybody = false
  /// Sentences about missing indexes: SQLite reads these tables as a whole to find who sees a row.
  public let scans: [String]

  /// The summaries of all tables of a dataset, in the order of the tables.
  static func all(
    of tables: [TrackedTable], _ dataset: DatasetDefinition, in database: borrowing Database
  ) throws -> [RuleSummary] {
    var summaries: [RuleSummary] = []
    for table in tables { summaries.append(try RuleSummary(table, of: dataset, tables, in: database)) }
    // Every user sees the table's rows only if every user sees the rows of all its parents. Each round removes tables
    // with another parent.
    var open = Set(tables.filter { $0.rules.visible == nil }.map(\.name))
    var isChanged = true
    while isChanged {
      let closed = tables.filter { table in
        let isHidingAny = table.rules.orphans == .hidden && !table.parentKeys(in: dataset).isEmpty
        return open.contains(table.name)
          && (isHidingAny || !table.parentKeys(in: dataset).allSatisfy { open.contains($0.parent) })
      }
      open.subtract(closed.map(\.name))
      isChanged = !closed.isEmpty
    }
    for place in summaries.indices { summaries[place].isForEverybody = open.contains(summaries[place].table) }
    return summaries
  }

  private init(
    _ table: TrackedTable, of dataset: DatasetDefinition, _ tables: [TrackedTable], in database: borrowing Database
  ) throws {
    self.table = table.name
    rows = try database.first("SELECT count(*) FROM \(quoted(table.name))") { $0.integer(0) } ?? 0
    let parents = table.parentKeys(in: dataset)
    sees = Self.sees(table, below: parents)
    hasOwnRule = table.rules.visible != nil
    changes =
      switch table.rules.write {
      case .visible: "all of them"
      case .none: "none"
      case .expression(let rule): "rows with \(rule)"
      }
    orphans = parents.isEmpty ? nil : table.rules.orphans
    withoutParent = try parents.isEmpty ? 0 : Self.countWithoutParent(table, parents, in: database)
    scans = try RuleScans(table, of: dataset, tables).sentences(in: database)
  }

  private static func sees(_ table: TrackedTable, below parents: [ForeignKey]) -> String {
    var names: [Name] = []
    for key in parents where !names.contains(key.parent) { names.append(key.parent) }
    let joined = names.map(\.text).joined(separator: table.rules.parentsMatch == .any ? " or " : " and ")
    let below = names.isEmpty ? nil : "rows whose \(joined) the user sees"
    let parts = [below, table.rules.visible.map { "rows with \($0)" }].compactMap { $0 }
    let rows = parts.isEmpty ? "every row" : parts.joined(separator: "; only ")
    return table.treeKeys.isEmpty ? rows : "\(rows); a row of \(table.name) below a hidden row of it is hidden too"
  }

  /// Counts the rows that name no parent, neither in other tables nor in their own table.
  private static func countWithoutParent(
    _ table: TrackedTable, _ parents: [ForeignKey], in database: borrowing Database
  ) throws -> Int64 {
    let absent = (parents + table.treeKeys).map { key in
      "(\(key.columns.map { "\(quoted(table.schema.columns[$0])) IS NULL" }.joined(separator: " OR ")))"
    }
    return try database.first(
      "SELECT count(*) FROM \(quoted(table.name)) WHERE \(absent.joined(separator: " AND "))"
    ) { $0.integer(0) } ?? 0
  }
}

/// Finds the tables that SQLite reads as a whole to decide who sees one row of a table.
struct RuleScans {
  private let table: TrackedTable
  private let dataset: DatasetDefinition
  private let rules: ScopeRules

  init(_ table: TrackedTable, of dataset: DatasetDefinition, _ tables: [TrackedTable]) {
    (self.table, self.dataset) = (table, dataset)
    rules = ScopeRules(dataset: dataset, tables: tables)
  }

  func sentences(in database: borrowing Database) throws -> [String] {
    try scans(in: database).map { "For each row of \(table.name), its rules read all of \($0)." }
      + unindexed(in: database).map { key in
        let column = table.schema.columns[key.columns[0]]
        return
          """
          \(column) of \(table.name) has no index: if a row of \(key.parent) comes into sight or leaves it, all of \
          \(table.name) is read.
          """
      }
  }

  /// The tables that SQLite reads as a whole to decide about one row. They have the names that the rules use.
  private func scans(in database: borrowing Database) throws -> [String] {
    var names: [String] = []
    try database.each("EXPLAIN QUERY PLAN \(rules.ofRowSQL(table, rules.visible(table)))") {
      let words = $0.text(3).split(separator: " ").map(String.init)
      // A SEARCH without USING reads the whole table for a minimum or maximum.
      let isSearch = words.first == "SEARCH"
      let isWalk = isSearch && (words.contains("AUTOMATIC") || !words.contains("USING"))
      guard words.count > 1, words[0] == "SCAN" || isWalk else { return }
      let isOwn = words[1].hasPrefix("satchel_") || words[1] == "CONSTANT" || words[1].hasPrefix("(")
      if !isOwn, !names.contains(words[1]) { names.append(words[1]) }
    }
    return names
  }

  /// The references along which visibility spreads, and for which no index finds the referring rows.
  private func unindexed(in database: borrowing Database) throws -> [ForeignKey] {
    try (table.parentKeys(in: dataset) + table.treeKeys).filter { key in
      let column = table.schema.columns[key.columns[0]]
      return try table.info.rowidAlias != key.columns[0] && !database.hasIndex(beginningWith: column, of: table.name)
    }
  }
}
