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
  /// The counters and sets of this change whose start value is unknown.
  func columnsWithoutStart(in schema: TableSchema, by rules: MergeRules) -> [Name] {
    let areInserted = operation == .insert && (kind == .insertInsert || kind == .updateUpdate)
    let names = areInserted || !winners.isEmpty ? winners.map(\.name) : (deviceValues ?? []).map(\.name)
    return names.filter { name in
      guard let column = schema.position(of: name), rules.countsDifferences(of: column) else { return false }
      return areInserted || baseValues?.contains(Field(name, MergeRules.unknownStart)) == true
    }
  }

  /// The columns among these for which the hub has a value too. A person must give the right value of such a column.
  fileprivate func undecidable(_ columns: [Name]) -> [Name] {
    if state == .resolved { return [] }
    return columns.filter { column in hubValues?.contains { $0.name == column } == true }
  }
}

extension ConflictUnit {
  /// Throws a `WorkspaceError` if a change of the unit is about a counter or a set whose start value is unknown. A
  /// person must look at each such conflict, so a decision about many conflicts leaves it out.
  /// - Parameter table: returns the columns and the rules of a table; nil if the table is not in the dataset.
  public func checkStarts(of table: (Name) -> (schema: TableSchema, rules: MergeRules)?) throws {
    for record in members.map(\.record) {
      guard let (schema, rules) = table(record.table) else { continue }
      let columns = record.undecidable(record.columnsWithoutStart(in: schema, by: rules))
      if !columns.isEmpty { throw WorkspaceError(withoutStart: columns) }
    }
  }
}

extension StoredConflict {
  /// The values before the change, without those that are unknown.
  public var knownBaseValues: [Field]? { record.baseValues?.filter { !lacksStart($0.name) } }

  /// Whether the column is a counter or a set whose value before the change is unknown.
  public func lacksStart(_ column: Name) -> Bool { columnsWithoutStart.contains { $0.isSameInSQL(as: column) } }

  /// Throws a `WorkspaceError` if a person chose the value of a column from before the change, and it is unknown.
  public func checkBefore(_ column: Name) throws {
    if lacksStart(column) { throw WorkspaceError(unknownBefore: column) }
  }

  /// Throws a `WorkspaceError` if a person chose the device's value of a column whose start value is unknown.
  public func checkDevice(_ column: Name) throws {
    try checkDevice { $0.isSameInSQL(as: column) }
  }

  fileprivate func checkDevice(_ isChosen: (Name) -> Bool = { _ in true }) throws {
    let columns = record.undecidable(columnsWithoutStart).filter(isChosen)
    if !columns.isEmpty { throw WorkspaceError(deviceWithoutStart: columns, of: record) }
  }
}

extension ShownConflict {
  /// Throws a `WorkspaceError` if the decision takes the device's value of a counter or a set whose start value is
  /// unknown. The value may contain work that the hub's value contains too, so a person must give the right value.
  public func checkStarts(for decision: ConflictDecision) throws {
    guard case .device = decision else { return }
    for part in parts { try part.conflict.checkDevice() }
  }
}

extension WorkspaceError {
  private static func settings(_ columns: [Name]) -> String {
    columns.map { "--set \($0)=VALUE" }.joined(separator: " ")
  }

  fileprivate init(withoutStart columns: [Name]) {
    self.init(
      .unknownStart,
      """
      The two values of \(columns.map(\.text).joined(separator: ", ")) have no known start in common, so no rule can \
      compute the right value.
      """,
      hint: "Look at it, and decide it by itself: \(Self.settings(columns)) or --keep hub")
  }

  fileprivate init(deviceWithoutStart columns: [Name], of record: ConflictRecord) {
    let names = columns.map(\.text).joined(separator: ", ")
    self.init(
      .unknownStart, "Nothing shows where the device's value of \(names) began, in \(record.words).",
      hint: record.unit == nil
        ? "Keep the hub's (--keep hub), or give the right value: \(Self.settings(columns))"
        : "Keep the hub's rows (--keep hub), and enter the right values in the app afterwards.")
  }

  fileprivate init(unknownBefore column: Name) {
    self.init(
      .unknownStart, "The value of \(column) before the change is not known.",
      hint: "Keep the hub's (--keep \(column)=hub), or give the right value: \(Self.settings([column]))")
  }
}
