/// The scopes of users, each made once, at its first use.
final class UserScopes {
  private let store: HubStore
  private var known: [String: ScopeStore] = [:]

  init(_ store: HubStore) { self.store = store }

  func scope(of user: String) throws -> ScopeStore {
    if let known = known[user] { return known }
    let made = try ScopeStore(store, userNamed: user)
    known[user] = made
    return made
  }
}
