import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues

/// Answers what one user may see and change, for the length of one command.
final class ScopeStore {
  let store: HubStore
  private let user: User
  private var checks: [Int: RowCheck] = [:]
  private var views: [Int: RowCheck] = [:]

  /// A question about the user and a row of one table, prepared once.
  private final class RowCheck {
    let kept: KeptStatement
    /// The parameters that take the key's values.
    let keyParameters: [Int32]
    /// The columns of the table itself, by position, on which the answer depends.
    let columns: Set<Int>

    init(_ kept: KeptStatement, keyParameters: [Int32], columns: Set<Int>) {
      self.kept = kept
      self.keyParameters = keyParameters
      self.columns = columns
    }

    func holds(_ key: RowKey) throws -> Bool {
      defer { kept.statement.reset() }
      for (parameter, value) in zip(keyParameters, key.values) { try kept.statement.bind(value, at: parameter) }
      return try kept.statement.step()
    }
  }

  init(_ store: HubStore, user: User) {
    self.store = store
    self.user = user
    let rules = ScopeRules(dataset: store.dataset, tables: store.tables)
    self.rules = rules
    open = Set(store.tables.indices.filter { rules.letsWriteAll(store.tables[$0]) })
  }

  let rules: ScopeRules
  /// The tables in which the user may change every row.
  private let open: Set<Int>

  /// The numbers of the rows that the user may see, a set for each table.
  func visible() throws -> [RowSet] {
    try store.tables.map { table in
      let (kept, _) = try prepare(rules.visibleNumbersSQL(table))
      var set = RowSet()
      while try kept.statement.step() { set.insert(kept.statement.integer(0)) }
      return set
    }
  }

  /// Whether the user may change the row with this key as it is now.
  func mayWrite(_ key: RowKey, in place: Int) throws -> Bool {
    if open.contains(place) { return true }
    return try check(place).holds(key)
  }

  /// Whether the user may see the row with this key as it is now.
  func maySee(_ key: RowKey, in place: Int) throws -> Bool {
    if let known = views[place] { return try known.holds(key) }
    let check = try prepareCheck(rules.maySeeSQL(store.tables[place]), place)
    views[place] = check
    return try check.holds(key)
  }

  /// Whether a row that the user may change may be one no longer, once it is `after` instead of `before`. Most updates leave alone what
  /// the rules look at, and for those one question is enough.
  func mayDiffer(_ before: Row, _ after: Row, in place: Int) throws -> Bool {
    if open.contains(place) { return false }
    return try check(place).columns.contains { before[$0] != after[$0] }
  }

  private func check(_ place: Int) throws -> RowCheck {
    if let known = checks[place] { return known }
    let made = try prepareCheck(rules.mayWriteSQL(store.tables[place]), place)
    checks[place] = made
    return made
  }

  private func prepareCheck(_ sql: String, _ place: Int) throws -> RowCheck {
    let table = store.tables[place]
    let (kept, authorizer) = try prepare(sql)
    let names = kept.statement.parameterNames
    let parameters = table.schema.key.indices.map { part in
      Int32((names.firstIndex { $0 == "satchel_\(part + 1)" } ?? 0) + 1)
    }
    return RowCheck(kept, keyParameters: parameters, columns: authorizer.dependencies(on: table.schema))
  }

  /// Prepares SQL made of rules under the eyes of the authorizer, and binds what is known of the user; an attribute that was never
  /// set is NULL.
  func prepare(_ sql: String) throws -> (statement: KeptStatement, authorizer: ReadAuthorizer) {
    let ours = store.tables.map { "satchel_rows_\($0.name)" }
    let authorizer = ReadAuthorizer(tables: store.tables.map(\.name.text) + ours)
    let statement = try store.database.authorized(by: authorizer) { try store.database.prepare(sql) }
    try statement.bind(.string(user.name), to: "user")
    for attribute in user.attributes { try statement.bind(attribute.value, to: attribute.name.text) }
    return (KeptStatement(statement), authorizer)
  }
}
