import SatchelDataset
import SatchelSQLite
import SatchelValues

/// The names of capture's own tables, columns and triggers for one table of the app.
struct CaptureNames {
  let table: Name
  /// Capture's own columns in the table of pre-images. If the app's table has a column of the same name, `_` is added
  /// to the name of capture's column.
  let generation: Name
  let existed: Name
  let stamp: Name
  let first: Name
  /// Capture's own columns in the table of writes, besides `existed`.
  let number: Name
  let written: Name
  let again: Name
  /// Columns for tables with units. `unit` in the table of pre-images is the number of the unit. `mark` in the table
  /// of writes is the newest mark that an app set.
  let unit: Name
  let mark: Name
  /// Whether the tables have the columns `unit` and `mark`.
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

  /// Capture's own columns in the table of pre-images, in order.
  var controls: [Name] { always + (keepsUnits ? [unit] : []) }
  /// Capture's own columns in each table of pre-images, with or without units.
  var always: [Name] { [generation, existed, stamp, first] }

  /// Whether a column in one of capture's tables is not a column of the app's table.
  func isOwn(_ column: Name) -> Bool { ([number, written, again, mark, unit] + always).contains(column) }

  var before: Name { Self.before(table) }
  static func before(_ table: Name) -> Name { Name("satchel_before_\(table)") }
  var writes: Name { Name("satchel_writes_\(table)") }

  /// The name of a trigger. The table's name begins after the first colon, so triggers of different tables have
  /// different names.
  func trigger(_ moment: String) -> Name { Name("satchel_\(moment):\(table)") }
}
