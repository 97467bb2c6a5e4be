import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues

/// The dataset's `visible` and `write` rules as SQL for this database. The user's name and attributes are parameters.
struct ScopeRules {
  let dataset: DatasetDefinition
  let tables: [TrackedTable]
  /// The number of rows that SQL itself climbs in a tree, and the scope that decides if there are more. nil if SQL
  /// climbs trees of any depth.
  var climb: Climb?

  func table(_ name: Name) -> TrackedTable? { tables.first { $0.name == name } }

  /// Returns SQL that finds the stable numbers of the rows that meet a condition.
  func numbersSQL(_ table: TrackedTable, _ condition: String) -> String {
    let names = RowNumbers.names(table)
    return """
      \(visibleRowsCTE(above: table))
      SELECT numbers.\(names.number)
      FROM (SELECT \(names.key.joined(separator: ", ")) FROM \(quoted(table.name)) WHERE \(condition)) AS seen
      JOIN \(names.table) AS numbers ON \(names.key.map { "numbers.\($0) = seen.\($0)" }.joined(separator: " AND "))
      """
  }

  /// Returns SQL that finds whether the row with the key `:satchel_1`, `:satchel_2`, ... meets a condition.
  func ofRowSQL(_ table: TrackedTable, _ condition: String) -> String {
    "\(visibleRowsCTE(above: table))SELECT 1 FROM \(quoted(table.name)) WHERE \(isRow(table)) AND (\(condition))"
  }

  /// Returns SQL for the columns of the row with the key `:satchel_1`, `:satchel_2`, .... For each condition, a further
  /// column has 1 or 0. (With `IS TRUE`, SQLite would look for a column named TRUE.)
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

  /// The condition that a row has the key `:satchel_1`, `:satchel_2`, .... The first comparison uses the column's
  /// collation, because its index does. But it may treat other texts as equal, so a second comparison uses the bytes.
  func isRow(_ table: TrackedTable) -> String {
    Self.all(
      table.schema.key.enumerated().map { place, column in
        let name = "\(quoted(table.name)).\(quoted(table.schema.columns[column]))"
        return "\(name) = :satchel_\(place + 1) AND \(name) = :satchel_\(place + 1) COLLATE BINARY"
      })
  }

  /// Whether every user may change every row, whatever values the row has.
  func letsWriteAll(_ table: TrackedTable) -> Bool {
    table.rules.write == .visible && table.rules.visible == nil && table.parentKeys(in: dataset).isEmpty
      && table.treeKeys.isEmpty
  }

  /// The condition that the user may change a row. It never allows a row that the parents' rules do not allow.
  func writable(_ table: TrackedTable) -> String {
    switch table.rules.write {
    case .visible: visible(table)
    case .none: "0"
    case .expression(let rule):
      Self.all(["(\(rule)\n)"] + conditions(of: table).filter { $0.subject != .row }.map(\.sql))
    }
  }

  /// The condition that the user may see a row: the table's own rule and the rules of all tables above it.
  func visible(_ table: TrackedTable) -> String { Self.all(conditions(of: table).map(\.sql)) }

  // MARK: visible rows of the tables above

  /// Returns SQL that defines names for the visible rows of each table above this table. The conditions use these
  /// names. If the conditions were nested instead, a few generations would exceed the limits of SQLite's parser.
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

  /// The SQL name for the rows of a table that the user may see.
  private func visibleRowsName(_ table: TrackedTable) -> String { "satchel_seen_\(place(table))" }

  /// The SQL name for the rows of a tree that are visible unless a row above them is hidden.
  func rowsBesideTreeName(_ table: TrackedTable) -> String { "satchel_beside_tree_\(place(table))" }

  // MARK: conditions of a row

  /// One condition for the visibility of a row.
  struct Condition {
    enum Subject: Equatable {
      /// The row's own values.
      case row
      /// The row's parents in other tables. One visible parent of the listed references is enough. `orphans` says
      /// whether the condition also holds for a row without such a parent.
      case parents([Reference], orphans: OrphanRule)
      /// The row, or in a tree a row above it, refers to a row of one of these tables.
      case named([Name])
      /// The rows above the row in its own table.
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

  /// Returns the conditions of the rules for a row. All of them must hold. Each rule is in its own parentheses, and its
  /// column names mean the table's columns first. So a rule can only narrow the rows that the parents allow.
  func conditions(of table: TrackedTable) -> [Condition] { conditionsBesideTree(table) + treeCondition(table) }

  private func conditionsBesideTree(_ table: TrackedTable) -> [Condition] {
    conditionsOfRowAlone(table) + namedConditions(table)
  }

  /// Returns the conditions that do not depend on the rows above the row in its own table.
  func conditionsOfRowAlone(_ table: TrackedTable) -> [Condition] {
    [Condition(subject: .row, sql: table.rules.visible.map { "(\($0)\n)" } ?? "1")] + parentConditions(table)
  }

  /// Returns the conditions for the parents. The user must see each parent that the row refers to. If the table's rule
  /// is `any`, one visible parent is enough.
  private func parentConditions(_ table: TrackedTable) -> [Condition] {
    let parents = namedParents(table)
    if parents.count == 1, table.treeKeys.isEmpty, table.rules.orphans == .hidden {
      // This condition does not hold for a row without a parent.
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

  /// Whether no user sees a row that has no parent in another table. In a tree, it is enough that a row above the row
  /// has one.
  func hidesOrphans(_ table: TrackedTable) -> Bool {
    table.rules.orphans == .hidden && !table.parentKeys(in: dataset).isEmpty
  }

  /// Whether a row itself refers to a parent in another table.
  func namesParent(_ row: Row, of table: TrackedTable) -> Bool {
    table.parentKeys(in: dataset).contains { key in key.columns.allSatisfy { !row[$0].isNull } }
  }

  /// The condition that the row itself refers to a parent in another table.
  func namesParent(_ table: TrackedTable) -> String {
    let isNamed = table.parentKeys(in: dataset).map { key in
      "(\(Self.all(key.columns.map { "\(quoted(table.name)).\(quoted(table.schema.columns[$0])) IS NOT NULL" })))"
    }
    return "(\(isNamed.joined(separator: " OR ")))"
  }

  /// Returns the condition that a row, or in a tree a row above it, refers to a parent in another table. Empty if the
  /// rules show rows without a parent. Empty also if the table has only one parent, because then the parent's condition
  /// excludes such rows.
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
    /// The condition that the row refers to no such parent.
    let isNone: String
    /// The condition that the user may see this parent.
    let isSeen: String
  }

  /// Returns the parents of a table: one for each foreign key along which rows inherit visibility from another table.
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

  /// Returns the condition that a column's value refers to a parent's column. SQLite compares references by the type
  /// and the collation of the parent's column. The plus sign removes the type of the child's column. With that type,
  /// SQLite might treat 1 and '01' as equal, and could not use the parent's index.
  ///
  /// https://sqlite.org/foreignkeys.html, section 3, and https://sqlite.org/datatype3.html, section 4.2.
  static func refers(_ own: String, to parent: String) -> String { "\(parent) = +\(own)" }
}
