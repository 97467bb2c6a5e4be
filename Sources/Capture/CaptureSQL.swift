import SatchelSQLite
import SatchelValues

/// The SQL of the triggers that record the writes to one table.
///
/// A pre-image is saved before the write. After the write it would be too late, because an app's own AFTER triggers
/// may run first and write the row again. A superfluous pre-image does no harm, because an equal row gives no change.
/// The first entry of a row is its pre-image. So a trigger need not check whether the row exists or was written
/// before.
struct CaptureSQL {
  let info: TableInfo
  let names: CaptureNames
  let tables: CaptureTables
  // These texts are stored, because each command builds the SQL of all triggers.
  private let table: String
  private let writes: String
  /// The quoted names of all columns.
  private let columns: [String]
  /// The quoted names of the key's columns.
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

  /// All statements that install capture, in the order in which they run.
  var statements: [String] { tables.statements + triggers.map(\.sql) }

  /// One trigger for each kind of write. More triggers would not help: at each call SQLite reserves memory for the
  /// whole trigger, even for parts that do not run.
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

  /// The time of the write and, with units, the newest mark. Any program may write to the database, so only functions
  /// that older releases of SQLite have are used here.
  private var now: String { "julianday('now')" + (names.keepsUnits ? ", \(UnitNumbers.newestMark)" : "") }

  /// - Parameter columns: quoted names.
  private func save(_ columns: [String], _ source: String) -> String {
    let own = [names.existed, names.written] + (names.keepsUnits ? [names.mark] : [])
    let all = own.map { quoted($0) } + columns
    return "INSERT INTO \(writes) (\(all.joined(separator: ", ")))\n    \(source)"
  }

  /// The values of an entry for an existing row: 1, the time, the mark if units are kept, and the columns with
  /// `prefix` before their names.
  private func whole(_ prefix: String) -> String { "1, \(now), \(list(columns, prefix: prefix))" }

  private func list(_ columns: [String], prefix: String) -> String {
    columns.map { prefix + $0 }.joined(separator: ", ")
  }

  private var saveOld: String { save(columns, "VALUES (\(whole("OLD.")))") }

  /// SQL for the value of a column in the new row. OR REPLACE replaces a forbidden NULL with the column's default, but
  /// only after the trigger has run. So the trigger's own SQL does the same replacement.
  private func new(_ column: Int) -> String {
    let value = "NEW.\(columns[column])"
    return info.replacements[column].map { "coalesce(\(value), \($0))" } ?? value
  }

  private var newKey: String { info.schema.key.map(new).joined(separator: ", ") }

  /// Records that the new row did not exist. If a row with its key existed, an earlier entry already holds that row.
  private var saveAbsence: [String] {
    if let alias { return saveAbsence(ofKeyFor: alias) }
    return [save(key, "VALUES (0, \(now), \(newKey))")]
  }

  /// Records that no row had the new key, if an update changes the key. Keys are compared as bytes, because two keys
  /// may be equal only by the column's collation.
  private var saveAbsenceOfOther: String {
    let differs = info.schema.key.map { "OLD.\(columns[$0]) IS NOT \(new($0)) COLLATE BINARY" }
    return save(key, "SELECT 0, \(now), \(newKey) WHERE \(differs.joined(separator: " OR "))")
  }

  // MARK: keys that SQLite makes

  /// Records that the new row did not exist, for a key that SQLite may choose. In a BEFORE trigger NEW has -1 instead
  /// of the chosen key. The writing program may also have given -1 itself. So the SQL predicts the next key, and adds
  /// an entry for the predicted key. If the prediction is wrong, that entry belongs to no row and so is no change.
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
    // If OR IGNORE skips a row, a key is used up, but AUTOINCREMENT's counter shows this only after the statement. So
    // the last predicted key is read from the newest entries, or from entry 0 if the table was shortened.
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

  /// SQL for whether the inserted row has another key than the newest entry. A key that SQLite or a default makes is
  /// known only after the insert. The newest entry is usually the entry for the same row. It is not if a trigger of
  /// the app wrote another row in between.
  private var madeKeyIsNew: String {
    "(\(list(key, prefix: "+NEW."))) IS NOT \(newest(1))"
  }

  private var saveMadeKey: [String] {
    let isMade = info.rowidAlias != nil || info.schema.key.contains { info.hasDefault[$0] }
    return isMade ? [save(key, "VALUES (0, \(now), \(list(key, prefix: "NEW.")))")] : []
  }

  // MARK: rows that OR REPLACE deletes silently

  /// The name of the table in a FROM clause. It is the table's own name, because the condition of a partial index may
  /// use that name. A table named `old` or `new` gets another name, because these words mean other rows in a trigger.
  private var row: String {
    ["old", "new"].contains { info.schema.name.isSameInSQL(as: $0) } ? "satchel_row" : table
  }

  private var uniques: [UniqueIndex] {
    let alias = info.rowidAlias.map {
      [UniqueIndex(name: "", parts: [UniqueIndex.Part(.column($0), collation: "BINARY")], condition: nil)]
    }
    return (alias ?? []) + info.uniqueIndexes
  }

  /// The name of the rowid, if the rowid is not the key; nil otherwise. An insert with the rowid of another row
  /// replaces that row too.
  private var place: String? { info.rowidAlias == nil ? info.rowid : nil }

  private var isAtPlace: String? { place.map { "\(row).\($0) = NEW.\($0)" } }

  private var saveVictimsOfInsert: [String] { (uniques.map(matches) + [isAtPlace].compactMap(\.self)).map(saveVictims) }

  /// SQL that saves the rows that OR REPLACE would delete in an update. It saves rows only if the update changes the
  /// index entry. SQLite evaluates this cheap test before it searches for rows.
  private var saveVictimsOfUpdate: [String] {
    let isOther =
      "NOT (" + key.map { "\(row).\($0) IS OLD.\($0) COLLATE BINARY" }.joined(separator: " AND ") + ")"
    let byIndex = uniques.map { index in
      [differs(index), matches(index), isOther].compactMap(\.self).joined(separator: " AND ")
    }
    let byPlace = place.map { "OLD.\($0) IS NOT NEW.\($0) AND \(isAtPlace ?? "1") AND \(isOther)" }
    return (byIndex + [byPlace].compactMap(\.self)).map(saveVictims)
  }

  /// SQL for whether an update changes the row's index entry; nil if the entry may depend on any column.
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

  /// The condition for the rows that have the new row's value in an index. If the new row is not in a partial index,
  /// a superfluous row may be saved. The line breaks end SQL comments, which may be in expressions and conditions.
  private func matches(_ index: UniqueIndex) -> String {
    let parts = index.parts.map { part in
      let (theirs, ours) =
        switch part.source {
        case .column(let place): ("\(row).\(columns[place])", new(place))
        // SQLite computes a generated column of NEW before the columns' types convert the values. So it is computed
        // again here.
        case .generated(let name, let sql): ("\(row).\(quoted(name))", "(SELECT \(sql)\n  FROM \(newRow))")
        case .expression(let sql): ("(\(sql)\n  )", "(SELECT \(sql)\n  FROM \(newRow))")
        }
      return "\(theirs) = \(ours) COLLATE \(quoted(part.collation))"
    }
    return (parts + [index.condition.map { "(\($0)\n  )" }].compactMap(\.self)).joined(separator: " AND ")
  }

  /// The new row as a table with one row, from which the expressions of an index can be computed.
  private var newRow: String {
    "(SELECT \(columns.indices.map { "\(new($0)) AS \(columns[$0])" }.joined(separator: ", ")))"
  }

  /// Saves each row that has a UNIQUE value of the new row. A trigger cannot know whether the statement says OR
  /// REPLACE, so it always saves them. There is one statement for each index, so that SQLite uses that index. One
  /// statement with OR might read the whole table.
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
