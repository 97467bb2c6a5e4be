import SatchelBundle
import SatchelCapture
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

extension HubStore {
  /// Brings a device's line into the columns of the hub's table. A column that the device's table lacks gets its
  /// default. A column that was removed since the device's version is left out. A renamed column gets its new name.
  ///
  /// Throws a `Refusal` if the line has a column that the hub's table lacks. The bundle can be imported as soon as the
  /// hub's table has the column.
  func fitted(_ sent: ChangeLine, in place: Int, _ translation: SchemaTranslation) throws -> ChangeLine {
    let schema = rows[place].schema
    if translation.isPresent, fits(sent, schema) { return sent }
    let line = translation.isPresent ? sent : translation.present(sent)
    if fits(line, schema) { return line }
    func content(_ line: ChangeLine) throws -> ChangeLine.Content {
      switch line.content {
      case .insert(let fields): return .insert(try whole(fields, in: place, translation))
      case .delete(let fields): return .delete(was: try whole(fields, in: place, translation))
      case .update(let set, let was):
        try refuseOtherColumns(set, in: place, translation)
        // A recreated table may have its columns in another order.
        let pairs = zip(set, was).sorted { schema.position(of: $0.0.name) ?? 0 < schema.position(of: $1.0.name) ?? 0 }
        return set.count == was.count ? .update(set: pairs.map(\.0), was: pairs.map(\.1)) : line.content
      case .row, .gone, .rekey, .block: return line.content
      }
    }
    return line.with(content: try content(line))
  }

  /// Whether the line has the table's columns in the table's order. Almost every line does.
  private func fits(_ line: ChangeLine, _ schema: TableSchema) -> Bool {
    func isInOrder(_ fields: [Field]) -> Bool {
      var next = 0
      for field in fields {
        while next < schema.columns.count, schema.columns[next] != field.name { next += 1 }
        if next == schema.columns.count { return false }
        next += 1
      }
      return true
    }
    return switch line.content {
    case .insert(let fields), .delete(let fields): fields.count == schema.columns.count && isInOrder(fields)
    case .update(let set, let was): set.count == was.count && isInOrder(set)
    case .row, .gone, .rekey, .block: true
    }
  }

  private func whole(_ fields: [Field], in place: Int, _ translation: SchemaTranslation) throws -> [Field] {
    try refuseOtherColumns(fields, in: place, translation)
    let schema = tables[place].schema
    return fields.count >= schema.columns.count ? fields : schema.fields(try schema.row(kept: fields, in: database))
  }

  private func refuseOtherColumns(_ fields: [Field], in place: Int, _ translation: SchemaTranslation) throws {
    let schema = tables[place].schema
    guard let other = fields.first(where: { schema.position(of: $0.name) == nil }) else { return }
    let renamed = translation.renamed.first { $0.table == schema.name && $0.to == other.name }
    // The device may have renamed a column of the hub. A very long name is not shown in a message, because no app gives
    // such a name.
    if let renamed, schema.position(of: renamed.from) != nil, renamed.to.isShort {
      throw Refusal(
        .schemaDiffers,
        "On the device the column \(renamed.from) of the table \(schema.name) has the name \(renamed.to) now.",
        hint: """
          Rename it everywhere: write ALTER TABLE \(quoted(schema.name)) RENAME COLUMN \(quoted(renamed.from)) \
          TO \(quoted(renamed.to)); into a file, give the dataset its next version, and run \
          satchel-hub dataset apply NEW.json --migration FILE; then import the file again. \
          The next bundle then waits on that device, until someone runs there: satchel apply --migrated. Or have the \
          app there give the column its old name, or run there: satchel doctor --repair --tables.
          """)
    }
    throw Refusal(
      .schemaDiffers,
      "The device's table \(schema.name) has the column \(other.name.shortened), and the hub's table has not.",
      hint:
        """
        If a migration of the app adds the column, run it here too, and record it for all devices (satchel-hub dataset \
        apply NEW.json --migration SQL --migrated). If not, add the column to the hub's database (ALTER TABLE), and \
        run satchel-hub doctor --repair. Then import the file again. Nothing in it is lost. If the hub does not need \
        the column, on the device: satchel doctor --repair --tables makes its table as the hub has it. Its next export \
        carries all changes again.
        """
    )
  }
}
