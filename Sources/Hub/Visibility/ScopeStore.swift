import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues

/// Decides which rows one user may see and change, during one command.
final class ScopeStore {
  let store: HubStore
  /// The user. If a rule reads the day, the day is one of the user's attributes.
  let user: User
  let rules: ScopeRules
  /// The tables in which the user may change every row.
  private let open: Set<Int>
  /// The tables in which the user may change exactly the rows that the user may see.
  private let openWhereSeen: Set<Int>
  private var knownLinks: ScopeLinks?
  private var knownReach: RuleReach?
  private var mayWriteChecks: [Int: Question] = [:]
  private var maySeeChecks: [Int: Question] = [:]
  private var findings: [Int: Question] = [:]
  private let number: Int64
  private var trees: [Int: DeepTree] = [:]

  /// The greatest number of rows above a row that SQL itself reads. Most trees are less deep.
  static let shallow = 20

  /// A query about single rows of one table, prepared once.
  final class Question {
    private let kept: KeptStatement
    /// The parameters for the key's values.
    private let keyParameters: [Int32]
    /// The positions of the table's own columns that may change the answer.
    let columns: Set<Int>
    private let store: HubStore
    private let table: Name

    fileprivate init(_ kept: KeptStatement, about table: TableSchema, columns: Set<Int>, in store: HubStore) {
      self.kept = kept
      self.store = store
      self.table = table.name
      let names = kept.statement.parameterNames
      keyParameters = table.key.indices.map { part in
        Int32((names.firstIndex { $0 == "satchel_\(part + 1)" } ?? 0) + 1)
      }
      self.columns = columns
    }

    func holds(for key: RowKey) throws -> Bool { try answer(for: key) { _ in true } ?? false }

    /// Returns the result of `read` for the row with a key. nil if the query finds no row.
    fileprivate func answer<T>(for key: RowKey, _ read: (borrowing Statement) -> T) throws -> T? {
      defer { kept.statement.reset() }
      for (parameter, value) in zip(keyParameters, key.values) { try kept.statement.bind(value, at: parameter) }
      return try store.askingRules(of: table) { _ in try kept.statement.step() ? read(kept.statement) : nil }
    }
  }

  /// A row as it is now, and the user's rights to it.
  struct Found {
    let row: Row
    let maySee: Bool
    let mayWrite: Bool
    /// Whether the user may neither see nor change the row.
    var isOutOfReach: Bool { !maySee && !mayWrite }
  }

  /// - Parameter shallow: the greatest number of rows above a row that SQL itself reads.
  init(_ store: HubStore, user: User, shallow: Int = ScopeStore.shallow) {
    self.store = store
    self.user = store.withDay(user)
    number = store.scopes.nextNumber()
    let rules = ScopeRules(
      dataset: store.dataset, tables: store.tables, climb: .init(rows: shallow, scope: number))
    self.rules = rules
    open = Set(store.tables.indices.filter { rules.letsWriteAll(store.tables[$0]) })
    openWhereSeen = Set(store.tables.indices.filter { store.tables[$0].rules.write == .visible })
    store.scopes.add(self, number)
  }

  /// Makes the scope of the user with a name. A user whom this hub does not know has no attributes.
  convenience init(_ store: HubStore, userNamed name: String) throws {
    self.init(store, user: try store.user(name) ?? User(name: name, attributes: []))
  }

  deinit { store.scopes.remove(number) }

  /// Whether the user may see a row that has more rows above it than SQL reads.
  func seesInTree(_ key: RowKey, in place: Int) throws -> Bool {
    // `prepareForTrees` made the trees before the query began.
    try trees[place]?.isSeen(key) ?? false
  }

  /// The number of rows of deep trees that were read one by one. Only for measurements.
  var rowsReadInTrees: Int { trees.values.reduce(0) { $0 + $1.rowsRead } }

  func forgetTrees() {
    for tree in trees.values { tree.forgetAll() }
  }

  /// The links between the tables. Made on demand, because most commands do not need them.
  var links: ScopeLinks {
    get throws {
      if let knownLinks { return knownLinks }
      let made = try ScopeLinks(store, rules)
      knownLinks = made
      return made
    }
  }

  /// The rows that decide about the rights to other rows. Made on demand.
  var reach: RuleReach {
    get throws {
      if let knownReach { return knownReach }
      let made = try RuleReach(store)
      knownReach = made
      return made
    }
  }

  /// Returns the numbers of the rows that the user may see, one set for each table. Evaluates the rules for every row.
  func visible() throws -> [RowSet] { try store.tables.indices.map(visible) }

  /// Returns the numbers of the rows of one table that the user may see.
  func visible(in place: Int) throws -> RowSet { try numbers(in: place, rules.visible) }

  /// Returns the numbers of the rows that the user may change, one set for each table.
  /// - Parameter seen: the rows that the user may see.
  func writable(among seen: [RowSet]) throws -> [RowSet] {
    try store.tables.indices.map { place in
      switch store.tables[place].rules.write {
      case .visible: seen[place]
      case .none: RowSet()
      case .expression: try numbers(in: place, rules.writable)
      }
    }
  }

  private func numbers(in place: Int, _ condition: (TrackedTable) -> String) throws -> RowSet {
    try prepareForTrees()
    let table = store.tables[place]
    let (kept, _) = try prepare(rules.numbersSQL(table, condition(table)))
    var set = RowSet()
    try store.askingRules(of: store.tables[place].name) { limit in
      while try kept.statement.step() {
        set.insert(kept.statement.integer(0))
        limit.restart()
      }
    }
    return set
  }

  /// Whether the user may see the row with this number as it is now. False if there is no such row.
  func maySee(_ number: Int64, in place: Int) throws -> Bool {
    try store.numbers[place].key(of: number).map { try maySee($0, in: place) } ?? false
  }

  /// Whether the user may see the row with this key as it is now.
  func maySee(_ key: RowKey, in place: Int) throws -> Bool {
    let check = try maySeeChecks[place] ?? question(rules.visible, in: place)
    maySeeChecks[place] = check
    return try check.holds(for: key)
  }

  /// Whether the user may change the row with this key as it is now.
  func mayWrite(_ key: RowKey, in place: Int) throws -> Bool {
    if open.contains(place) { return true }
    return try mayWriteCheck(place).holds(for: key)
  }

  /// Returns the row with this key as it is now, and the user's rights to it. nil if the row does not exist. One query
  /// finds both the row and the rights. With two queries, an import took a twentieth more time.
  func find(_ key: RowKey, in place: Int) throws -> Found? {
    let rows = store.rows[place]
    if open.contains(place) { return try rows.row(key).map { Found(row: $0, maySee: true, mayWrite: true) } }
    let finding = try findings[place] ?? finding(in: place)
    findings[place] = finding
    let count = rows.schema.columns.count
    let found = try finding.answer(for: key) {
      Found(
        row: Row($0.values(from: 0, count: count)), maySee: $0.integer(count) != 0,
        mayWrite: $0.integer($0.columnCount - 1) != 0)
    }
    // A column's type may treat 1 and '1' as equal. But keys are equal only if their bytes are equal.
    return found.flatMap { rows.schema.key(of: $0.row) == key ? $0 : nil }
  }

  private func finding(in place: Int) throws -> Question {
    let table = store.tables[place]
    // In most tables, a user may change every row that the user may see. One condition is then enough.
    let conditions = [rules.visible(table)] + (openWhereSeen.contains(place) ? [] : [rules.writable(table)])
    return try question(rules.findingSQL(table, asking: conditions), about: table)
  }

  /// Whether an update from `before` to `after` may end the user's right to change the row. Most updates do not touch
  /// columns that the rules read, so a further query is then not needed.
  func mayDiffer(_ before: Row, _ after: Row, in place: Int) throws -> Bool {
    if open.contains(place) { return false }
    return try mayWriteCheck(place).columns.contains { before[$0] != after[$0] }
  }

  /// Returns the columns of a row that decide about the user's rights to this row.
  func deciding(in place: Int) throws -> Set<Int> {
    let seeing = try maySeeChecks[place] ?? question(rules.visible, in: place)
    maySeeChecks[place] = seeing
    return try seeing.columns.union(mayWriteCheck(place).columns)
  }

  /// Whether a change affects no rights. It must not affect the rights to other rows. An update must not affect the
  /// rights to its own row either.
  func decidesNothing(_ change: Change, in place: Int) throws -> Bool {
    guard case .update(let changes) = change else { return try !reach.tables.contains(place) }
    return try deciding(in: place).union(reach.columns[place]).isDisjoint(with: changes.map(\.column))
  }

  private func mayWriteCheck(_ place: Int) throws -> Question {
    let check = try mayWriteChecks[place] ?? question(rules.writable, in: place)
    mayWriteChecks[place] = check
    return check
  }

  /// Returns a query that finds whether a row meets a condition.
  func question(_ condition: (TrackedTable) -> String, in place: Int) throws -> Question {
    let table = store.tables[place]
    return try question(rules.ofRowSQL(table, condition(table)), about: table)
  }

  /// Makes the trees before a query needs them. Preparing a rule changes a setting of the connection. If this happened
  /// while a query runs, the query would end.
  private func prepareForTrees() throws {
    for place in store.tables.indices where trees[place] == nil && !store.tables[place].treeKeys.isEmpty {
      trees[place] = try DeepTree(of: store.tables[place], for: self)
    }
  }

  private func question(_ sql: String, about table: TrackedTable) throws -> Question {
    try prepareForTrees()
    let (kept, authorizer) = try prepare(sql)
    return Question(kept, about: table.schema, columns: authorizer.dependencies(on: table.schema), in: store)
  }

  /// Prepares SQL that contains rules, and binds the user's attributes. An attribute that was never set is NULL.
  func prepare(_ sql: String) throws -> (statement: KeptStatement, authorizer: ReadAuthorizer) {
    let (kept, authorizer) = try store.prepared(rule: sql)
    try kept.statement.bind(.string(user.name), to: "user")
    for attribute in user.attributes { try kept.statement.bind(attribute.value, to: attribute.name.text) }
    return (kept, authorizer)
  }
}
