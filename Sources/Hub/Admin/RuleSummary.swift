import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues

/// The rules of one table as this hub understands them, for a person who checks whether they are what was meant.
public struct RuleSummary: Sendable {
  public let table: Name
  public let rows: Int64
  /// Which rows a user sees, in words.
  public let sees: String
  /// Which rows a user may change, in words.
  public let changes: String
  /// Number of rows that name no parent, although the other rows follow a parent. Only `visible` decides about them; if
  /// there is no such rule, every user sees them.
  public let withoutParent: Int64
  /// Whether the table has a rule `visible` of its own.
  public let hasOwnRule: Bool

  init(_ table: TrackedTable, of dataset: DatasetDefinition, in database: borrowing Database) throws {
    self.table = table.name
    rows = try database.first("SELECT count(*) FROM \(quoted(table.name))") { $0.integer(0) } ?? 0
    let parents = table.parentKeys(in: dataset)
    sees = Self.sees(table, below: parents)
    hasOwnRule = table.rules.visible != nil
    changes =
      switch table.rules.write {
      case .visible: "all of them"
      case .none: "none"
      case .expression(let rule): "rows with \(rule)"
      }
    withoutParent = try Self.countWithoutParent(table, parents, in: database)
  }

  private static func sees(_ table: TrackedTable, below parents: [ForeignKey]) -> String {
    var names: [Name] = []
    for key in parents where !names.contains(key.parent) { names.append(key.parent) }
    let joined = names.map(\.text).joined(separator: table.rules.parentsMatch == .any ? " or " : " and ")
    let below = names.isEmpty ? nil : "rows whose \(joined) the user sees"
    let parts = [below, table.rules.visible.map { "rows with \($0)" }].compactMap { $0 }
    let rows = parts.isEmpty ? "every row" : parts.joined(separator: "; only ")
    return table.treeKeys.isEmpty ? rows : "\(rows); none below a hidden row of \(table.name)"
  }

  private static func countWithoutParent(
    _ table: TrackedTable, _ parents: [ForeignKey], in database: borrowing Database
  ) throws -> Int64 {
    if parents.isEmpty { return 0 }
    let absent = parents.map { key in
      "(\(key.columns.map { "\(quoted(table.schema.columns[$0])) IS NULL" }.joined(separator: " OR ")))"
    }
    return try database.first(
      "SELECT count(*) FROM \(quoted(table.name)) WHERE \(absent.joined(separator: " AND "))"
    ) { $0.integer(0) } ?? 0
  }
}
