import SatchelRows
import SatchelValues

/// The scopes in use on one connection. The SQL of the rules calls a function for rows in deep trees. This object finds
/// the scope that answers the call.
final class OpenScopes {
  /// The SQL function. Its arguments are the scope's number, the table's place, and the values of the row's key.
  static let function: Name = "satchel_sees_in_tree"

  private struct Entry {
    weak var scope: ScopeStore?
  }

  private var scopes: [Int64: Entry] = [:]
  private var last: Int64 = 0

  /// A number that no other scope of the connection has.
  func nextNumber() -> Int64 {
    last += 1
    return last
  }

  func add(_ scope: ScopeStore, _ number: Int64) { scopes[number] = Entry(scope: scope) }

  func remove(_ number: Int64) { scopes[number] = nil }

  /// Makes all scopes forget their trees. The caller does this between two transactions, because rows may have changed.
  func forgetTrees() {
    for entry in scopes.values { entry.scope?.forgetTrees() }
  }

  /// Answers a call of the SQL function: whether the scope's user may see the row. Returns false if the scope does not
  /// exist.
  func answer(_ arguments: [Value]) throws -> Bool {
    guard arguments.count > 2, case .integer(let number) = arguments[0], case .integer(let place) = arguments[1],
      let scope = scopes[number]?.scope
    else { return false }
    return try scope.seesInTree(RowKey(Array(arguments[2...])), in: Int(place))
  }
}
