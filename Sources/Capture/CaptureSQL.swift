import SatchelSQLite
import SatchelValues

/// The SQL that makes one table's writes known: a table of pre-images, and the triggers that fill it.
///
/// Every pre-image is saved before the write, never after it: an app's own AFTER triggers may run first and write the row
/// again. A pre-image too many does no harm, because a row that did not change is no change.
struct CaptureSQL {
  let info: TableInfo
  let names: CaptureNames

  private var columns: [Name] { info.schema.columns }
  private var key: [Name] { info.schema.key.map { columns[$0] } }
  private var table: String { quoted(info.schema.name) }
  private var before: String { quoted(names.before) }

  /// All statements, in the order in which they run.
  var statements: [String] { [createTable] + triggers.map(\.sql) }

  /// SQLite fires triggers in any order, so each is right by itself: a row is called absent only behind a statement of the same
  /// trigger that has saved it if it is there.
  var triggers: [(name: Name, sql: String)] {
    [
      trigger("before_insert", "BEFORE INSERT", saveVictimsOfInsert + [saveAbsence(of: bornKeys)]),
      trigger("before_insert_rowid", "BEFORE INSERT", when: rowidIsTaken, saveVictimOfRowid),
      trigger("after_insert", "AFTER INSERT", saveMadeKey),
      trigger("before_update", "BEFORE UPDATE", [saveOld]),
      trigger(
        "before_update_unique", "BEFORE UPDATE", when: uniqueDiffers,
        saveVictimsOfUpdate + [saveAbsence(of: newKey, when: keyDiffers)]),
      trigger("before_delete", "BEFORE DELETE", [saveOld]),
    ].compactMap(\.self)
  }

  /// Columns are declared without a type, so that values keep the storage class they have; the key is compared as bytes.
  private var createTable: String {
    """
    CREATE TABLE \(before) (
      \(columns.map { quoted($0) }.joined(separator: ",\n  ")),
      \(quoted(names.generation)) INTEGER NOT NULL, -- the sequence of the last export at the time of the write
      \(quoted(names.existed)) INTEGER NOT NULL,    -- 0: the row was not there before
      \(quoted(names.stamp)) INTEGER NOT NULL,      -- hybrid logical clock of the last write
      PRIMARY KEY (\(quotedList(key)), \(quoted(names.generation)))
    ) WITHOUT ROWID
    """
  }

  private func trigger(_ moment: String, _ event: String, when condition: String? = nil, _ body: [String]) -> (
    name: Name, sql: String
  )? {
    if body.isEmpty { return nil }
    let name = names.trigger(moment)
    return (
      name,
      """
      CREATE TRIGGER \(quoted(name)) \(event) ON \(table)\(condition.map { " WHEN \($0)" } ?? "")
      BEGIN
        \(body.joined(separator: ";\n  "));
      END
      """
    )
  }

  // MARK: what the triggers save

  private static let generation = "(SELECT generation FROM satchel_capture)"

  /// Milliseconds since 1970 in the upper 48 bits, and never behind what this replica has seen. It may use nothing that only
  /// newer SQLite builds have: any program may write the database.
  private static let stamp = """
    (SELECT max(stamp + 1, CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) << 16) FROM satchel_capture)
    """

  private var moveStamp: String {
    "DO UPDATE SET \(quoted(names.stamp)) = max(\(quoted(names.stamp)) + 1, excluded.\(quoted(names.stamp)))"
  }

  private var target: String { "ON CONFLICT (\(quotedList(key)), \(quoted(names.generation)))" }

  private func insertInto(_ saved: [Name]) -> String {
    "INSERT INTO \(before) (\(quotedList(saved + [names.generation, names.existed, names.stamp])))"
  }

  private var saveOld: String {
    """
    \(insertInto(columns))
      SELECT \(quotedList(columns, prefix: "OLD.")), \(Self.generation), 1, \(Self.stamp)
      WHERE \(isNamed("OLD"))
      \(target) \(moveStamp)
    """
  }

  /// Rows that were not there, by keys that `source` selects. Keys that hold NULL name no row and are left to `status` to report.
  private func saveAbsence(of source: String, when condition: String? = nil, onKnown: String? = nil) -> String {
    """
    \(insertInto(key))
      SELECT \(quotedList(key)), \(Self.generation), 0, \(Self.stamp)
      FROM (\(source))
      WHERE \((key.map { "\(quoted($0)) IS NOT NULL" } + [condition].compactMap(\.self)).joined(separator: " AND "))
      \(target) \(onKnown ?? moveStamp)
    """
  }

  /// The new row's value of a column. OR REPLACE puts the default in the place of a NULL that may not be, but only after this.
  private func new(_ column: Int) -> String {
    let value = "NEW.\(quoted(columns[column]))"
    return info.replacements[column].map { "coalesce(\(value), \($0))" } ?? value
  }

  private var newKey: String {
    "SELECT \(info.schema.key.map { "\(new($0)) AS \(quoted(columns[$0]))" }.joined(separator: ", "))"
  }

  /// Where SQLite is to make the key, NEW holds -1 until it has; the same where the writer says -1. So both are saved: -1, and the
  /// next key as it is foretold. A key that is foretold wrongly belongs to no row, before or after, and so is no change.
  private var bornKeys: String {
    guard let alias = info.rowidAlias else { return newKey }
    let column = quoted(columns[alias])
    var next = ["SELECT coalesce(max(\(column)) + 1, 1) FROM \(table)"]
    if info.isAutoincrement {
      let sequence = "SELECT coalesce(max(seq) + 1, 1) FROM sqlite_sequence WHERE name = \(quotedText(info.schema.name.text))"
      next = ["SELECT max((\(next[0])), (\(sequence)))"]
      // A row that OR IGNORE leaves out uses up a key, and the sequence says so only when the statement is done.
      next.append("SELECT max((\(next[0])), (SELECT coalesce(max(\(column)) + 1, 1) FROM \(before)))")
    }
    let born = next.map { "SELECT (\($0)) WHERE NEW.\(column) IS -1" }
    return (["SELECT NEW.\(column) AS \(column)"] + born).joined(separator: " UNION ALL ")
  }

  /// A key that SQLite makes, or that a default does, is known for certain only afterwards.
  private var saveMadeKey: [String] {
    let isMade = info.rowidAlias != nil || info.schema.key.contains { info.hasDefault[$0] }
    return isMade ? [saveAbsence(of: newKey, onKnown: "DO NOTHING")] : []
  }

  /// A key that holds NULL names no row.
  private func isNamed(_ row: String) -> String { key.map { "\(row).\(quoted($0)) IS NOT NULL" }.joined(separator: " AND ") }

  /// Two keys with the same collation may still be two keys.
  private var keyDiffers: String {
    "(" + info.schema.key.map { "OLD.\(quoted(columns[$0])) IS NOT \(new($0)) COLLATE BINARY" }.joined(separator: " OR ") + ")"
  }

  /// nil: any column may be one on which it depends whether the row is in a partial index.
  private var uniqueDiffers: String? {
    if uniques.contains(where: { $0.condition != nil }) { return nil }
    let columns = Set(uniques.flatMap { $0.parts.map(\.column) }).sorted().map { quoted(self.columns[$0]) }
    return (columns + [hiddenRowid].compactMap(\.self)).map { "OLD.\($0) IS NOT NEW.\($0) COLLATE BINARY" }
      .joined(separator: " OR ")
  }

  // MARK: rows that OR REPLACE deletes without a word

  /// The table's name in a FROM clause: an app's table may be called `old` or `new`.
  private static let row = "satchel_row"

  private var uniques: [UniqueIndex] {
    let alias = info.rowidAlias.map {
      [UniqueIndex(name: "", parts: [UniqueIndex.Part(column: $0, collation: "BINARY")], condition: nil)]
    }
    return (alias ?? []) + info.uniqueIndexes
  }

  /// The name of a rowid that is no column: a second key that a statement may give, and through which it may replace.
  private var hiddenRowid: String? { info.rowidAlias == nil ? info.rowid : nil }

  private var hasRowid: String? { hiddenRowid.map { "\(Self.row).\($0) = NEW.\($0)" } }

  private var rowidIsTaken: String? { hasRowid.map { "EXISTS (SELECT 1 FROM \(table) AS \(Self.row) WHERE \($0))" } }

  private var saveVictimOfRowid: [String] { hasRowid.map { [saveVictims($0)] } ?? [] }

  /// Every row that shares a UNIQUE value with the new one, whichever conflict clause the statement has: triggers cannot know it.
  /// A statement for each index: each is a look-up, where one OR of all may become a walk through the table.
  private var saveVictimsOfInsert: [String] { uniques.map { saveVictims(matches($0)) } }

  private var saveVictimsOfUpdate: [String] {
    let isOther =
      "NOT (" + key.map { "\(Self.row).\(quoted($0)) IS OLD.\(quoted($0)) COLLATE BINARY" }.joined(separator: " AND ") + ")"
    return (uniques.map(matches) + [hasRowid].compactMap(\.self)).map { saveVictims($0 + " AND " + isOther) }
  }

  /// The rows of an index that the new row would meet there. The new row itself may be outside of a partial one: then a row too many
  /// is saved. The line's end ends a comment that the condition may end with.
  private func matches(_ index: UniqueIndex) -> String {
    let parts = index.parts.map {
      "\(Self.row).\(quoted(columns[$0.column])) = \(new($0.column)) COLLATE \(quoted($0.collation))"
    }
    return (parts + [index.condition.map { "(\($0)\n  )" }].compactMap(\.self)).joined(separator: " AND ")
  }

  private func saveVictims(_ condition: String) -> String {
    """
    \(insertInto(columns))
      SELECT \(quotedList(columns, prefix: Self.row + ".")), \(Self.generation), 1, \(Self.stamp)
      FROM \(table) AS \(Self.row)
      WHERE \(condition) AND \(isNamed(Self.row))
      \(target) \(moveStamp)
    """
  }
}
