import SatchelDataset
import SatchelValues

extension ConflictRecord {
  /// Whether the table's rules leave a column to a person if both sides changed it. If so, and the conflict is settled,
  /// stamps settled it.
  public func asksPerson(by rules: TableRules) -> Bool {
    guard kind == .updateUpdate, unit == nil else { return false }
    if rules.merge == .row { return rules.conflict == .manual && !winners.isEmpty }
    return winners.contains { rules.policy(of: $0.name) == .winner(.manual) }
  }
}
