import SatchelBundle
import SatchelMerge
import SatchelValues

extension ConflictRecord {
  /// The values that a decision for the device writes into a row. For counters and sets, the device's difference is
  /// added to the row's value, unless the value already includes it. If the start value is unknown, the device's value
  /// replaces the value that it met, and later additions of others stay.
  func untaken(onto row: Row?, _ schema: TableSchema, _ rules: MergeRules) -> [Field] {
    let fields = deviceValues ?? []
    guard let row else { return fields }
    // An earlier release did not rename the columns in `winners` when the table's columns were renamed.
    let areWinnersKnown = !winners.isEmpty && winners.allSatisfy { schema.position(of: $0.name) != nil }
    return fields.compactMap { field in
      // Columns without a disagreement were merged with the change. Such a column may have a newer value now.
      if areWinnersKnown, !winners.contains(where: { $0.name == field.name }) { return nil }
      // A row that no trigger saw is kept as a whole. Most of its values are those that the hub had sent.
      if kind == .unseen, hubValues?.contains(field) == true { return nil }
      guard let column = schema.position(of: field.name), rules.countsDifferences(of: column),
        let how = rules.combination(of: column)
      else { return field }
      guard let start = start(of: field.name) else { return nil }
      return combine(how, base: start, hub: row[column], device: field.value).map { Field(field.name, $0) } ?? field
    }
  }

  /// The value from which the difference of a counter or a set is computed; nil: the row keeps its value.
  private func start(of column: Name) -> Value? {
    let base = baseValues?.first { $0.name == column }?.value
    if operation == .update, base != MergeRules.unknownStart { return base }
    // Nothing shows which part of both values is the same. A person saw both, and chose the device's value.
    let met = hubValues?.first { $0.name == column }?.value
    if operation == .update { return met ?? base }
    // A row that no trigger saw may have an older value from the hub.
    return kind == .insertInsert ? met : nil
  }
}
