import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The number of rows that a user may see, for each table.
public struct ScopeSummary: Sendable {
  public let user: User
  public let tables: [(table: Name, visible: Int, all: Int64)]
}

/// The reasons why a user may or may not see a row.
public struct ScopeExplanation: Sendable {
  /// One condition of the rules for the row.
  public struct Condition: Sendable {
    public let words: String
    public let holds: Bool
  }

  public let table: Name
  public let key: RowKey
  public let conditions: [Condition]
  public let isVisible: Bool
  public let mayWrite: Bool
}

extension HubWorkspace {
  /// Counts the rows that a user may see now, for each table.
  public func scope(of name: String) throws -> ScopeSummary {
    try changing { store in
      guard let user = try store.user(name) else { throw Self.noUser(name) }
      let visible = try ScopeStore(store, user: user).visible()
      return ScopeSummary(
        user: user, tables: try zip(store.tables, visible).map { ($0.name, $1.count, try $0.count(in: store.database)) }
      )
    }
  }

  /// Returns which conditions make a row visible or hide it.
  /// - Parameter text: the row's key as people type it.
  public func explainScope(of name: String, table: String, key text: String) throws -> ScopeExplanation {
    try changing { store in
      guard let user = try store.user(name) else { throw Self.noUser(name) }
      guard let place = store.place(of: Name(table)) else { throw Self.noTable(table, store) }
      let key = try store.key(typed: text, in: place)
      guard try store.rows[place].row(key) != nil else {
        return ScopeExplanation(
          table: Name(table), key: key, conditions: [.init(words: "the row is there", holds: false)], isVisible: false,
          mayWrite: false)
      }
      let scope = ScopeStore(store, user: user)
      let conditions = try scope.conditions(of: key, in: place)
      return ScopeExplanation(
        table: Name(table), key: key, conditions: conditions, isVisible: conditions.allSatisfy(\.holds),
        mayWrite: try scope.mayWrite(key, in: place))
    }
  }
}

extension ScopeStore {
  /// Returns each condition of the rules, and whether the row meets it.
  fileprivate func conditions(of key: RowKey, in place: Int) throws -> [ScopeExplanation.Condition] {
    let table = store.tables[place]
    return try rules.conditions(of: table).map { condition in
      let words =
        switch condition.subject {
        case .row: table.rules.visible.map { "visible: \($0)" } ?? "visible: every row"
        case .parents(let references, let orphans): Self.words(references, orphans)
        case .named(let tables):
          (table.treeKeys.isEmpty ? "it names" : "it, or a row of \(table.name) above it, names")
            + " a row of \(tables.map(\.text).joined(separator: " or "))"
        case .tree: "every row of \(table.name) above it is visible"
        }
      return .init(words: words, holds: try question({ _ in condition.sql }, in: place).holds(for: key))
    }
  }

  private static func words(_ references: [ScopeRules.Reference], _ orphans: OrphanRule) -> String {
    let rows = references.map { reference in
      "the row of \(reference.parent) that \(reference.columns.map(\.text).joined(separator: ", ")) names"
    }
    return rows.joined(separator: ", or ") + (orphans == .hidden ? " is visible" : " is visible, or there is none")
  }
}
