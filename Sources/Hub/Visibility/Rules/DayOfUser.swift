import SatchelCapture
import SatchelDataset
import SatchelPlatform
import SatchelValues

/// The present day, which rules may read as `:today`.
extension HubStore {
  /// Whether any rule reads the day.
  var rulesReadDay: Bool {
    dataset.hasDay
      && tables.contains { $0.rules.visible.map(RuleDay.isRead) ?? false || writeRuleReadsDay(of: $0) }
  }

  private func writeRuleReadsDay(of table: TrackedTable) -> Bool {
    table.rules.write.expression.map(RuleDay.isRead) ?? false
  }

  /// Returns the user with the day at the office as an attribute, if a rule reads the day. If the user already has a
  /// day, it stays.
  func withDay(_ user: User) -> User {
    guard rulesReadDay, !user.attributes.contains(where: { $0.name == RuleDay.name }) else { return user }
    let today = clock.localDay(milliseconds: clock.milliseconds())
    return User(
      name: user.name, attributes: user.attributes + [Field(RuleDay.name, .string(today))], expires: user.expires)
  }

  /// Whether two emissions were made with different rights of their users, as far as attributes decide. A different day
  /// alone is no difference, because the rows of an emission already follow the day. But it is a difference if the day
  /// decides who may write.
  func haveOtherRights(_ one: Emission, _ other: Emission) -> Bool {
    guard rulesReadDay, !tables.contains(where: writeRuleReadsDay) else { return one.attributes != other.attributes }
    return one.attributes.map(Self.withoutDay) != other.attributes.map(Self.withoutDay)
  }

  private static func withoutDay(_ attributes: [Field]) -> [Field] { attributes.filter { $0.name != RuleDay.name } }
}
