import SatchelValues

/// The day as the parameter `:today` of rules, a text such as `2026-01-31`.
///
/// A rule may not read the clock, because one evaluation must use a single day. So the hub takes the day once for
/// each evaluation. An emission records the day with the user's attributes, so that the hub knows later what the user
/// could see.
public enum RuleDay {
  public static let name: Name = "today"

  /// Whether a rule uses the parameter. The same characters inside a quoted text count too, which does no harm.
  public static func isRead(by rule: String) -> Bool {
    let (bytes, parameter) = (Array(rule.utf8), Array(":\(name.text)".utf8))
    return bytes.indices.contains { start in
      let rest = bytes[start...]
      return rest.starts(with: parameter) && !(rest.dropFirst(parameter.count).first.map(isOfWord) ?? false)
    }
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 95, 97...122, 128...: true
    default: false
    }
  }
}

extension DatasetDefinition {
  /// Whether `:today` means the day. It does not if the dataset declares an attribute of this name.
  public var hasDay: Bool { attribute(RuleDay.name) == nil }

  /// Whether rows of a table leave users' scopes as days pass, because the table's own rule reads the day.
  public func rowsLeaveByDay(_ table: TableRules) -> Bool {
    hasDay && table.visible.map(RuleDay.isRead) ?? false
  }
}
