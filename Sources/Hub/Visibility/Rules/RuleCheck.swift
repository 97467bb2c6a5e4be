import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues

extension ScopeRules {
  /// Checks each rule, and then checks that all rules can be evaluated together.
  ///
  /// A rule must be one whole expression. It may read only the dataset's tables and their existing columns, and use
  /// only the parameters of the user. It must always give the same result for the same rows. Throws a `DatasetError`
  /// that names the place of a wrong rule.
  func check(in database: borrowing Database) throws {
    try checkForCircles()
    for table in tables {
      if let rule = table.rules.visible { try check(rule, of: table, at: "tables.\(table.name).visible", in: database) }
      if let rule = table.rules.write.expression {
        try check(rule, of: table, at: "tables.\(table.name).write", in: database)
      }
    }
    for table in tables {
      let asked = [visible(table), writable(table)]
      for sql in asked.map({ ofRowSQL(table, $0) }) + [findingSQL(table, asking: asked)] {
        do { _ = try database.prepare(sql).columnCount } catch {
          throw DatasetError(
            "tables.\(table.name)", "its rules and its parents' rules cannot be evaluated together (\(error.message))",
            hint: "Make the rules simpler: fewer parentheses inside each other, for example.")
        }
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
      var known = ["user"] + dataset.attributes.map(\.name.text)
      if dataset.hasDay { known.append(RuleDay.name.text) }
      for name in parameters where !known.contains(where: { $0 == name }) {
        throw DatasetError(
          place, name.map { "there is no attribute \($0)" } ?? "a parameter has no name",
          hint: "Rules may use: \(known.map { ":" + $0 }.joined(separator: ", ")). Declare others under `attributes`.")
      }
      try checkPlaces(read: authorizer, at: place, in: database)
      if authorizer.callsDateFunctions, let word = presentTime(in: rule) {
        throw DatasetError(
          place, "it uses \(word), so its result does not depend on the row alone",
          hint: "Use :today, the day at the office, for example date(:today, '-30 days'). Or compare with a column.")
      }
    } catch let error as SQLiteError {
      throw DatasetError(
        place, authorizer.refusal ?? error.message,
        hint: "A rule is an SQL expression over the columns of \(table.name).")
    }
  }

  /// Refuses a rule that reads a rowid or a local key. Such a number differs on each replica, and says nothing about
  /// the row.
  private func checkPlaces(
    read authorizer: ReadAuthorizer, at place: String, in database: borrowing Database
  ) throws {
    for table in tables where authorizer.reads(table.name) {
      var local: [Name] = []
      if let key = table.info.localKey {
        local = try [key] + database.columns(of: table.name, generatedFrom: key)
      } else if table.info.rowidAlias == nil, table.schema.position(of: "rowid") == nil {
        local = ["rowid"]
      }
      guard let column = local.first(where: { authorizer.reads($0, of: table.name) }) else { continue }
      throw DatasetError(
        place, "it reads \(column) of \(table.name), which each replica assigns by itself",
        hint: "Let it read columns that bundles carry.")
    }
  }

  private func checkForCircles() throws {
    func visit(_ table: TrackedTable, _ path: [Name]) throws {
      if path.contains(table.name) {
        throw DatasetError(
          "tables.\(table.name).parents",
          "visibility goes in a circle: \((path + [table.name]).map(\.text).joined(separator: " -> "))",
          hint:
            """
            Declare at one of these tables which references decide who sees its rows, without the next table: \
            \"parents\": [], or a list of tables.
            """
        )
      }
      for key in table.parentKeys(in: dataset) {
        if let parent = self.table(key.parent) { try visit(parent, path + [table.name]) }
      }
    }
    for table in tables { try visit(table, []) }
  }
}

/// Returns why a text is not one whole SQL expression. nil if it is.
func expressionProblem(in rule: String) -> String? {
  var depth = 0
  var bytes = Array(rule.utf8)[...]
  if bytes.allSatisfy({ $0 == 32 || $0 == 10 || $0 == 9 || $0 == 13 }) { return "the rule is empty" }
  while let byte = bytes.popFirst() {
    switch byte {
    case UInt8(ascii: "("): depth += 1
    case UInt8(ascii: ")"):
      depth -= 1
      if depth < 0 { return "a closing parenthesis has no opening parenthesis" }
    case UInt8(ascii: ";"): return "a rule is one expression, without a semicolon"
    case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
      // A doubled quote is read as the end of one text and the beginning of the next. The result is the same.
      guard let end = bytes.firstIndex(of: byte) else { return "a quote is not closed" }
      bytes = bytes[(end + 1)...]
    case UInt8(ascii: "["):
      guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return "a bracket is not closed" }
      bytes = bytes[(end + 1)...]
    case UInt8(ascii: "-") where bytes.first == UInt8(ascii: "-"),
      UInt8(ascii: "/") where bytes.first == UInt8(ascii: "*"):
      return "a rule has no comments"
    case _ where isOfWord(byte):
      let word = [byte] + bytes.prefix(while: isOfWord)
      bytes = bytes.dropFirst(word.count - 1)
      // SQLite's authorizer does not see the columns by which such a join compares rows.
      if [Array("using".utf8), Array("natural".utf8)].contains(word.map { (65...90).contains($0) ? $0 + 32 : $0 }) {
        return "a join in a rule says ON, and not USING or NATURAL: else it would not be known which columns it reads"
      }
    default: break
    }
  }
  return depth == 0 ? nil : "a parenthesis is not closed"
}

/// Whether a byte can be a part of a name or keyword.
private func isOfWord(_ byte: UInt8) -> Bool {
  switch byte {
  case 48...57, 65...90, 95, 97...122, 128...: true
  default: false
  }
}
