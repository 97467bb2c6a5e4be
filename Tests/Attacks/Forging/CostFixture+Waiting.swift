import SatchelHub
import SatchelJSON
import SatchelSQLite
import SatchelWorkspace
import TestSupport

/// Lines about rows that wait for each other. Their order is the worst one: each line waits for the next line.
extension CostFixture {
  /// - Parameter numbers: the beginning of an SQL statement. It defines the table `n` with the numbers below the count.
  func prepareWaiting(_ count: Int, _ filling: CostTests.Filling, _ numbers: String) throws {
    switch filling {
    case .keptDecisions, .keptDeletes:
      try write("\(numbers) INSERT INTO stores SELECT 't' || i, 'c' || i, NULL FROM n", in: hub.folder)
      try deliver { forger in (0..<count).flatMap { self.keptOut($0, forger) } }
    case .heldCaseless:
      try deliver { forger in (0..<count).map { self.node($0, before: $0 + 1, forger) } }
    case .failedDeletes:
      try share("INSERT INTO homes VALUES ('h', NULL); \(numbers) INSERT INTO people SELECT 'p' || i, 'h' FROM n")
      // The device does not have these visits. They refer to the people, so no person can be deleted.
      try write("\(numbers) INSERT INTO visits SELECT 'v' || i, 'p' || i FROM n", in: hub.folder)
    case .families:
      try share(
        """
        \(numbers) INSERT INTO homes SELECT 'h' || i, NULL FROM n;
        \(numbers) INSERT INTO people SELECT 'p' || i, 'h' || i FROM n
        """)
      // The device does not have these people. They refer to the homes, so no home can be deleted.
      try write("\(numbers) INSERT INTO people SELECT 'q' || i, 'h' || i FROM n", in: hub.folder)
    case .receipts:
      // Many rows of the sender name the same file.
      try deliver { forger in (0..<count).map { self.row($0, naming: "oak.jpg", forger) } }
    case .caselessValues: try share("\(numbers) INSERT INTO tags SELECT 't' || i, 'v' || i FROM n")
    case .caselessDeletes:
      try share("\(numbers) INSERT INTO nodes SELECT 'n' || i, CASE WHEN i > 0 THEN 'N' || (i - 1) END FROM n")
    case .expressions: try share("\(numbers) INSERT INTO seats SELECT 's' || i, 'v' || i FROM n")
    case .untrueValues: try share("\(numbers) INSERT INTO codes SELECT 'c' || i, 'v' || i FROM n")
    default: try prepareHeld(count, filling, numbers)
    }
  }

  /// Imports a bundle with these lines, before the bundle that is measured.
  /// - Parameter later: the difference between the bundle's number and the last merged number.
  func deliver(later: Int = 1, _ lines: (Forger) -> [JSONValue]) throws {
    tick()
    _ = try hub.importBundle(file(later: later) { content, forger in content.changes = lines(forger) })
    merged += Int64(later)
  }

  /// A new row that another row excludes, and a row that refers to it.
  private func keptOut(_ number: Int, _ forger: Forger) -> [JSONValue] {
    let (key, child) = (text("s\(number)"), text("k\(number)"))
    return [
      forger.insert("stores", key, ["id": key, "code": text("c\(number)"), "beside": nil]),
      forger.insert("stores", child, ["id": child, "code": nil, "beside": key]),
    ]
  }

  /// A new node that refers to the next node. The reference differs from the next node's key in capital and small
  /// letters.
  func node(_ number: Int, before next: Int?, _ forger: Forger) -> JSONValue {
    let key = text("n\(number)")
    return forger.insert("nodes", key, ["id": key, "next": next.map { text("N\($0)") } ?? .null])
  }

  private func row(_ number: Int, naming file: String, _ forger: Forger) -> JSONValue {
    let key = text("r\(number)")
    return forger.insert("rows", key, ["id": key, "owner": "ann", "words": nil, "photo": text(file)])
  }

  /// The ids of the conflicts about new rows that other rows exclude.
  func keptConflicts() throws -> [String] {
    let database = try Database(path: hub.folder.path("data.sqlite"), mode: .readOnly)
    return try database.all("SELECT id FROM satchel_conflicts WHERE kind = 'unique' ORDER BY id") { $0.text(0) }
  }

  /// - Parameter number: the index of the line, counted from 0.
  func waitingLine(_ filling: CostTests.Filling, _ number: Int, of count: Int, _ forger: Forger) -> JSONValue {
    /// A line that changes a row's value from its own value to the value of the next row.
    func update(_ table: String, _ row: String, _ column: String, was: String, now: String) -> JSONValue {
      forger.update(
        table, text("\(row)\(number)"), set: .object([.init(name: column, value: text(now))]),
        was: .object([.init(name: column, value: text(was))]))
    }
    switch filling {
    case .keptDeletes:
      // The first row waits until the end of the merge.
      if number == 0 { return forger.insert("links", "o", ["id": "o", "next": "gone", "words": nil]) }
      let key = text("s\(number)")
      return forger.delete("stores", key, was: ["id": key, "code": text("c\(number)"), "beside": nil])
    case .untypedKeys:
      let key = JSONValue.integer(Int64(number + 1))
      return forger.insert("loose", key, ["id": key, "next": "gone"])
    case .failedDeletes:
      if number == 0 { return deleteHome("h", forger) }
      if number % 2 == 1 { return deletePerson(number / 2, of: "h", forger) }
      let key = text("r\(number)")
      return forger.insert("rows", key, ["id": key, "owner": "ann", "words": nil, "photo": nil])
    case .families:
      let home = "h\(number / 2)"
      return number % 2 == 0 ? deletePerson(number / 2, of: home, forger) : deleteHome(home, forger)
    case .caselessValues: return update("tags", "t", "tag", was: "v\(number)", now: "V\(number + 1)")
    case .caselessChain: return node(number, before: number < count - 1 ? number + 1 : nil, forger)
    case .caselessDeletes:
      let (key, before) = (text("n\(number)"), text("N\(number - 1)"))
      return forger.delete("nodes", key, was: ["id": key, "next": number > 0 ? before : .null])
    case .expressions: return update("seats", "s", "name", was: "v\(number)", now: "v\(number + 1)")
    case .untrueValues: return update("codes", "c", "code", was: "another", now: "v\(number + 1)")
    default: return .null
    }
  }

  private func deleteHome(_ home: String, _ forger: Forger) -> JSONValue {
    forger.delete("homes", text(home), was: ["id": text(home), "words": nil])
  }

  private func deletePerson(_ number: Int, of home: String, _ forger: Forger) -> JSONValue {
    let key = text("p\(number)")
    return forger.delete("people", key, was: ["id": key, "home": text(home)])
  }
}

extension CostTests.Filling {
  /// Whether `waitingLine` makes the lines of this filling.
  var isAboutWaiting: Bool {
    switch self {
    case .keptDeletes, .untypedKeys, .failedDeletes, .families, .caselessValues, .caselessChain, .caselessDeletes,
      .expressions, .untrueValues:
      true
    default: false
    }
  }
}
