import SatchelValues

/// The day as a parameter of rules: `:today`, as the text `2026-01-31`.
///
/// A rule may not read the clock, because one evaluation must use one day. So each scope takes the day once, and an
/// emission records the day with the user's attributes. Later the hub can say what the user saw then.
public enum RuleDay {
  public static let name: Name = "today"

  /// Whether a rule has the parameter. A text in quotes that looks like it counts too, which does no harm.
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
  /// Whether `:today` is the day. If the dataset declares an attribute of this name, the parameter is that attribute.
  public var hasDay: Bool { attribute(RuleDay.name) == nil }

  /// Whether rows of a table leave their users as the days pass, because its own rule `visible` reads the day.
  public func rowsLeaveByDay(_ table: TableRules) -> Bool {
    hasDay && table.visible.map(RuleDay.isRead) ?? false
  }
}
