import SatchelDataset
import SatchelValues

/// A table's rules, resolved to the positions of its columns.
public struct MergeRules: Sendable {
  /// The policy of the row as a whole: for deletes, and for columns without their own policy.
  public let table: Policy
  public private(set) var columns: [ColumnPolicy]
  public let grain: MergeGrain
  /// The column that marks a row as deleted; nil: deleted rows are removed.
  public let deleted: Int?
  /// The stamps that do not show the order of changes.
  private(set) var doubtful = DoubtfulTimes.none
  /// The columns in which the hub's value stays in any case: a person decided about them before the change came.
  private(set) var decided: Set<Int> = []
  /// How equal counters of two inserted rows are merged.
  private var equalCounters = EqualCounters.countOnce

  private enum EqualCounters {
    /// The device's row may be the hub's row, which came back to the device or to the hub.
    case countOnce
    /// Two devices made the row, and both counted.
    case areAdded
  }

  public init(_ rules: TableRules, schema: TableSchema) {
    table = rules.conflict
    columns = schema.columns.map { rules.policy(of: $0) }
    grain = rules.merge
    if case .soft(let column) = rules.delete { deleted = schema.position(of: column) } else { deleted = nil }
  }
}

/// The changes to one row that all others made since the device saw the row.
public struct OthersChanges: Sendable {
  /// The newest stamp of each changed column.
  public var columns: [Int: Stamp]
  /// Whether the row was inserted or deleted.
  public var presence: Bool
  /// The newest stamp of the row, at any time.
  public var newest: Stamp
  /// How differing values are decided.
  public var judge: Judge
  /// The columns that the policies decide although `judge` is `stamps`, because the device has certainly not seen the
  /// writes of others there. These columns are among `columns`.
  public var disputed: Set<Int> = []
  /// The columns that earlier changes of the device wrote since it saw the row. If the row counts as a whole, these
  /// columns are the device's too.
  public var own: Set<Int> = []
  /// The counters and sets whose value at the hub may already contain the device's change. A person decides about such
  /// a change.
  public var uncertain: Set<Int> = []

  /// How to decide between a device's value and another value.
  public enum Judge: Sendable {
    /// By the table's policies: the device is known not to have seen the other value.
    case policies
    /// By the stamps: the hub was set back, and the device may have seen the other value, or a value that the hub has
    /// lost. If a change was made after its replica saw another change, it has the greater stamp. So it wins in any
    /// order of arrival.
    case stamps
  }

  public init(
    columns: [Int: Stamp] = [:], presence: Bool = false, newest: Stamp = .zero, judge: Judge = .policies,
    own: Set<Int> = []
  ) {
    self.columns = columns
    self.presence = presence
    self.newest = newest
    self.judge = judge
    self.own = own
  }

  /// The newest stamp of the row and of all these changes.
  var latest: Stamp { columns.values.reduce(newest, max) }

  public var isEmpty: Bool { columns.isEmpty && !presence }

  /// The part of these changes that one change meets. A deletion meets every write to the row, even writes before the
  /// emission on which the deletion was made. The row may have left the user's scope, been changed, and come back.
  public func meeting(_ change: Change, onto hub: Row?) -> OthersChanges {
    guard case .delete(let was) = change, let hub else { return self }
    var others = self
    for column in was.values.indices where others.columns[column] == nil {
      // If a column has another type on the device, the column holds the same values in another form.
      if hub[column] != was[column], !hub[column].saysSame(as: was[column]) { others.columns[column] = newest }
    }
    return others
  }

  /// The part of these changes that one change meets, for a row that two replicas made and that was joined. A column
  /// counts only if its value differs from the value from which the device's change started: the device has seen the
  /// row with these values. Whether the row was inserted or deleted does not count for updates and deletes.
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
  /// Whether a policy of the table or a column compares stamps.
  public var comparesStamps: Bool { table == .newest || columns.contains(.winner(.newest)) }

  /// Whether the policy of a column compares stamps. nil: the policy of the row as a whole.
  public func comparesStamps(of column: Int?) -> Bool { (column.map(winner) ?? table) == .newest }

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

  /// These rules, for changes that the other side certainly does not contain yet. If such an insert meets a row,
  /// another replica made that row, so equal counters are added too.
  public var addingEqualCounters: MergeRules {
    var rules = self
    rules.equalCounters = .areAdded
    return rules
  }

  /// These rules, for changes that the other side may contain already.
  var countingEqualCountersOnce: MergeRules {
    var rules = self
    rules.equalCounters = .countOnce
    return rules
  }

  /// These rules, but in some columns the hub's value stays: a person decided about them before the change came.
  public func keeping(decided columns: Set<Int>) -> MergeRules {
    var rules = self
    rules.decided = columns
    return rules
  }

  /// These rules, but a person decides between changes if their stamps do not show the order.
  public func doubting(_ times: DoubtfulTimes) -> MergeRules {
    if times.isEmpty { return self }
    var rules = self
    rules.doubtful = times
    return rules
  }

  /// Whether a column adds the counts of both sides.
  public var hasCounters: Bool { columns.indices.contains { combination(of: $0) == .sum } }

  /// Whether the value of an inserted row is added to an equal value. NULL and 0 add nothing.
  func adds(_ value: Value, in column: Int) -> Bool {
    guard equalCounters == .areAdded, combination(of: column) == .sum else { return false }
    return value != .null && value != .integer(0) && value != .real(0)
  }

  /// The rules for a device's change. If a row is inserted without a first write, the row existed before its device
  /// joined, so the start values of its counters and sets are unknown.
  /// - Parameter first: the first write of the change.
  public func forChange(_ change: Change, first: FirstWrite?) -> MergeRules {
    if case .insert = change, first == nil { withoutDifferences } else { self }
  }

  /// These rules, but a person decides about counters and sets, because their start values are unknown. No policy can
  /// decide: each of the two values may contain additions that the other value lacks.
  private var withoutDifferences: MergeRules {
    var rules = self
    rules.columns = columns.indices.map { countsDifferences(of: $0) ? .winner(.manual) : columns[$0] }
    return rules
  }

  /// The start value that an update gives for a counter or a set if the real one is unknown. It is neither a number nor
  /// a set.
  public static let unknownStart = Value.string("?")

  /// Whether a person decides about a counter or a set because its start value is unknown: the row existed before its
  /// device joined.
  /// - Parameter first: the first write of the change.
  public func lacksStart(_ change: Change, first: FirstWrite?, in disagreement: Disagreement) -> Bool {
    guard disagreement.state == .open else { return false }
    let counted = disagreement.winners.keys.filter { countsDifferences(of: $0) }
    switch change {
    case .insert: return first == nil && disagreement.kind == .insertInsert && !counted.isEmpty
    case .update(let changes):
      return disagreement.kind == .updateUpdate
        && changes.contains { counted.contains($0.column) && $0.was == Self.unknownStart }
    case .delete: return false
    }
  }

  /// These rules, for values that cannot be compared, because no record shows which value is the later one. A person
  /// decides, unless the hub's value wins in any case.
  public var uncompared: MergeRules {
    func uncompared(_ policy: Policy) -> Policy { policy == .hub ? .hub : .manual }
    var rules = MergeRules(table: uncompared(table), columns: columns, grain: grain, deleted: deleted)
    rules.columns = columns.map { if case .winner(let policy) = $0 { .winner(uncompared(policy)) } else { $0 } }
    return rules
  }

  /// Rules by which the hub's values win wherever they differ.
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

  /// The policy for a column that both sides changed. If rows are merged as a whole, it is the row's policy.
  func policy(of column: Int, for others: OthersChanges) -> Policy {
    if grain == .row { return policy(for: others) }
    return others.judge == .stamps && !others.disputed.contains(column) ? .newest : winner(of: column)
  }

  /// The policy of a column that both sides changed and whose values cannot be combined. If the column's rule combines
  /// values, a person decides.
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
