import SatchelDevice
import SatchelSQLite
import SatchelValues

/// Writes on devices that capture does not record.
extension KeyHistory {
  /// Writes a row of a device without triggers. Rows with changes that no export carries are left out, because the
  /// export would send their unseen content.
  ///
  /// The row may still reach the hub. A trigger may have predicted its key for another row, and an export sends an
  /// unseen write over an exported row as a new change.
  func sneak(in app: KeyApp, of index: Int) throws {
    let ghost = "ghost \(sneaked.count + 1)"
    let statement: String? =
      switch sneaks.one(of: KeyApp.tables) {
      case "paths": try path(ghost, in: app)
      case let table where table == "eggs" || sneaks.below(3) > 0: try row(ghost, of: table, in: app)
      case let table: try note(ghost, on: table, in: app)
      }
    guard let statement else { return }
    say("\(index) unseen: \(statement)")
    try app.executeUnseen(statement)
    sneaked.insert(ghost)
  }

  private func any(of table: String, in app: KeyApp) throws -> KeyApp.NamedRow? {
    try app.rows(table).filter { !sneaked.contains($0.name) }.randomElement(using: &sneaks)
  }

  /// SQL that writes a note on a row; nil: no row is suitable.
  private func note(_ ghost: String, on table: String, in app: KeyApp) throws -> String? {
    guard let row = try any(of: table, in: app), try !app.isUnexported(table, "id = \(sql(row.key))") else {
      return nil
    }
    sneakedRows.insert(row.name)
    return "UPDATE \(table) SET note = '\(ghost)' WHERE id = \(sql(row.key))"
  }

  /// SQL that inserts a row. If keys are numbers, another replica may soon give the same key to another row.
  private func row(_ ghost: String, of table: String, in app: KeyApp) throws -> String? {
    let last = try app.greatestKey(of: table)
    let key = isFolding ? "'key of \(ghost)'" : String(last + 1 + Int64(sneaks.below(2)))
    if try app.isUnexported(table, "id = \(key)") { return nil }
    if table == "trees" { return "INSERT INTO trees (id, name, height) VALUES (\(key), '\(ghost)', 0)" }
    let (column, parents) = table == "nests" ? ("tree", "trees") : ("nest", "nests")
    guard let parent = try any(of: parents, in: app) else { return nil }
    return """
      INSERT INTO \(table) (id, name, \(column), \(column)_name) VALUES (\(key), '\(ghost)', \(sql(parent.key)), \
      '\(parent.name)')
      """
  }

  /// SQL that writes a path between existing rows. The path may be new or exist already.
  private func path(_ ghost: String, in app: KeyApp) throws -> String? {
    guard let tree = try any(of: "trees", in: app), let nest = try any(of: "nests", in: app),
      try !app.isUnexported("paths", "tree = \(sql(tree.key)) AND nest = \(sql(nest.key))")
    else { return nil }
    return "INSERT OR REPLACE INTO paths VALUES (\(sql(tree.key)), \(sql(nest.key)), '\(ghost)')"
  }

  private func sql(_ key: Value) -> String {
    switch key {
    case .integer(let number): String(number)
    case .text(let bytes): "'\(String(decoding: bytes, as: UTF8.self))'"
    default: "NULL"
    }
  }

  // MARK: checks

  /// Expects that a conflict keeps every unseen text that an import overwrote.
  func checkSneaks(on index: Int, before: Set<String>) throws {
    let lost = try before.intersection(sneaked).subtracting(app(index)?.notes() ?? [])
    if lost.isEmpty { return }
    let kept = try Set(conflicts(of: index).flatMap { ($0.deviceValues ?? []).map(\.value) })
    for text in lost.sorted() where !kept.contains(.string(text)) {
      throw Wrong("device \(index) overwrote \(text) without a conflict")
    }
  }

  /// Expects that no device treats a row as unseen if capture recorded all writes of the row.
  func checkUnseen() throws {
    for index in devices.indices {
      for record in try conflicts(of: index) where record.kind == .unseen && !isOfSneak(record) {
        throw Wrong("device \(index) took a row for unseen: \(record)")
      }
    }
  }

  /// Whether a conflict is about a row with an unseen write.
  func isOfSneak(_ record: ConflictRecord) -> Bool {
    let values = Set((record.deviceValues ?? []).map(\.value))
    return !values.isDisjoint(with: sneaked.union(sneakedRows).map { Value.string($0) })
  }

  private func conflicts(of index: Int) throws -> [ConflictRecord] {
    try devices[index].conflicts(ConflictState.allCases).map(\.record)
  }
}
