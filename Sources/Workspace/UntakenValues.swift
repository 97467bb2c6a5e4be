import SatchelBundle
import SatchelMerge
import SatchelValues

extension ConflictRecord {
  /// The values that a decision for the device writes into a row: of counters and sets what the device's difference
  /// makes of the row's value, if that difference is not in it.
  func untaken(onto row: Row?, _ schema: TableSchema, _ rules: MergeRules) -> [Field] {
    let fields = deviceValues ?? []
    guard let row else { return fields }
    return fields.compactMap { field in
      guard let column = schema.position(of: field.name), rules.countsDifferences(of: column),
        let how = rules.combination(of: column)
      else { return field }
      // Columns that did not disagree were put together when the change was merged.
      if !winners.isEmpty, !winners.contains(where: { $0.name == field.name }) { return nil }
      // From where an inserted row, or one that no trigger saw, began to count, nobody knows.
      guard operation == .update, let base = baseValues?.first(where: { $0.name == field.name }) else { return nil }
      return combine(how, base: base.value, hub: row[column], device: field.value).map { Field(field.name, $0) }
        ?? field
    }
  }
}
