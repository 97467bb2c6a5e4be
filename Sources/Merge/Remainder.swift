import SatchelValues

/// The rest of a change after another copy of the same database has delivered its own change of the same row.
///
/// Both changes start from the same row, and may have work in common.
/// - Parameters:
///   - change: the change whose rest is computed.
///   - delivered: the other copy's change.
///   - isReplayed: whether `change` was already repeated on a row that contains `delivered`.
/// - Returns: the rest of the change, which starts from the row that `delivered` made. An update without columns if
///   nothing is left. nil if the two changes cannot start from the same row.
public func remainder(of change: Change, after delivered: Change, isReplayed: Bool, by rules: MergeRules) -> Change? {
  switch (change, delivered) {
  case (.insert(let row), .insert(let made)): return Change(from: made, to: row) ?? .update([])
  case (.update(let changes), .update(let made)):
    return .update(remainder(of: changes, after: made, isReplayed: isReplayed, by: rules))
  case (.update(let changes), .insert(let made)) where isReplayed:
    // The repetition turned this copy's own insert into an update of the row that the other copy had made.
    let start = changes.map { ColumnChange(column: $0.column, was: .null, value: made[$0.column]) }
    return .update(remainder(of: changes, after: start, isReplayed: true, by: rules))
  case (.delete(let was), .update(let made)):
    if isReplayed { return change }
    var row = was
    for column in made { row[column.column] = column.value }
    return .delete(was: row)
  default: return nil
  }
}

private func remainder(
  of changes: [ColumnChange], after made: [ColumnChange], isReplayed: Bool, by rules: MergeRules
) -> [ColumnChange] {
  let delivered = Dictionary(uniqueKeysWithValues: made.map { ($0.column, $0) })
  let changed = Set(changes.map(\.column))
  let kept = changes.map { change in
    delivered[change.column].map { remainder(of: change, after: $0, isReplayed: isReplayed, by: rules) } ?? change
  }
  // If only the other copy's change has a column, this copy had changed the column back. This is not known if the
  // change was already repeated on the other copy's row.
  let undone = isReplayed ? [] : made.filter { !changed.contains($0.column) }
  return (kept + undone.map { ColumnChange(column: $0.column, was: $0.value, value: $0.was) })
    .filter { $0.was != $0.value }.sorted { $0.column < $1.column }
}

private func remainder(
  of change: ColumnChange, after delivered: ColumnChange, isReplayed: Bool, by rules: MergeRules
) -> ColumnChange {
  let column = change.column
  // In a repeated change, the difference of the delivered change counts twice.
  if rules.countsDifferences(of: column), let how = rules.combination(of: column),
    let both = combine(how, base: delivered.was, hub: change.was, device: delivered.value),
    let value = combine(how, base: both, hub: change.was, device: change.value)
  {
    return ColumnChange(column: column, was: change.was, value: value)
  }
  if change.value == delivered.value { return ColumnChange(column: column, was: change.value, value: change.value) }
  return isReplayed ? change : ColumnChange(column: column, was: delivered.value, value: change.value)
}
