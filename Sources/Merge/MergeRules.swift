import SatchelDataset
import SatchelValues

/// A table's rules, resolved for the positions of its columns.
public struct MergeRules: Sendable {
  /// The policy of the row as a whole: for deletes, and for columns without one of their own.
  public let table: Policy
  public let columns: [ColumnPolicy]
  public let grain: MergeGrain
  /// The column that says that a row was deleted; nil: rows that are deleted go.
  public let deleted: Int?

  public init(_ rules: TableRules, schema: TableSchema) {
    table = rules.conflict
    columns = schema.columns.map { rules.policy(of: $0) }
    grain = rules.merge
    if case .soft(let column) = rules.delete { deleted = schema.position(of: column) } else { deleted = nil }
  }
}

/// What everyone but the device changed in a row since the device saw it.
public struct OthersChanges: Sendable {
  /// The newest stamp by which each column was changed.
  public var columns: [Int: Stamp]
  /// Whether the row came or went.
  public var presence: Bool
  /// The newest stamp of the row, whenever that was.
  public var newest: Stamp

  public init(columns: [Int: Stamp] = [:], presence: Bool = false, newest: Stamp = .zero) {
    self.columns = columns
    self.presence = presence
    self.newest = newest
  }

  public var isEmpty: Bool { columns.isEmpty && !presence }
}

extension MergeRules {
  /// Rules by which the hub's values stand wherever they differ.
  public static func hubWins(_ schema: TableSchema) -> MergeRules {
    MergeRules(table: .hub, columns: schema.columns.map { _ in .winner(.hub) }, grain: .column)
  }

  /// Rules by which somebody decides wherever values differ.
  public static func manual(_ schema: TableSchema) -> MergeRules {
    MergeRules(table: .manual, columns: schema.columns.map { _ in .winner(.manual) }, grain: .column)
  }

  /// Who wins a column that both sides changed and whose values cannot be one: of two that cannot be added up, somebody chooses.
  func winner(of column: Int) -> Policy {
    if grain == .row { return table }
    if case .winner(let policy) = columns[column] { return policy }
    return .manual
  }

  init(table: Policy, columns: [ColumnPolicy], grain: MergeGrain, deleted: Int? = nil) {
    self.table = table
    self.columns = columns
    self.grain = grain
    self.deleted = deleted
  }
}
