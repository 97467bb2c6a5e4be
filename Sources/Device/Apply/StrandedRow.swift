import SatchelConflicts
import SatchelRows
import SatchelValues

/// A pending row that cannot be in its table any more. Another row has its natural key after references got new keys,
/// or the tables of a new version do not allow the row. The row and its pre-images are only in this value now.
struct StrandedRow {
  let rows: RowTable
  let key: RowKey
  let row: Row
  let images: [PreImage]
  /// The kind of the conflict that keeps the row's changes: `unique` or `constraint`.
  var kind = ConflictKind.unique
}
