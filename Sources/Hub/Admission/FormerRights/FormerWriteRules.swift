import SatchelDataset
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The rights to write that a user had at an earlier moment. The hub evaluates the rules on the rows, and with
/// the user's attributes, of that time.
struct FormerWriteRules {
  private let scope: ScopeStore
  private var store: HubStore { scope.store }

  /// - Parameter scope: the scope of the user.
  init(_ scope: ScopeStore) { self.scope = scope }

  /// Whether the user could change a row that the user saw at that moment.
  func couldWrite(_ key: RowKey, in place: Int, at moment: FormerMoment) throws -> Bool {
    guard let row = try store.row(key, in: place, at: moment.cursor) else { return false }
    return try couldChange(row, to: row, in: place, at: moment)
  }

  /// Whether the user could change a row that the user saw at that moment. The rows above it are not checked.
  /// - Parameters:
  ///   - former: the row as it was then.
  ///   - written: the row with what the user wrote. The user must have been allowed to make it so.
  func couldChange(_ former: Row, to written: Row, in place: Int, at moment: FormerMoment) throws -> Bool {
    guard let write = try writeRule(of: place, at: moment) else { return false }
    switch write {
    case .none: return false
    case .visible:
      let deciding = try scope.deciding(in: place)
      if deciding.allSatisfy({ former[$0] == written[$0] }) { return true }
      return try couldMake(written, in: place, at: moment)
    case .expression(let rule):
      guard try ask(rule, about: former, in: place, at: moment) ?? false else { return false }
      return try former == written || ask(rule, about: written, in: place, at: moment) ?? false
    }
  }

  /// Whether the write rule at that moment lets the user make a row with these values. The rows above it are
  /// checked only for a parent. If the result at that time is unknown, the user's present attributes and the present
  /// tables decide.
  func couldMake(_ row: Row, in place: Int, at moment: FormerMoment) throws -> Bool {
    guard let write = try writeRule(of: place, at: moment), try !scope.hidesOrphan(row, in: place) else {
      return false
    }
    let rule: String?
    switch write {
    case .none: return false
    case .expression(let text): rule = text
    case .visible: rule = store.tables[place].rules.visible
    }
    guard let rule else { return true }
    return try ask(rule, about: row, in: place, at: moment) ?? asks(rule, about: row, in: place, as: scope.user)
  }

  /// Returns the table's write rule in the dataset version of that moment. nil if the present tables cannot evaluate
  /// the rule.
  private func writeRule(of place: Int, at moment: FormerMoment) throws -> WriteRule? {
    let rules = store.tables[place].rules
    if moment.version == store.dataset.version { return rules.write }
    let source = try VersionTable.definitions(in: store.database).first { $0.version == moment.version }?.source
    guard let source, let then = try DatasetDefinition(json: source).rules(for: rules.name) else { return nil }
    return then.write == .visible && rules.write == .visible && then.visible == rules.visible ? .visible : nil
  }

  /// Evaluates a rule as it was at a moment. nil if the result is unknown. That is so if the rule reads other tables
  /// too, or if the user's attributes at that time are not known.
  private func ask(_ rule: String, about row: Row, in place: Int, at moment: FormerMoment) throws -> Bool? {
    guard let attributes = moment.attributes,
      try ScopeLinks.reads(rule, of: store.tables[place], store).isEmpty
    else { return nil }
    return try asks(rule, about: row, in: place, as: User(name: scope.user.name, attributes: attributes))
  }

  /// Evaluates a rule for a row that is not in its table.
  private func asks(_ rule: String, about row: Row, in place: Int, as user: User) throws -> Bool {
    let rows = store.rows[place]
    let key = rows.schema.key(of: row)
    do {
      return try store.database.savepoint(.dryRun) {
        try rows.write(row, over: rows.row(key), key: key)
        return try ScopeStore(store, user: user).question({ _ in "(\(rule)\n)" }, in: place).holds(for: key)
      }
    } catch let error as SQLiteError where error.kind == .unique || error.kind == .constraint { return false }
  }
}
