import SatchelBundle
import SatchelMerge
import SatchelValues

extension ConflictRecord {
  /// The values that a decision for the device writes into a row. Values that the row already includes are left out.
  /// For a counter or a set, the device's difference is added to the row's value.
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
      // The start value of an inserted row, or of a row that no trigger saw, is unknown. So there is no difference.
      guard operation == .update, let base = baseValues?.first(where: { $0.name == field.name }) else { return nil }
      return combine(how, base: base.value, hub: row[column], device: field.value).map { Field(field.name, $0) }
        ?? field
    }
  }
}
