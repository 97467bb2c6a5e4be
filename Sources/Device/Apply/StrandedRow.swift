import SatchelConflicts
import SatchelRows
import SatchelValues

/// A pending row that cannot stay in its table. After references got new keys, another row has its natural key. Or the
/// tables of a new version do not allow the row. Only this value has the row and its pre-images now.
struct StrandedRow {
  let rows: RowTable
  let key: RowKey
  let row: Row
  let images: [PreImage]
  /// The kind of the conflict that keeps the row's changes: `unique` or `constraint`.
  var kind = ConflictKind.unique
}
