import SatchelCapture
import SatchelDataset
import SatchelPlatform
import SatchelValues

/// The day in the rules of one user.
extension HubStore {
  /// Whether a rule reads the day.
  var rulesReadDay: Bool {
    dataset.hasDay
      && tables.contains { $0.rules.visible.map(RuleDay.isRead) ?? false || writeRuleReadsDay(of: $0) }
  }

  private func writeRuleReadsDay(of table: TrackedTable) -> Bool {
    table.rules.write.expression.map(RuleDay.isRead) ?? false
  }

  /// The user as the rules know the user: with the day at the office, if a rule reads it. A day that is known already
  /// stays.
  func withDay(_ user: User) -> User {
    guard rulesReadDay, !user.attributes.contains(where: { $0.name == RuleDay.name }) else { return user }
    let today = clock.localDay(milliseconds: clock.milliseconds())
    return User(
      name: user.name, attributes: user.attributes + [Field(RuleDay.name, .string(today))], expires: user.expires)
  }

  /// Whether an emission was made with other rights of its user than another one, as far as attributes decide. The day
  /// alone is no such difference: the rows that an emission shows already follow the day. But it is one if the day
  /// decides who may write.
  func haveOtherRights(_ one: Emission, _ other: Emission) -> Bool {
    guard rulesReadDay, !tables.contains(where: writeRuleReadsDay) else { return one.attributes != other.attributes }
    return one.attributes.map(Self.withoutDay) != other.attributes.map(Self.withoutDay)
  }

  private static func withoutDay(_ attributes: [Field]) -> [Field] { attributes.filter { $0.name != RuleDay.name } }
}
