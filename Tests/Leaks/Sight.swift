import SatchelSQLite
import SatchelValues

/// The rows of a random dataset that one user may see. They are computed row by row from the meaning of the rules,
/// without the tested SQL.
struct Sight {
  struct Row {
    let values: [String: Value]

    subscript(_ column: String) -> Value { values[column] ?? .null }
  }

  private let dataset: RandomDataset
  private let user: String
  private let tier: Int64
  private var rows: [String: [Value: Row]] = [:]

  /// - Parameter tier: the user's attribute.
  init(_ dataset: RandomDataset, of user: String, tier: Int64, in database: borrowing Database) throws {
    self.dataset = dataset
    self.user = user
    self.tier = tier
    for table in dataset.tables {
      rows[table.name] = Dictionary(uniqueKeysWithValues: try Self.rows(of: table, in: database).map { ($0["id"], $0) })
    }
  }

  static func rows(of table: RandomDataset.Table, in database: borrowing Database) throws -> [Row] {
    try database.all("SELECT \(table.columns.joined(separator: ", ")) FROM \(table.name)") { row in
      Row(values: Dictionary(uniqueKeysWithValues: table.columns.enumerated().map { ($1, row.value($0)) }))
    }
  }

  /// All rows that the user may see.
  var seen: [Row] { dataset.tables.flatMap { seen(in: $0.name) } }

  func seen(in table: String) -> [Row] {
    (rows[table] ?? [:]).values.filter { isSeen($0, of: dataset.table(table)) }
  }

  private func isSeen(_ row: Row, of table: RandomDataset.Table) -> Bool {
    guard isSeenByItself(row, of: table) else { return false }
    if !table.isTree { return true }
    var above: Set<Value> = []
    var next = row["up"]
    while next != .null, above.insert(next).inserted {
      guard let parent = rows[table.name]?[next], isSeenByItself(parent, of: table) else { return false }
      next = parent["up"]
    }
    return true
  }

  /// Whether the user may see the row, without regard to the rows above it in its own table.
  private func isSeenByItself(_ row: Row, of table: RandomDataset.Table) -> Bool {
    isAllowed(row, by: table.rule) && hasSeenParents(row, of: table)
  }

  private func isAllowed(_ row: Row, by rule: RandomDataset.Rule) -> Bool {
    func isTier(_ isRight: (Int64) -> Bool) -> Bool {
      if case .integer(let tier) = row["tier"] { isRight(tier) } else { false }
    }
    let isOwn = row["owner"] == .string(user)
    return switch rule {
    case .all: true
    case .tier: isTier { $0 <= tier }
    case .owner: isOwn || isTier { $0 == 0 }
    case .own: isOwn
    case .posted: (rows["posts"] ?? [:]).values.contains { $0["owner"] == .string(user) && $0["words"] == row["id"] }
    }
  }

  private func hasSeenParents(_ row: Row, of table: RandomDataset.Table) -> Bool {
    let parents = table.references.filter { $0.table != table.name }.map { reference -> Bool? in
      if row[reference.column] == .null { return nil }
      guard let parent = rows[reference.table]?[row[reference.column]] else { return false }
      return isSeen(parent, of: dataset.table(reference.table))
    }
    if table.matchesAny { return parents.contains(true) || !parents.contains { $0 != nil } }
    return !parents.contains(false)
  }
}
