import SatchelSQLite
import SatchelValues

/// One row of a table of pre-images.
struct SavedRow {
  let key: RowKey
  private let row: Row
  private let existed: Int64
  let generation: Generation
  private let stamp: Stamp
  private let first: FirstWrite?
  private let unit: UnitNumber?

  /// The value of `existed` for a row that existed, but that the hub has deleted since.
  static let gone: Int64 = 2

  /// Reads a query with the saved columns, the generation, `existed`, the two stamps and, with units, the unit.
  init(_ statement: borrowing Statement, of table: TrackedTable) {
    let count = table.schema.columns.count
    row = Row(statement.values(from: 0, count: count))
    key = table.schema.key(of: row)
    generation = Generation(statement.integer(count))
    existed = statement.integer(count + 1)
    stamp = Stamp(statement.integer(count + 2))
    first = statement.optionalInteger(count + 3).map { FirstWrite(stored: $0) }
    unit = table.names.keepsUnits ? statement.optionalInteger(count + 4).map { UnitNumber($0) } : nil
  }

  /// The pre-image, for any spelling of the key.
  var image: PreImage {
    PreImage(
      generation: generation, stamp: stamp, first: first, row: existed != 0 ? row : nil, isGone: existed == Self.gone,
      unit: unit)
  }

  /// The pre-image for one spelling of the key. With another spelling than the saved one, the row did not exist.
  func image(spelled spelling: RowKey) -> PreImage {
    key.values == spelling.values
      ? image : PreImage(generation: generation, stamp: stamp, first: first, row: nil, unit: unit)
  }
}
