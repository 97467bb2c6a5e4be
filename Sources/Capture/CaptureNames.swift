import SatchelDataset
import SatchelSQLite
import SatchelValues

/// The names of capture's own objects for one table.
struct CaptureNames {
  let table: Name
  /// The control columns of the table of pre-images. If the app's table has a column of such a name, the control column
  /// gets a longer name.
  let generation: Name
  let existed: Name
  let stamp: Name
  let first: Name
  /// The control columns of the table of writes, beside `existed`.
  let number: Name
  let written: Name
  let again: Name
  /// For tables with units. `unit` is in the table of pre-images, and holds the number of the unit. `mark` is in the
  /// table of writes, and holds the newest mark.
  let unit: Name
  let mark: Name
  /// Whether the tables have these two columns.
  let keepsUnits: Bool

  init(_ schema: TableSchema, unit rule: UnitRule? = nil) {
    table = schema.name
    func free(_ wanted: String) -> Name { Self.free(wanted, among: schema.columns) }
    generation = free("satchel_generation")
    existed = free("satchel_existed")
    stamp = free("satchel_stamp")
    first = free("satchel_first")
    number = free("satchel_number")
    written = free("satchel_written")
    again = free("satchel_again")
    unit = free("satchel_unit")
    mark = free("satchel_mark")
    keepsUnits = rule == .transaction
  }

  static func free(_ wanted: String, among columns: [Name]) -> Name {
    var name = wanted
    while columns.contains(where: { $0.isSameInSQL(as: Name(name)) }) { name += "_" }
    return Name(name)
  }

  /// The control columns of the table of pre-images, in order.
  var controls: [Name] { always + (keepsUnits ? [unit] : []) }
  /// The control columns that each table of pre-images has, with or without units.
  var always: [Name] { [generation, existed, stamp, first] }

  /// Whether a column of a table of pre-images, or of writes, is capture's own.
  func isOwn(_ column: Name) -> Bool { ([number, written, again, mark, unit] + always).contains(column) }

  var before: Name { Self.before(table) }
  static func before(_ table: Name) -> Name { Name("satchel_before_\(table)") }
  var writes: Name { Name("satchel_writes_\(table)") }

  /// The moment is the part before the first colon, so no two tables share a trigger's name.
  func trigger(_ moment: String) -> Name { Name("satchel_\(moment):\(table)") }
}
