import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues

/// Answers what one user may see and change, for the length of one command.
final class ScopeStore {
  private let store: HubStore
  private let user: User
  private var mayWrite: [Int: WriteCheck] = [:]

  private final class WriteCheck {
    let statement: Statement
    init(_ statement: consuming Statement) { self.statement = statement }
  }

  init(_ store: HubStore, user: User) {
    self.store = store
    self.user = user
  }

  private var rules: ScopeRules { ScopeRules(dataset: store.dataset, tables: store.tables) }

  /// The numbers of the rows that the user may see, a set for each table.
  func visible() throws -> [RowSet] {
    try store.tables.map { table in
      let statement = try prepare(rules.visibleNumbersSQL(table))
      var set = RowSet()
      while try statement.step() { set.insert(statement.integer(0)) }
      return set
    }
  }

  /// Whether the user may change the row with this key as it is now.
  func mayWrite(_ key: RowKey, in place: Int) throws -> Bool {
    let check: WriteCheck
    if let known = mayWrite[place] {
      check = known
    } else {
      check = WriteCheck(try prepare(rules.mayWriteSQL(store.tables[place])))
      mayWrite[place] = check
    }
    defer { check.statement.reset() }
    for (part, value) in key.values.enumerated() { try check.statement.bind(value, to: "satchel_\(part + 1)") }
    return try check.statement.step()
  }

  /// Prepares SQL made of rules under the eyes of the authorizer, and binds what is known of the user; an attribute that was never
  /// set is NULL.
  private func prepare(_ sql: String) throws -> Statement {
    let ours = store.tables.map { "satchel_rows_\($0.name)" }
    let authorizer = ReadAuthorizer(tables: store.tables.map(\.name.text) + ours)
    let statement = try store.database.authorized(by: authorizer) { try store.database.prepare(sql) }
    try statement.bind(.string(user.name), to: "user")
    for attribute in user.attributes { try statement.bind(attribute.value, to: attribute.name.text) }
    return statement
  }
}
