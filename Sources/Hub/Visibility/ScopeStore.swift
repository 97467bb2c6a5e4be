import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues

/// Decides which rows one user may see and change, during one command.
final class ScopeStore {
  let store: HubStore
  /// The user, with the day among the attributes if a rule reads it.
  let user: User
  let rules: ScopeRules
  /// The tables in which the user may change every row.
  private let open: Set<Int>
  /// The tables in which the user may change exactly the rows that the user sees.
  private let openWhereSeen: Set<Int>
  private var knownLinks: ScopeLinks?
  private var knownReach: RuleReach?
  private var mayWriteChecks: [Int: Question] = [:]
  private var maySeeChecks: [Int: Question] = [:]
  private var findings: [Int: Question] = [:]
  private let number: Int64
  private var trees: [Int: DeepTree] = [:]

  /// How many rows above a row SQL itself reads. Usual trees are not as deep.
  static let shallow = 20

  /// A query about single rows of one table, prepared once.
  final class Question {
    private let kept: KeptStatement
    /// The parameters for the key's values.
    private let keyParameters: [Int32]
    /// The columns of the table itself, by position, that decide the answer.
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

    /// The result of `read` for the row with a key. nil if there is none.
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

  /// - Parameter shallow: how many rows above a row SQL itself reads.
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

  /// The scope of the user with a name. A user whom this hub does not know has no attributes.
  convenience init(_ store: HubStore, userNamed name: String) throws {
    self.init(store, user: try store.user(name) ?? User(name: name, attributes: []))
  }

  deinit { store.scopes.remove(number) }

  /// Whether the user may see a row that has too many rows above it for SQL.
  func seesInTree(_ key: RowKey, in place: Int) throws -> Bool {
    // Each query made the trees before the query began.
    try trees[place]?.isSeen(key) ?? false
  }

  /// How many rows of deep trees were read one by one, for measurements.
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

  /// The numbers of the rows that the user may see, a set for each table. The rules are evaluated for every row.
  func visible() throws -> [RowSet] { try store.tables.indices.map(visible) }

  /// The numbers of the rows of one table that the user may see.
  func visible(in place: Int) throws -> RowSet { try numbers(in: place, rules.visible) }

  /// The numbers of the rows that the user may change, a set for each table.
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

  /// Whether the user may now see the row with this number, if it exists.
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

  /// The row with this key as it is now, and the user's rights to it. nil if the row does not exist. One query for both
  /// saved a twentieth of the time of an import.
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
    // A column's type may treat 1 and '1' as equal; keys must be equal bytes.
    return found.flatMap { rows.schema.key(of: $0.row) == key ? $0 : nil }
  }

  private func finding(in place: Int) throws -> Question {
    let table = store.tables[place]
    // Most rules do not distinguish between the right to see and the right to change. Then one condition is enough.
    let conditions = [rules.visible(table)] + (openWhereSeen.contains(place) ? [] : [rules.writable(table)])
    return try question(rules.findingSQL(table, asking: conditions), about: table)
  }

  /// Whether the user may lose the right to change a row when it changes from `before` to `after`. Most updates do not
  /// touch columns that the rules read, and then one query is enough.
  func mayDiffer(_ before: Row, _ after: Row, in place: Int) throws -> Bool {
    if open.contains(place) { return false }
    return try mayWriteCheck(place).columns.contains { before[$0] != after[$0] }
  }

  /// The columns of a row that decide the user's rights to it.
  func deciding(in place: Int) throws -> Set<Int> {
    let seeing = try maySeeChecks[place] ?? question(rules.visible, in: place)
    maySeeChecks[place] = seeing
    return try seeing.columns.union(mayWriteCheck(place).columns)
  }

  /// Whether a change leaves the rights to all other rows as they are, and an update also the rights to its row.
  func decidesNothing(_ change: Change, in place: Int) throws -> Bool {
    guard case .update(let changes) = change else { return try !reach.tables.contains(place) }
    return try deciding(in: place).union(reach.columns[place]).isDisjoint(with: changes.map(\.column))
  }

  private func mayWriteCheck(_ place: Int) throws -> Question {
    let check = try mayWriteChecks[place] ?? question(rules.writable, in: place)
    mayWriteChecks[place] = check
    return check
  }

  /// A query that finds whether a row meets a condition.
  func question(_ condition: (TrackedTable) -> String, in place: Int) throws -> Question {
    let table = store.tables[place]
    return try question(rules.ofRowSQL(table, condition(table)), about: table)
  }

  /// Makes the trees before a query needs them. If a rule is prepared while a query runs, that query ends, because the
  /// rule is prepared under another setting of the connection.
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

  /// Prepares SQL made of rules, and binds the user's attributes. An attribute that was never set is NULL.
  func prepare(_ sql: String) throws -> (statement: KeptStatement, authorizer: ReadAuthorizer) {
    let (kept, authorizer) = try store.prepared(rule: sql)
    try kept.statement.bind(.string(user.name), to: "user")
    for attribute in user.attributes { try kept.statement.bind(attribute.value, to: attribute.name.text) }
    return (kept, authorizer)
  }
}
