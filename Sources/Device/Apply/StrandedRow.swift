import SatchelConflicts
import SatchelRows
import SatchelValues

/// A pending row that left its table and has no pre-images any more: after its references got new keys, another row has
/// its natural key, or the tables of a new version do not allow the row.
struct StrandedRow {
  let rows: RowTable
  let key: RowKey
  let row: Row
  let images: [PreImage]
  /// The kind of the conflict that keeps the row's changes: `unique` or `constraint`.
  var kind = ConflictKind.unique
}
