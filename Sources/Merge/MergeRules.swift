import SatchelDataset
import SatchelValues

/// A table's rules, resolved for the positions of its columns.
public struct MergeRules: Sendable {
  /// The policy of the row as a whole: for deletes, and for columns without one of their own.
  public let table: Policy
  public let columns: [Policy]
  public let grain: MergeGrain

  public init(_ rules: TableRules, schema: TableSchema) {
    table = rules.conflict
    columns = schema.columns.map { rules.policy(of: $0) }
    grain = rules.merge
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
    MergeRules(table: .hub, columns: schema.columns.map { _ in .hub }, grain: .column)
  }

  init(table: Policy, columns: [Policy], grain: MergeGrain) {
    self.table = table
    self.columns = columns
    self.grain = grain
  }
}
