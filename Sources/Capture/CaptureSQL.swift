import SatchelSQLite
import SatchelValues

/// The triggers that record one table's writes.
///
/// Every pre-image is saved before the write, never after it: an app's own AFTER triggers may run first and write the
/// row again. An unneeded pre-image does no harm, because an unchanged row is no change. The first entry of a row is
/// its pre-image. So a trigger need not check whether its row exists, or was written before.
struct CaptureSQL {
  let info: TableInfo
  let names: CaptureNames
  let tables: CaptureTables
  // Each command builds the SQL of all triggers, so these texts are made once.
  private let table: String
  private let writes: String
  /// All columns, quoted.
  private let columns: [String]
  /// The key's columns, quoted.
  private let key: [String]

  init(info: TableInfo, names: CaptureNames) {
    self.info = info
    self.names = names
    tables = CaptureTables(info: info, names: names)
    table = quoted(info.schema.name)
    writes = quoted(names.writes)
    columns = info.schema.columns.map { quoted($0) }
    key = tables.key.map { quoted($0) }
  }

  private var alias: String? { tables.alias.map { quoted($0) } }
  private var tidying: CaptureTidying {
    CaptureTidying(
      names: names, columns: info.schema.columns, key: tables.key, counted: info.isAutoincrement ? tables.alias : nil)
  }

  /// All statements, in the order in which they run.
  var statements: [String] { tables.statements + triggers.map(\.sql) }

  /// One trigger for each kind of write. SQLite reserves room for everything in a trigger at each call, even for parts
  /// that do not run.
  var triggers: [(name: Name, sql: String)] {
    [
      trigger("before_insert", "BEFORE INSERT", saveVictimsOfInsert + saveAbsence),
      trigger("after_insert", "AFTER INSERT", when: madeKeyIsNew, saveMadeKey),
      trigger("before_update", "BEFORE UPDATE", [saveOld] + saveVictimsOfUpdate + [saveAbsenceOfOther]),
      trigger("before_delete", "BEFORE DELETE", [saveOld]),
      tidying.trigger,
    ].compactMap(\.self)
  }

  private func trigger(_ moment: String, _ event: String, when condition: String? = nil, _ body: [String]) -> (
    name: Name, sql: String
  )? {
    if body.isEmpty { return nil }
    let name = names.trigger(moment)
    let statements = body + [tidying.occasion(after: body.count)]
    return (
      name,
      """
      CREATE TRIGGER \(quoted(name)) \(event) ON \(table)\(condition.map { " WHEN \($0)" } ?? "")
      BEGIN
        \(statements.joined(separator: ";\n  "));
      END
      """
    )
  }

  // MARK: contents of entries

  /// The time of the write, and the newest mark if units are kept. This SQL may use only functions that older SQLite
  /// builds have: any program may write the database.
  private var now: String { "julianday('now')" + (names.keepsUnits ? ", \(UnitNumbers.newestMark)" : "") }

  /// - Parameter columns: quoted.
  private func save(_ columns: [String], _ source: String) -> String {
    let own = [names.existed, names.written] + (names.keepsUnits ? [names.mark] : [])
    let all = own.map { quoted($0) } + columns
    return "INSERT INTO \(writes) (\(all.joined(separator: ", ")))\n    \(source)"
  }

  /// The values of an entry for a row that was there: 1, the time of the write, the mark of the unit if units are kept,
  /// and all columns behind `prefix`.
  private func whole(_ prefix: String) -> String { "1, \(now), \(list(columns, prefix: prefix))" }

  private func list(_ columns: [String], prefix: String) -> String {
    columns.map { prefix + $0 }.joined(separator: ", ")
  }

  private var saveOld: String { save(columns, "VALUES (\(whole("OLD.")))") }

  /// SQL for the value of a column in the new row. OR REPLACE replaces a forbidden NULL with the default, but only
  /// after the trigger has run.
  private func new(_ column: Int) -> String {
    let value = "NEW.\(columns[column])"
    return info.replacements[column].map { "coalesce(\(value), \($0))" } ?? value
  }

  private var newKey: String { info.schema.key.map(new).joined(separator: ", ") }

  /// Records that the new row did not exist. If a row with this key existed, that row was saved just before this entry,
  /// or when the row was deleted.
  private var saveAbsence: [String] {
    if let alias { return saveAbsence(ofKeyFor: alias) }
    return [save(key, "VALUES (0, \(now), \(newKey))")]
  }

  /// Records that no row had the new key, if an update changes the key. The bytes are compared, because keys that are
  /// equal by the collation may still be two keys.
  private var saveAbsenceOfOther: String {
    let differs = info.schema.key.map { "OLD.\(columns[$0]) IS NOT \(new($0)) COLLATE BINARY" }
    return save(key, "SELECT 0, \(now), \(newKey) WHERE \(differs.joined(separator: " OR "))")
  }

  // MARK: keys that SQLite makes

  /// If SQLite makes the key, NEW holds -1 before the insert. NEW also holds -1 if the writer gives the key -1. So the
  /// next key is predicted, and an entry for -1 is added. If the prediction is wrong, its entry belongs to no row, and
  /// so is no change.
  private func saveAbsence(ofKeyFor alias: String) -> [String] {
    let isMade = "NEW.\(alias) IS -1"
    func saveNext(_ key: String) -> String {
      let kind = "CASE WHEN \(isMade) THEN \(CaptureTables.predictedKey) ELSE 0 END"
      return save(self.key, "VALUES (\(kind), \(now), CASE WHEN \(isMade) THEN \(key) ELSE NEW.\(alias) END)")
    }
    let next = "(SELECT coalesce(max(\(alias)) + 1, 1) FROM \(table))"
    guard info.isAutoincrement else { return [saveNext(next)] }
    let sequence =
      "(SELECT coalesce(max(seq) + 1, 1) FROM sqlite_sequence WHERE name = \(quotedText(info.schema.name.text)))"
    let counted = "max(\(next), \(sequence))"
    // A row that OR IGNORE skips uses up a key, and the sequence shows that only when the statement is done. The
    // prediction for the last row is in the newest entries, or was recorded when the table was compacted.
    let noted = "SELECT \(alias) FROM \(writes) WHERE \(quoted(names.number)) = 0"
    let unused =
      """
      (SELECT max(\(alias)) + 1 FROM (SELECT \(alias) FROM \(newest(saveVictimsOfInsert.count + 3)) UNION ALL \
      \(noted)))
      """
    return [
      saveNext(counted),
      save(key, "SELECT \(CaptureTables.predictedKey), \(now), \(unused) WHERE \(isMade) AND \(unused) > \(counted)"),
    ]
  }

  private func newest(_ count: Int) -> String {
    "(SELECT \(key.joined(separator: ", ")) FROM \(writes) ORDER BY \(quoted(names.number)) DESC LIMIT \(count))"
  }

  /// SQL for whether the key of the inserted row differs from the newest entry's key. A key that SQLite or a default
  /// makes is known only after the insert. The newest entry is the row's own absence, unless a trigger of the app wrote
  /// something in between.
  private var madeKeyIsNew: String {
    "(\(list(key, prefix: "+NEW."))) IS NOT \(newest(1))"
  }

  private var saveMadeKey: [String] {
    let isMade = info.rowidAlias != nil || info.schema.key.contains { info.hasDefault[$0] }
    return isMade ? [save(key, "VALUES (0, \(now), \(list(key, prefix: "NEW.")))")] : []
  }

  // MARK: rows that OR REPLACE deletes silently

  /// The table's alias in a FROM clause. The alias is the table's own name, because the condition of a partial index
  /// may use it. A table named `old` or `new` has another alias, because these names have another meaning in a trigger.
  private var row: String {
    ["old", "new"].contains { info.schema.name.isSameInSQL(as: $0) } ? "satchel_row" : table
  }

  private var uniques: [UniqueIndex] {
    let alias = info.rowidAlias.map {
      [UniqueIndex(name: "", parts: [UniqueIndex.Part(.column($0), collation: "BINARY")], condition: nil)]
    }
    return (alias ?? []) + info.uniqueIndexes
  }

  /// The name of the rowid, if rows have a rowid that is not their key: two rows cannot share a rowid either.
  private var place: String? { info.rowidAlias == nil ? info.rowid : nil }

  private var isAtPlace: String? { place.map { "\(row).\($0) = NEW.\($0)" } }

  private var saveVictimsOfInsert: [String] { (uniques.map(matches) + [isAtPlace].compactMap(\.self)).map(saveVictims) }

  /// SQL that saves rows only if the updated row's index entry changes. This test comes first, because SQLite evaluates
  /// it before it searches for rows.
  private var saveVictimsOfUpdate: [String] {
    let isOther =
      "NOT (" + key.map { "\(row).\($0) IS OLD.\($0) COLLATE BINARY" }.joined(separator: " AND ") + ")"
    let byIndex = uniques.map { index in
      [differs(index), matches(index), isOther].compactMap(\.self).joined(separator: " AND ")
    }
    let byPlace = place.map { "OLD.\($0) IS NOT NEW.\($0) AND \(isAtPlace ?? "1") AND \(isOther)" }
    return (byIndex + [byPlace].compactMap(\.self)).map(saveVictims)
  }

  /// SQL for whether an update changes the row's index entry; nil: the entry may depend on any column.
  private func differs(_ index: UniqueIndex) -> String? {
    var differences: [String] = []
    for part in index.parts {
      switch part.source {
      case .column(let place): differences.append("OLD.\(columns[place]) IS NOT \(new(place)) COLLATE BINARY")
      case .generated, .expression: return nil
      }
    }
    return index.condition == nil ? "(\(differences.joined(separator: " OR ")))" : nil
  }

  /// The condition for rows with which the new row would collide in an index. If the new row itself is outside a
  /// partial index, an unneeded row is saved. The newlines end SQL comments at the end of expressions and of the
  /// condition.
  private func matches(_ index: UniqueIndex) -> String {
    let parts = index.parts.map { part in
      let (theirs, ours) =
        switch part.source {
        case .column(let place): ("\(row).\(columns[place])", new(place))
        // In NEW, a generated column is computed before the column types convert the values.
        case .generated(let name, let sql): ("\(row).\(quoted(name))", "(SELECT \(sql)\n  FROM \(newRow))")
        case .expression(let sql): ("(\(sql)\n  )", "(SELECT \(sql)\n  FROM \(newRow))")
        }
      return "\(theirs) = \(ours) COLLATE \(quoted(part.collation))"
    }
    return (parts + [index.condition.map { "(\($0)\n  )" }].compactMap(\.self)).joined(separator: " AND ")
  }

  /// The new row as a table of one row, for which an index's expression can be computed.
  private var newRow: String {
    "(SELECT \(columns.indices.map { "\(new($0)) AS \(columns[$0])" }.joined(separator: ", ")))"
  }

  /// Saves every row that shares a UNIQUE value with the new row, whatever conflict clause the statement has: a trigger
  /// cannot read the clause. There is one statement for each index, and each statement is a look-up. A single statement
  /// with OR might scan the table.
  private func saveVictims(_ condition: String) -> String {
    save(
      columns,
      """
      SELECT \(whole("\(row)."))
          FROM \(table) AS \(row)
          WHERE \(condition)
      """)
  }
}
