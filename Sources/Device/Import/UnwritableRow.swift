import SatchelJSON
import SatchelRows
import SatchelSQLite
import SatchelValues

/// A row from the hub that this database does not allow. This device's SQLite may compute an index differently, or its
/// app may have a rule that the hub does not have.
///
/// Each import of the bundle fails as a whole, until the row or the rule is changed. A part of a bundle cannot be
/// imported: the hub relies on a device having all rows of an imported bundle.
struct UnwritableRow {
  let rows: RowTable
  let row: Row
  /// The error with which SQLite refused the row.
  let error: SQLiteError

  /// The refusal of the bundle. It names the row, the rule and the way out.
  func refusal(in database: borrowing Database) -> Refusal {
    // If the rule is not found, the message is less precise.
    let rule = (try? rows.refusingRule(for: row, error, in: database)) ?? .constraint
    return Refusal(.rowUnwritable, "\(beginning): \(cause(rule)).", hint: hint(rule))
  }

  private var beginning: String {
    let key = String(decoding: canonicalKey(rows.schema.key(of: row)), as: UTF8.self)
    return "The row \(rows.name) \(key) that the hub sent cannot be written into this database"
  }

  private func cause(_ rule: RefusingRule) -> String {
    switch rule {
    case .index(let index): "the index \(index) cannot be computed from it (\(error.message))"
    case .generatedColumns(let columns):
      "the generated column \(columns.joined(separator: " or ")) cannot be computed from it (\(error.message))"
    case .constraint: error.message
    }
  }

  private func hint(_ rule: RefusingRule) -> String {
    let atHub = "have the row changed at the hub, and import the hub's next bundle"
    return switch rule {
    case .index(let index):
      """
      If the app can do without the index, drop it: DROP INDEX \(quoted(index)). Then import the file again. If not, \
      \(atHub).
      """
    case .generatedColumns: "A newer satchel may be able to compute it. If not, \(atHub)."
    case .constraint:
      """
      If the hub's table does not demand that, have the app make the table as the hub has it. Then run satchel doctor \
      --repair, and import the file again. If the hub's table does, \(atHub).
      """
    }
  }
}
