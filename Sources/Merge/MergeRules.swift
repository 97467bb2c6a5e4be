import SatchelDataset
import SatchelValues

/// A table's rules, resolved for the positions of its columns.
public struct MergeRules: Sendable {
  /// The policy of the row as a whole: for deletes, and for columns without one of their own.
  public let table: Policy
  public private(set) var columns: [ColumnPolicy]
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
  /// Who decides where values differ.
  public var judge: Judge
  /// With `judge` `stamps`: the columns for which the policies decide all the same, because the device is known not to
  /// have seen what others wrote there. They are among `columns`.
  public var disputed: Set<Int> = []

  /// Who decides between a device's value and another one.
  public enum Judge: Sendable {
    /// The table's policies: it is known that the device did not see the other value.
    case policies
    /// The stamps: the hub was set back, and the device may have seen the other value, or a value that the hub has
    /// lost. A change that knew another change has the greater stamp, so it wins in whatever order they come.
    case stamps
  }

  public init(columns: [Int: Stamp] = [:], presence: Bool = false, newest: Stamp = .zero, judge: Judge = .policies) {
    self.columns = columns
    self.presence = presence
    self.newest = newest
    self.judge = judge
  }

  public var isEmpty: Bool { columns.isEmpty && !presence }

  /// The same to one change. A deletion takes all of a row, also what others wrote before the emission on which it was
  /// made: the row left the user's sight, was changed, and came back.
  public func meeting(_ change: Change, onto hub: Row?) -> OthersChanges {
    guard case .delete(let was) = change, let hub else { return self }
    var others = self
    for column in was.values.indices where others.columns[column] == nil {
      // Columns of another type on the device hold the same values in another form.
      if hub[column] != was[column], !hub[column].saysSame(as: was[column]) { others.columns[column] = newest }
    }
    return others
  }

  /// The same to a change of a row that two replicas made and that became one. The device met all of the other row by
  /// making its own. So a column counts only if it has another value than the one from which the change started.
  public func meetingFolded(_ change: Change, onto hub: Row?) -> OthersChanges {
    if hub == nil { return self }
    if case .insert = change { return self }
    var others = self
    others.presence = false
    let differing = Self.difference(meeting: change, onto: hub, at: newest).columns
    others.columns = columns.filter { differing[$0.key] != nil }
    return others
  }
}

extension MergeRules {
  /// Whether stamps may decide between two values.
  public var comparesStamps: Bool { table == .newest || columns.contains(.winner(.newest)) }

  /// How both sides' values of a column become one value; nil if one of the two values wins.
  public func combination(of column: Int) -> Combination? {
    guard grain == .column, case .combination(let how) = columns[column] else { return nil }
    return how
  }

  /// Whether a change of the column counts by its difference from the value before it: a counter or a set.
  public func countsDifferences(of column: Int) -> Bool {
    switch combination(of: column) {
    case .sum, .union: true
    case .max, .min, nil: false
    }
  }

  /// The rules for a device's change. An inserted row without a first write was there before its device joined: from
  /// where its counters and sets began is not known.
  /// - Parameter first: the first write of which the change is made.
  public func forChange(_ change: Change, first: FirstWrite?) -> MergeRules {
    if case .insert = change, first == nil { withoutDifferences } else { self }
  }

  /// The same rules for counters and sets whose beginning is not known: a person decides about them as about any other
  /// value.
  private var withoutDifferences: MergeRules {
    var rules = self
    rules.columns = columns.indices.map { countsDifferences(of: $0) ? .winner(table) : columns[$0] }
    return rules
  }

  /// Rules by which the hub's values stand wherever they differ.
  public static func hubWins(_ schema: TableSchema) -> MergeRules {
    MergeRules(table: .hub, columns: schema.columns.map { _ in .winner(.hub) }, grain: .column)
  }

  /// Rules by which a person decides wherever values differ.
  public static func manual(_ schema: TableSchema) -> MergeRules {
    MergeRules(table: .manual, columns: schema.columns.map { _ in .winner(.manual) }, grain: .column)
  }

  /// The policy for a row as a whole.
  func policy(for others: OthersChanges) -> Policy {
    others.judge == .stamps && others.disputed.isEmpty ? .newest : table
  }

  /// The policy for a column that both sides changed. Where rows are merged as a whole, it is the row's policy.
  func policy(of column: Int, for others: OthersChanges) -> Policy {
    if grain == .row { return policy(for: others) }
    return others.judge == .stamps && !others.disputed.contains(column) ? .newest : winner(of: column)
  }

  /// The policy of a column that both sides changed and whose values cannot be combined. A person chooses between
  /// values that cannot be added up.
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
