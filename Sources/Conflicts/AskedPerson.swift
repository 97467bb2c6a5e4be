import SatchelDataset
import SatchelValues

extension ConflictRecord {
  /// Whether a person decides, by the table's rules, about a column that both sides changed. Then only stamps can have
  /// settled the conflict.
  public func asksPerson(by rules: TableRules) -> Bool {
    guard kind == .updateUpdate, unit == nil else { return false }
    if rules.merge == .row { return rules.conflict == .manual && !winners.isEmpty }
    return winners.contains { rules.policy(of: $0.name) == .winner(.manual) }
  }
}
