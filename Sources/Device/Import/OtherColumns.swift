import SatchelBundle
import SatchelValues
import SatchelWorkspace

extension TableSchema {
  /// Returns the row of a line from the hub. Throws a `Refusal` if the line has other columns than this table.
  func rowOfHub(_ fields: [Field]) throws -> Row {
    if let row = rowInOrder(fields) { return row }
    try refuseOtherColumns(fields.map(\.name))
    return try row(fields)
  }

  private var asAtHub: String {
    """
    satchel doctor --repair --tables makes the table as the hub has it, and keeps a copy of the database.
    """
  }

  /// Refuses a bundle whose rows of this table have other columns than the database here. The order of the columns does
  /// not matter.
  ///
  /// The file stays in place: it is sound, and can be imported when both sides have the same columns.
  func refuseOtherColumns(_ theirs: [Name]) throws {
    if theirs == columns { return }
    let missing = theirs.filter { !columns.contains($0) }
    let surplus = columns.filter { !theirs.contains($0) }
    if missing.isEmpty, surplus.isEmpty { return }
    func list(_ names: [Name]) -> String { names.map(\.text).joined(separator: ", ") }
    throw Refusal(
      .schemaDiffers,
      missing.isEmpty
        ? "The table \(name) has the column \(list(surplus)) here, and not at the hub."
        : "The table \(name) has the column \(list(missing)) at the hub, and not in the database here.",
      hint: missing.isEmpty
        ? """
        Have the hub's operator add the column there; then ask for a full bundle. If the hub does not need the column: \
        \(asAtHub)
        """
        : """
        Update the app to the version that has it, run satchel doctor --repair, then import the file again. If another \
        program removed the column here: \(asAtHub)
        """)
  }
}
