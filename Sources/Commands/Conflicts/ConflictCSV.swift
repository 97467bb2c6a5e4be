import SatchelConflicts
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Conflicts as comma-separated values (RFC 4180), with one line for each column of a conflict.
enum ConflictCSV {
  private static let names = [
    "conflict", "state", "kind", "device", "user", "table", "key", "column", "before", "hub", "device_value", "stands",
    "changed",
    "noted", "decision", "decided_by", "note", "hub_geometry", "device_geometry", "reported", "unit",
    "label",
  ]

  /// The first line, with the names of the columns.
  static let heading = CSV.text([names])

  /// The lines of these conflicts.
  static func text(_ conflicts: [StoredConflict], layers: [Layer]) -> String {
    CSV.text(conflicts.flatMap { lines($0, layers) })
  }

  /// A cell of the file. A geometry is written in full, other bytes in short.
  private static func cell(_ name: Name, _ fields: [Field]?) -> String {
    guard let fields, let field = fields.first(where: { $0.name == name }), !field.value.isNull else { return "" }
    return ConflictGeometries.geometry(name, in: fields)?.wellKnownText ?? Words.value(field.value)
  }

  private static func lines(_ conflict: StoredConflict, _ layers: [Layer]) -> [[String]] {
    let record = conflict.record
    return record.columns.map { name in
      let geometries = ConflictGeometries(name, of: record, layers: layers)
      let hub = geometries.flatMap { sides in sides.hub.map { sides.words(of: $0, sides.hubChange) } }
      let device = geometries.flatMap { sides in sides.device.map { sides.words(of: $0, sides.deviceChange) } }
      return [
        record.id.text, record.state.rawValue, record.kind.rawValue, record.device.text, record.user, record.table.text,
        Words.key(record.key), name.text, cell(name, conflict.knownBaseValues), cell(name, record.hubValues),
        cell(name, record.deviceValues),
        (record.winners.first { $0.name == name }?.winner ?? record.rowWinner).rawValue,
        UTCTime.text(milliseconds: record.stamp.milliseconds), UTCTime.text(milliseconds: conflict.noted),
        conflict.decision?.made.rawValue ?? "", conflict.decision?.by ?? "", record.note ?? "", hub ?? "", device ?? "",
        conflict.isReported ? "yes" : "", record.unit?.text ?? "",
        conflict.label.map(Words.value) ?? "",
      ]
    }
  }
}
