import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues

/// Answers what one user may see and change, for the length of one command.
final class ScopeStore {
  let store: HubStore
  private let user: User
  private var checks: [Question: RightCheck] = [:]

  private struct Question: Hashable {
    let right: Right
    let place: Int
  }

  /// The question whether the user has a right to a row of one table, prepared once.
  private final class RightCheck {
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
  func mayWrite(_ key: RowKey, in place: Int) throws -> Bool { try has(.write, to: key, in: place) }

  /// Whether the user may see the row with this key as it is now.
  func maySee(_ key: RowKey, in place: Int) throws -> Bool { try has(.see, to: key, in: place) }

  /// What the user may do with the row with this key as it is now.
  func rights(to key: RowKey, in place: Int) throws -> (see: Bool, write: Bool) {
    let isSeen = try maySee(key, in: place)
    // Most rules make no difference between the two, and one question is enough.
    return (isSeen, try store.tables[place].rules.write == .visible ? isSeen : mayWrite(key, in: place))
  }

  private func has(_ right: Right, to key: RowKey, in place: Int) throws -> Bool {
    if open.contains(place) { return true }
    let check = try check(right, place)
    defer { check.kept.statement.reset() }
    for (parameter, value) in zip(check.keyParameters, key.values) { try check.kept.statement.bind(value, at: parameter) }
    return try check.kept.statement.step()
  }

  /// Whether a row that the user may change may be one no longer, once it is `after` instead of `before`. Most updates leave alone what
  /// the rules look at, and for those one question is enough.
  func mayDiffer(_ before: Row, _ after: Row, in place: Int) throws -> Bool {
    if open.contains(place) { return false }
    return try check(.write, place).columns.contains { before[$0] != after[$0] }
  }

  private func check(_ right: Right, _ place: Int) throws -> RightCheck {
    let question = Question(right: right, place: place)
    if let known = checks[question] { return known }
    let table = store.tables[place]
    let (kept, authorizer) = try prepare(rules.sql(right, to: table))
    let names = kept.statement.parameterNames
    let parameters = table.schema.key.indices.map { part in
      Int32((names.firstIndex { $0 == "satchel_\(part + 1)" } ?? 0) + 1)
    }
    let made = RightCheck(kept, keyParameters: parameters, columns: authorizer.dependencies(on: table.schema))
    checks[question] = made
    return made
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
