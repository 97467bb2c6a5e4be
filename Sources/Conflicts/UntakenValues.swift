import SatchelBundle
import SatchelMerge
import SatchelValues

extension ConflictRecord {
  /// The values that a decision for the device writes into a row. Values that the row already includes are left out.
  /// For a counter or a set, the device's difference is added to the row's value. If the start value is unknown, the
  /// device's value replaces the hub's value that it met; additions that others made later stay.
  func untaken(onto row: Row?, _ schema: TableSchema, _ rules: MergeRules) -> [Field] {
    let fields = deviceValues ?? []
    guard let row else { return fields }
    // An earlier release did not rename columns in `winners` when the table's columns were renamed.
    let areWinnersKnown = !winners.isEmpty && winners.allSatisfy { schema.position(of: $0.name) != nil }
    return fields.compactMap { field in
      // A column without a disagreement was merged when the change came. It may have a newer value now.
      if areWinnersKnown, !winners.contains(where: { $0.name == field.name }) { return nil }
      // An `unseen` conflict has the whole row. Most of its values are equal to those that the hub sent, so they are
      // no change.
      if kind == .unseen, hubValues?.contains(field) == true { return nil }
      guard let column = schema.position(of: field.name), rules.countsDifferences(of: column),
        let how = rules.combination(of: column)
      else { return field }
      guard let start = start(of: field.name) else { return nil }
      return combine(how, base: start, hub: row[column], device: field.value).map { Field(field.name, $0) } ?? field
    }
  }

  /// The value from which the device's difference is computed; nil if the row keeps its own value.
  private func start(of column: Name) -> Value? {
    let base = baseValues?.first { $0.name == column }?.value
    if operation == .update, base != MergeRules.unknownStart { return base }
    // Nothing shows which part of both values is the same work. The person saw both and chose the device's value. So
    // the hub's value that the change met is the start.
    let met = hubValues?.first { $0.name == column }?.value
    if operation == .update { return met ?? base }
    // In an `unseen` conflict, the device's row may have an older value from the hub. So there is no difference to
    // add.
    return kind == .insertInsert ? met : nil
  }
}
