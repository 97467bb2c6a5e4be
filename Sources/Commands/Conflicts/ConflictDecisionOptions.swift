import SatchelConflicts
import SatchelValues

/// The options of `conflicts resolve` that decide one conflict: `--keep` and `--set`.
enum ConflictDecisionOptions {
  static let all = [
    OptionSpec(
      "keep", kind: .value("hub|device"),
      help: "whose values are kept; for single columns: COLUMN=hub, COLUMN=device or COLUMN=before", repeatable: true),
    OptionSpec(
      "set", kind: .value("COLUMN=VALUE"), help: "a value of your own; NULL for none, @FILE for a file's bytes",
      repeatable: true),
  ]

  /// A side of a conflict. A decision may give a column the value of a side.
  private enum Side: String {
    case hub, device, before

    func fields(of record: ConflictRecord) -> [Field]? {
      switch self {
      case .hub: record.hubValues
      case .device: record.deviceValues
      case .before: record.baseValues
      }
    }
  }

  /// The decision that the options give.
  ///
  /// Throws a `UsageError` if no option gives a decision, or if two options give values for one column. Throws a
  /// `WorkspaceError` if the chosen value of a counter or a set is unknown, or has an unknown start.
  /// - Parameter conflict: reads the conflict. It is called only if an option gives a column the value of a side.
  static func decision(_ command: ParsedCommand, about conflict: () throws -> StoredConflict) throws -> ConflictDecision
  {
    let (keep, set) = (command.values("keep"), command.values("set"))
    if keep == ["hub"], set.isEmpty { return .hub }
    if keep == ["device"], set.isEmpty { return .device }
    if keep.isEmpty, set.isEmpty { throw nothingSaid }
    let sides = try keep.map(side)
    let fields = try (sides.isEmpty ? [] : values(of: sides, in: conflict())) + set.map { try entered($0, command) }
    for (place, field) in fields.enumerated()
    where fields[..<place].contains(where: { $0.name.isSameInSQL(as: field.name) }) {
      throw UsageError("the column \(field.name) has two values: name it once, with --keep or with --set")
    }
    return .set(fields)
  }

  private static let nothingSaid = UsageError(
    "say --keep hub or --keep device for all values, or for single columns --keep COLUMN=device or --set COLUMN=VALUE")

  private static func side(_ word: String) throws -> (column: Name, side: Side) {
    guard let choice = Assignment(word), let side = Side(rawValue: choice.value) else { throw nothingSaid }
    return (Name(choice.name), side)
  }

  private static func values(
    of sides: [(column: Name, side: Side)], in conflict: StoredConflict
  ) throws -> [EnteredField] {
    try sides.map { column, side in
      switch side {
      case .hub: break
      case .device: try conflict.checkDevice(column)
      case .before: try conflict.checkBefore(column)
      }
      guard let field = side.fields(of: conflict.record)?.first(where: { $0.name.isSameInSQL(as: column) }) else {
        throw UsageError(
          "the conflict has no value for \(column)=\(side.rawValue): conflicts show names the columns and their values")
      }
      return EnteredField(field.name, .known(field.value))
    }
  }

  private static func entered(_ word: String, _ command: ParsedCommand) throws -> EnteredField {
    guard let assignment = Assignment(word) else { throw UsageError("--set takes COLUMN=VALUE, not \"\(word)\"") }
    let (name, words) = (Name(assignment.name), assignment.value)
    if words == "NULL" { return EnteredField(name, .known(.null)) }
    let file = words.hasPrefix("@") ? command.path(String(words.dropFirst())) : nil
    return EnteredField(name, .words(words, file: file))
  }
}
