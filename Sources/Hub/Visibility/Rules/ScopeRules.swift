import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues

/// The dataset's `visible` and `write` rules as SQL over this database. Parameters are the user's name and attributes.
struct ScopeRules {
  let dataset: DatasetDefinition
  let tables: [TrackedTable]
  /// nil: SQL itself follows trees of any depth.
  var climb: Climb?

  func table(_ name: Name) -> TrackedTable? { tables.first { $0.name == name } }

  /// SQL for the stable numbers of the rows that meet a condition.
  func numbersSQL(_ table: TrackedTable, _ condition: String) -> String {
    let names = RowNumbers.names(table)
    return """
      \(visibleRowsCTE(above: table))
      SELECT numbers.\(names.number)
      FROM (SELECT \(names.key.joined(separator: ", ")) FROM \(quoted(table.name)) WHERE \(condition)) AS seen
      JOIN \(names.table) AS numbers ON \(names.key.map { "numbers.\($0) = seen.\($0)" }.joined(separator: " AND "))
      """
  }

  /// SQL that finds whether the row with the key `:satchel_1`, `:satchel_2`, ... meets a condition.
  func ofRowSQL(_ table: TrackedTable, _ condition: String) -> String {
    "\(visibleRowsCTE(above: table))SELECT 1 FROM \(quoted(table.name)) WHERE \(isRow(table)) AND (\(condition))"
  }

  /// SQL for the columns of the row with the key `:satchel_1`, `:satchel_2`, ..., followed by whether the row meets
  /// each of these conditions. (`IS TRUE` would look for a column of that name.)
  func findingSQL(_ table: TrackedTable, asking conditions: [String]) -> String {
    let columns =
      table.schema.columns.map { "\(quoted(table.name)).\(quoted($0))" }
      + conditions.map { "CASE WHEN (\($0)) THEN 1 ELSE 0 END" }
    return
      """
      \(visibleRowsCTE(above: table))SELECT \(columns.joined(separator: ", ")) FROM \(quoted(table.name)) WHERE \
      \(isRow(table))
      """
  }

  /// The condition that a row has the key `:satchel_1`, `:satchel_2`, .... The key is compared by the column's
  /// collation, which has an index, and by its bytes. A column's type may turn a text into a number.
  func isRow(_ table: TrackedTable) -> String {
    Self.all(
      table.schema.key.enumerated().map { place, column in
        let name = "\(quoted(table.name)).\(quoted(table.schema.columns[column]))"
        return "\(name) = :satchel_\(place + 1) AND \(name) = :satchel_\(place + 1) COLLATE BINARY"
      })
  }

  /// Whether every user may change every row, whatever it contains.
  func letsWriteAll(_ table: TrackedTable) -> Bool {
    table.rules.write == .visible && table.rules.visible == nil && table.parentKeys(in: dataset).isEmpty
      && table.treeKeys.isEmpty
  }

  /// The condition that the user may change a row. It never allows more than the parents allow.
  func writable(_ table: TrackedTable) -> String {
    switch table.rules.write {
    case .visible: visible(table)
    case .none: "0"
    case .expression(let rule):
      Self.all(["(\(rule)\n)"] + conditions(of: table).filter { $0.subject != .row }.map(\.sql))
    }
  }

  /// The condition that the user may see a row: the table's own rule and its parents' rules, at any depth.
  func visible(_ table: TrackedTable) -> String { Self.all(conditions(of: table).map(\.sql)) }

  // MARK: visible rows of the tables above

  /// SQL that names the visible rows of each table above this table, for one statement. The conditions use these names.
  /// Nested conditions of a few generations would exceed the limits of SQLite's parser.
  func visibleRowsCTE(above table: TrackedTable) -> String {
    var found: [(name: String, sql: String)] = []
    func add(_ name: String, _ table: TrackedTable, _ columns: String, _ conditions: [Condition]) {
      found.append((name, "SELECT \(columns) FROM \(quoted(table.name)) WHERE \(Self.all(conditions.map(\.sql)))"))
    }
    func visit(_ table: TrackedTable) {
      for key in table.parentKeys(in: dataset) {
        guard let parent = self.table(key.parent), !found.contains(where: { $0.name == visibleRowsName(parent) }) else {
          continue
        }
        visit(parent)
        add(visibleRowsName(parent), parent, "*", conditions(of: parent))
      }
      if !table.treeKeys.isEmpty {
        add(rowsBesideTreeName(table), table, namingColumns(table), conditionsBesideTree(table))
      }
    }
    visit(table)
    if found.isEmpty { return "" }
    return "WITH \(found.map { "\($0.name) AS NOT MATERIALIZED (\($0.sql))" }.joined(separator: ",\n"))\n"
  }

  func place(_ table: TrackedTable) -> Int { tables.firstIndex { $0.name == table.name } ?? tables.count }

  /// The name for the rows of a table that the user may see.
  private func visibleRowsName(_ table: TrackedTable) -> String { "satchel_seen_\(place(table))" }

  /// The name for the rows of a tree that are visible unless a row above them is hidden.
  func rowsBesideTreeName(_ table: TrackedTable) -> String { "satchel_beside_tree_\(place(table))" }

  // MARK: conditions of a row

  /// One condition of the rules for the visibility of a row.
  struct Condition {
    enum Subject: Equatable {
      /// The row's own values.
      case row
      /// The row's parents in other tables: any of them, or the named parent. The rule says whether the condition also
      /// holds for a row that names none of them.
      case parents([Reference], orphans: OrphanRule)
      /// The row names a row of any of these tables. In a tree, one of its rows above it may name that row.
      case named([Name])
      /// The rows of its own table above it.
      case tree
    }

    let subject: Subject
    let sql: String
  }

  /// The columns by which a row names its parent.
  struct Reference: Equatable {
    let parent: Name
    let columns: [Name]
  }

  /// The conditions of the rules for a row. All of them must hold. A rule has its own parentheses and sees the table's
  /// columns first, so it can only narrow the rows that the parents allow.
  func conditions(of table: TrackedTable) -> [Condition] { conditionsBesideTree(table) + treeCondition(table) }

  private func conditionsBesideTree(_ table: TrackedTable) -> [Condition] {
    conditionsOfRowAlone(table) + namedConditions(table)
  }

  /// The conditions for which no row above the row in its own tree is read.
  func conditionsOfRowAlone(_ table: TrackedTable) -> [Condition] {
    [Condition(subject: .row, sql: table.rules.visible.map { "(\($0)\n)" } ?? "1")] + parentConditions(table)
  }

  /// For each parent, the user must see the parent row, or there must be no parent row. If the rule says so, one
  /// visible parent is enough.
  private func parentConditions(_ table: TrackedTable) -> [Condition] {
    let parents = namedParents(table)
    if parents.count == 1, table.treeKeys.isEmpty, table.rules.orphans == .hidden {
      // Without a parent row there is nothing to see.
      return [Condition(subject: .parents([parents[0].reference], orphans: .hidden), sql: parents[0].isSeen)]
    }
    guard table.rules.parentsMatch == .any, parents.count > 1 else {
      return parents.map {
        Condition(subject: .parents([$0.reference], orphans: .visible), sql: "(\($0.isNone) OR \($0.isSeen))")
      }
    }
    let any = parents.map { "(NOT (\($0.isNone)) AND \($0.isSeen))" }
    let none = parents.map { "(\($0.isNone))" }.joined(separator: " AND ")
    return [
      Condition(
        subject: .parents(parents.map(\.reference), orphans: .visible),
        sql: "(\((any + [none]).joined(separator: " OR ")))")
    ]
  }

  /// Whether no user sees the rows of a table that name no parent in another table. In a tree, it is enough that a row
  /// above the row names one.
  func hidesOrphans(_ table: TrackedTable) -> Bool {
    table.rules.orphans == .hidden && !table.parentKeys(in: dataset).isEmpty
  }

  /// Whether a row itself names a parent in another table.
  func namesParent(_ row: Row, of table: TrackedTable) -> Bool {
    table.parentKeys(in: dataset).contains { key in key.columns.allSatisfy { !row[$0].isNull } }
  }

  /// The condition that the row itself names a parent in another table.
  func namesParent(_ table: TrackedTable) -> String {
    let isNamed = table.parentKeys(in: dataset).map { key in
      "(\(Self.all(key.columns.map { "\(quoted(table.name)).\(quoted(table.schema.columns[$0])) IS NOT NULL" })))"
    }
    return "(\(isNamed.joined(separator: " OR ")))"
  }

  /// The condition that a row, or in a tree a row above it, names a parent in another table. Empty if the rules show
  /// rows without a parent, or if the table has only one parent: the parent's condition then excludes such rows itself.
  private func namedConditions(_ table: TrackedTable) -> [Condition] {
    let keys = table.parentKeys(in: dataset)
    guard hidesOrphans(table), keys.count + table.treeKeys.count > 1 else { return [] }
    var names: [Name] = []
    for key in keys where !names.contains(key.parent) { names.append(key.parent) }
    let isNamed = table.treeKeys.isEmpty ? namesParent(table) : "(\(namesParent(table)) OR \(namedAbove(table)))"
    return [Condition(subject: .named(names), sql: isNamed)]
  }

  private struct NamedParent {
    let reference: Reference
    /// The condition that the row names no such parent.
    let isNone: String
    /// The condition that the user may see the named parent.
    let isSeen: String
  }

  /// The named parents, one for each foreign key along which visibility is inherited from another table.
  private func namedParents(_ table: TrackedTable) -> [NamedParent] {
    table.parentKeys(in: dataset).compactMap { key in
      guard let parent = self.table(key.parent) else { return nil }
      let own = key.columns.map { "\(quoted(table.name)).\(quoted(table.schema.columns[$0]))" }
      let matches = zip(own, key.parentColumns).map { Self.refers($0, to: "\(quoted(parent.name)).\(quoted($1))") }
      return NamedParent(
        reference: Reference(parent: parent.name, columns: key.columns.map { table.schema.columns[$0] }),
        isNone: own.map { "\($0) IS NULL" }.joined(separator: " OR "),
        isSeen: "EXISTS (SELECT 1 FROM \(visibleRowsName(parent)) AS \(quoted(parent.name)) WHERE \(Self.all(matches)))"
      )
    }
  }

  static func all(_ parts: [String]) -> String { parts.joined(separator: " AND ") }

  /// The condition that a column's value refers to a parent's column. SQLite compares a reference by the type and the
  /// collation of the parent's column. The plus sign removes the type of the other column. With that type, SQLite might
  /// treat 1 and '01' as equal, and could not use the parent's index.
  ///
  /// https://sqlite.org/foreignkeys.html, section 3, and https://sqlite.org/datatype3.html, section 4.2.
  static func refers(_ own: String, to parent: String) -> String { "\(parent) = +\(own)" }
}
