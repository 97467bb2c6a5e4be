import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues

/// What a user may do with a row.
enum Right: Hashable { case see, write }

/// The dataset's `visible` and `write` rules as SQL over this database.
struct ScopeRules {
  let dataset: DatasetDefinition
  let tables: [TrackedTable]

  /// Checks every rule by itself: that it is one whole expression, reads nothing but the dataset's tables, names columns that there
  /// are, and uses no parameter but the user's name and attributes. Throws a `DatasetError` with the rule's place.
  func check(in database: borrowing Database) throws {
    try checkForCircles()
    for table in tables {
      if let rule = table.rules.visible { try check(rule, of: table, at: "tables.\(table.name).visible", in: database) }
      if case .expression(let rule) = table.rules.write {
        try check(rule, of: table, at: "tables.\(table.name).write", in: database)
      }
    }
  }

  private func check(_ rule: String, of table: TrackedTable, at place: String, in database: borrowing Database) throws {
    if let problem = expressionProblem(in: rule) { throw DatasetError(place, problem) }
    let authorizer = ReadAuthorizer(tables: tables.map(\.name.text))
    do {
      let parameters = try database.authorized(by: authorizer) {
        try database.prepare("SELECT 1 FROM \(quoted(table.name)) WHERE (\(rule)\n)").parameterNames
      }
      let known = ["user"] + dataset.attributes.map(\.name.text)
      for name in parameters where !known.contains(where: { $0 == name }) {
        throw DatasetError(
          place, name.map { "there is no attribute \($0)" } ?? "a parameter has no name",
          hint: "Rules may use: \(known.map { ":" + $0 }.joined(separator: ", ")). Declare others under `attributes`.")
      }
    } catch let error as SQLiteError {
      throw DatasetError(
        place, authorizer.refusal ?? error.message, hint: "A rule is an SQL expression over the columns of \(table.name).")
    }
  }

  private func checkForCircles() throws {
    func visit(_ table: TrackedTable, _ path: [Name]) throws {
      if path.contains(table.name) {
        throw DatasetError(
          "tables.\(table.name).parents",
          "visibility goes in a circle: \((path + [table.name]).map(\.text).joined(separator: " -> "))")
      }
      for key in table.parentKeys(in: dataset) {
        if let parent = self.table(key.parent) { try visit(parent, path + [table.name]) }
      }
    }
    for table in tables { try visit(table, []) }
  }

  private func table(_ name: Name) -> TrackedTable? { tables.first { $0.name == name } }

  // MARK: SQL

  /// The stable numbers of the rows that a user may see; parameters are the user's name and attributes.
  func visibleNumbersSQL(_ table: TrackedTable) -> String {
    let names = RowNumbers.names(table)
    return """
      SELECT numbers.\(names.number)
      FROM (SELECT \(names.key.joined(separator: ", ")) FROM \(quoted(table.name)) WHERE \(visible(table))) AS seen
      JOIN \(names.table) AS numbers ON \(names.key.map { "numbers.\($0) = seen.\($0)" }.joined(separator: " AND "))
      """
  }

  /// Whether every user may change every row, whatever is in it.
  func letsWriteAll(_ table: TrackedTable) -> Bool {
    table.rules.write == .visible && table.rules.visible == nil && table.parentKeys(in: dataset).isEmpty
      && table.treeKeys.isEmpty
  }

  /// Whether a user may see or change the row with the key `:satchel_1`, `:satchel_2`, ...
  func sql(_ right: Right, to table: TrackedTable) -> String {
    let isRow = table.schema.key.enumerated()
      .map { "\(quoted(table.name)).\(quoted(table.schema.columns[$1])) = :satchel_\($0 + 1)" }.joined(separator: " AND ")
    let rule =
      switch (right, table.rules.write) {
      case (.see, _), (.write, .visible): visible(table)
      case (.write, .none): "0"
      case (.write, .expression(let rule)): (["(\(rule)\n)"] + parentConditions(table)).joined(separator: " AND ")
      }
    return "SELECT 1 FROM \(quoted(table.name)) WHERE \(isRow) AND \(rule)"
  }

  /// The table's own rule and its parents', at any depth. A rule stands alone in its parentheses, with the table's columns nearest,
  /// so that it can only narrow what the parents allow.
  func visible(_ table: TrackedTable) -> String {
    ([ownCondition(table)] + parentConditions(table)).joined(separator: " AND ")
  }

  func ownCondition(_ table: TrackedTable) -> String { table.rules.visible.map { "(\($0)\n)" } ?? "1" }

  /// What the parents ask: with each the user must see it, or there is none; or, as the rule says, with one of them.
  private func parentConditions(_ table: TrackedTable) -> [String] {
    let parents = namedParentConditions(table)
    let trees = treeConditions(table)
    guard table.rules.parentsMatch == .any, parents.count > 1 else { return parents.map(\.sql) + trees }
    let any = parents.map { "(NOT (\($0.refersToNone)) AND \($0.sql))" }
    let none = parents.map { "(\($0.refersToNone))" }.joined(separator: " AND ")
    return ["(\((any + [none]).joined(separator: " OR ")))"] + trees
  }

  struct ParentCondition {
    let parent: Name
    let columns: [Name]
    /// That the row names no such parent.
    let refersToNone: String
    /// That it names none, or one that the user may see.
    let sql: String
  }

  /// A condition for each foreign key along which visibility is inherited from another table.
  func namedParentConditions(_ table: TrackedTable) -> [ParentCondition] {
    table.parentKeys(in: dataset).compactMap { key in
      guard let parent = self.table(key.parent) else { return nil }
      let own = key.columns.map { "\(quoted(table.name)).\(quoted(table.schema.columns[$0]))" }
      let matches = zip(own, key.parentColumns).map { "\(quoted(parent.name)).\(quoted($1)) = \($0)" }.joined(separator: " AND ")
      let refersToNone = own.map { "\($0) IS NULL" }.joined(separator: " OR ")
      return ParentCondition(
        parent: parent.name, columns: key.columns.map { table.schema.columns[$0] }, refersToNone: refersToNone,
        sql: "(\(refersToNone) OR EXISTS (SELECT 1 FROM \(quoted(parent.name)) WHERE \(matches) AND \(visible(parent))))")
    }
  }

  /// For a table that is a tree of its own rows: that no row above this one is hidden. It goes up from the row, so that it costs the depth;
  /// a circle of rows ends where it began.
  func treeConditions(_ table: TrackedTable) -> [String] {
    let itself = ([ownCondition(table)] + namedParentConditions(table).map(\.sql)).joined(separator: " AND ")
    return table.treeKeys.map { key in
      let own = key.columns.map { quoted(table.schema.columns[$0]) }
      let parents = key.parentColumns.map { quoted($0) }
      let names = own.indices.map { "satchel_\($0 + 1)" }
      let name = quoted(table.name)
      func all(_ parts: [String]) -> String { parts.joined(separator: " AND ") }
      return """
        NOT EXISTS (
          WITH RECURSIVE satchel_above (\(names.joined(separator: ", "))) AS (
            SELECT \(own.map { "\(name).\($0)" }.joined(separator: ", ")) WHERE \(all(own.map { "\(name).\($0) IS NOT NULL" }))
            UNION
            SELECT \(own.map { "satchel_next.\($0)" }.joined(separator: ", "))
            FROM satchel_above JOIN \(name) AS satchel_next ON \(all(zip(parents, names).map { "satchel_next.\($0) = satchel_above.\($1)" }))
            WHERE \(all(own.map { "satchel_next.\($0) IS NOT NULL" }))
          )
          SELECT 1 FROM satchel_above WHERE NOT EXISTS (
            SELECT 1 FROM \(name) WHERE \(all(zip(parents, names).map { "\(name).\($0) = satchel_above.\($1)" })) AND \(itself)))
        """
    }
  }
}

/// What keeps a text from being one whole SQL expression that stays inside its parentheses; nil where nothing does.
func expressionProblem(in rule: String) -> String? {
  var depth = 0
  var bytes = Array(rule.utf8)[...]
  if bytes.allSatisfy({ $0 == 32 || $0 == 10 || $0 == 9 || $0 == 13 }) { return "the rule is empty" }
  while let byte = bytes.popFirst() {
    switch byte {
    case UInt8(ascii: "("): depth += 1
    case UInt8(ascii: ")"):
      depth -= 1
      if depth < 0 { return "a parenthesis is closed that was not opened" }
    case UInt8(ascii: ";"): return "a rule is one expression, without a semicolon"
    case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
      // A doubled quote ends the text and begins the next: the outcome is the same.
      guard let end = bytes.firstIndex(of: byte) else { return "a quote is not closed" }
      bytes = bytes[(end + 1)...]
    case UInt8(ascii: "["):
      guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return "a bracket is not closed" }
      bytes = bytes[(end + 1)...]
    case UInt8(ascii: "-") where bytes.first == UInt8(ascii: "-"), UInt8(ascii: "/") where bytes.first == UInt8(ascii: "*"):
      return "a rule has no comments"
    default: break
    }
  }
  return depth == 0 ? nil : "a parenthesis is not closed"
}
