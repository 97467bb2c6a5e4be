import SatchelBundle
import SatchelValues
import SatchelWorkspace

/// The rows that one user may see and change, by table.
struct UserRows {
  var seen: [Name: RowSet] = [:]
  var writable: [Name: RowSet] = [:]
}

/// Finds the rows that users may see and change. If the rules treat two users alike, their rows are evaluated once.
final class ScopeCensus {
  private let store: HubStore
  private let usesName: Bool
  private var known: [String: UserRows] = [:]

  init(_ store: HubStore) throws {
    self.store = store
    let rules = ScopeRules(dataset: store.dataset, tables: store.tables)
    usesName = try store.tables.contains { table in
      let conditions = [rules.visible(table), rules.writable(table)]
      let (kept, _) = try store.prepared(rule: rules.findingSQL(table, asking: conditions))
      return kept.statement.parameterNames.contains { $0 == "user" }
    }
  }

  func rows(of user: User) throws -> UserRows {
    let key = "\(usesName ? user.name : "")\u{0}\(String(decoding: FieldsCoding.json(user.attributes), as: UTF8.self))"
    if let rows = known[key] { return rows }
    let scope = ScopeStore(store, user: user)
    let seen = try scope.visibleFromAbove()
    let names = store.tables.map(\.name)
    let rows = UserRows(
      seen: Dictionary(uniqueKeysWithValues: zip(names, seen)),
      writable: Dictionary(uniqueKeysWithValues: zip(names, try scope.writable(among: seen))))
    known[key] = rows
    return rows
  }
}
