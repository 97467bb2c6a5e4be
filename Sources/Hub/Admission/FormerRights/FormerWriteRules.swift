import SatchelDataset
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The rights to write that a user had at an earlier moment. The hub evaluates the rules of that time, on the rows and
/// with the user's attributes of that time.
final class FormerWriteRules {
  /// A rule with the attributes of the user.
  private struct Asked: Hashable {
    let rule: String
    let place: Int
    let attributes: [Field]
  }

  private let scope: ScopeStore
  /// The dataset definitions that were read, by version.
  private var definitions: [Int64: DatasetDefinition?] = [:]
  private var readsOthers: [Asked: Bool] = [:]
  private var questions: [Asked: ScopeStore.Question] = [:]
  private var store: HubStore { scope.store }

  /// - Parameter scope: the scope of the user.
  init(_ scope: ScopeStore) { self.scope = scope }

  /// Whether the user could change the row at `moment`. Call this only if the user saw the row at that moment: the rows
  /// to which this row refers are not checked.
  /// - Parameter row: the row as it was at `moment`.
  func couldWrite(_ row: Row, in place: Int, at moment: FormerMoment) throws -> Bool {
    guard let write = try writeRule(of: place, at: moment) else { return false }
    switch write {
    case .none: return false
    case .visible: return true
    case .expression(let rule): return try ask(rule, about: row, in: place, at: moment) ?? false
    }
  }

  /// Whether the write rule at that moment lets the user make a row with these values. This does not check the rows
  /// above it, but a row without a parent may be forbidden. If the result for that moment is unknown, the user's
  /// present attributes and the present tables decide.
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
    return try ask(rule, about: row, in: place, at: moment) ?? asks(rule, about: row, in: place, scope.user.attributes)
  }

  /// Returns the table's write rule in the dataset version of that moment. nil if the present tables cannot evaluate
  /// the rule.
  private func writeRule(of place: Int, at moment: FormerMoment) throws -> WriteRule? {
    let rules = store.tables[place].rules
    if moment.version == store.dataset.version { return rules.write }
    guard let then = try definition(moment.version)?.rules(for: rules.name) else { return nil }
    return then.write == .visible && rules.write == .visible && then.visible == rules.visible ? .visible : nil
  }

  private func definition(_ version: Int64) throws -> DatasetDefinition? {
    if let known = definitions[version] { return known }
    let made = try store.definition(of: version)
    definitions[version] = .some(made)
    return made
  }

  /// Evaluates a rule as it was at a moment. nil if the result is unknown: the rule also reads other tables, or the
  /// user's attributes at that time are unknown.
  private func ask(_ rule: String, about row: Row, in place: Int, at moment: FormerMoment) throws -> Bool? {
    guard let attributes = moment.attributes, try !readsOthers(rule, in: place) else { return nil }
    return try asks(rule, about: row, in: place, attributes)
  }

  private func readsOthers(_ rule: String, in place: Int) throws -> Bool {
    let asked = Asked(rule: rule, place: place, attributes: [])
    if let known = readsOthers[asked] { return known }
    let reads = try !ScopeLinks.reads(rule, of: store.tables[place], store).isEmpty
    readsOthers[asked] = reads
    return reads
  }

  /// Evaluates a rule for a row. The row need not be in its table.
  private func asks(_ rule: String, about row: Row, in place: Int, _ attributes: [Field]) throws -> Bool {
    let asked = Asked(rule: rule, place: place, attributes: attributes)
    let rows = store.rows[place]
    let key = rows.schema.key(of: row)
    do {
      return try store.database.savepoint(.dryRun) {
        try rows.write(row, over: rows.row(key), key: key)
        return try question(asked).holds(for: key)
      }
    } catch let error as SQLiteError where error.kind == .unique || error.kind == .constraint { return false }
  }

  private func question(_ asked: Asked) throws -> ScopeStore.Question {
    if let known = questions[asked] { return known }
    let then = ScopeStore(store, user: User(name: scope.user.name, attributes: asked.attributes))
    let made = try then.question({ _ in "(\(asked.rule)\n)" }, in: asked.place)
    questions[asked] = made
    return made
  }
}
