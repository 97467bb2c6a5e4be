import SatchelMerge
import SatchelValues

/// The message for a conflict about a counter or a set whose start value is unknown. Its row is from before its
/// device joined.
public enum UnknownStart {
  private static let text =
    "This row is from before the device joined. Nothing shows which part of the two values is the same. "
    + "Enter the right value."

  /// The message if a start value is unknown in this disagreement; nil otherwise.
  /// - Parameter first: the time of the change's first write.
  public static func words(
    for disagreement: Disagreement, of change: Change, first: FirstWrite?, by rules: MergeRules
  ) -> String? {
    rules.lacksStart(change, first: first, in: disagreement) ? text : nil
  }
}

extension ConflictRecord {
  /// The counters and sets in this conflict on which both sides differ, and whose start value is unknown.
  func columnsWithoutStart(in schema: TableSchema, by rules: MergeRules) -> [Name] {
    guard state == .open, kind == .insertInsert || kind == .updateUpdate else { return [] }
    return winners.map(\.name).filter { name in
      guard let column = schema.position(of: name), rules.countsDifferences(of: column) else { return false }
      return operation == .insert || baseValues?.contains(Field(name, MergeRules.unknownStart)) == true
    }
  }
}

extension ConflictUnit {
  /// Throws a `WorkspaceError` if a change of the unit is about a counter or a set whose start value is unknown. A
  /// person must look at each such conflict, so a decision about many conflicts leaves it out.
  /// - Parameter table: returns the columns and the rules of a table; nil if the table is not in the dataset.
  public func checkStarts(of table: (Name) -> (schema: TableSchema, rules: MergeRules)?) throws {
    for record in members.map(\.record) {
      guard let (schema, rules) = table(record.table) else { continue }
      let columns = record.columnsWithoutStart(in: schema, by: rules)
      if !columns.isEmpty { throw WorkspaceError(withoutStart: columns) }
    }
  }
}

extension WorkspaceError {
  fileprivate init(withoutStart columns: [Name]) {
    let values = columns.map { "--set \($0)=VALUE" }.joined(separator: " ")
    self.init(
      .unknownStart,
      """
      The two values of \(columns.map(\.text).joined(separator: ", ")) have no known start in common, so no rule can \
      compute the right value.
      """,
      hint: "Look at it, and decide it by itself: \(values), --keep hub or --keep device")
  }
}
