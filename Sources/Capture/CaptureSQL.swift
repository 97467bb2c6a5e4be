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

  var triggers: [(name: Name, sql: String)] {
    [
      trigger("before_insert", "BEFORE INSERT", [saveVictimsOfInsert, saveAbsence(bornKey)]),
      // A key that SQLite makes itself is known for certain only afterwards.
      trigger("after_insert", "AFTER INSERT", [saveAbsence(key.map { "NEW.\(quoted($0))" }, onKnown: "DO NOTHING")]),
      trigger("before_update", "BEFORE UPDATE", [saveOld]),
      trigger("before_update_key", "BEFORE UPDATE", when: keyDiffers, [saveAbsence(key.map { "NEW.\(quoted($0))" })]),
      trigger("before_update_unique", "BEFORE UPDATE", when: uniqueDiffers, [saveVictimsOfUpdate]),
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

  private func trigger(_ moment: String, _ event: String, when condition: String? = nil, _ body: [String?]) -> (
    name: Name, sql: String
  )? {
    let body = body.compactMap(\.self)
    if body.isEmpty || condition == "" { return nil }
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

  /// A row that was not there. Keys that hold NULL name no row and are left to `status` to report.
  private func saveAbsence(_ keyExpressions: [String], onKnown: String? = nil) -> String {
    """
    \(insertInto(key))
      SELECT \(keyExpressions.joined(separator: ", ")), \(Self.generation), 0, \(Self.stamp)
      WHERE \(keyExpressions.map { "\($0) IS NOT NULL" }.joined(separator: " AND "))
      \(target) \(onKnown ?? moveStamp)
    """
  }

  /// Where SQLite is to make the key, NEW holds -1 until it has: then the next key is foretold. A key that is foretold wrongly
  /// belongs to no row, before or after, and so is no change.
  private var bornKey: [String] {
    guard let alias = info.rowidAlias else { return key.map { "NEW.\(quoted($0))" } }
    let column = quoted(columns[alias])
    return [
      "CASE WHEN NEW.\(column) IS NOT -1 THEN NEW.\(column) ELSE (SELECT coalesce(max(\(column)) + 1, 1) FROM \(table)) END"
    ]
  }

  /// A key that holds NULL names no row.
  private func isNamed(_ row: String) -> String { key.map { "\(row).\(quoted($0)) IS NOT NULL" }.joined(separator: " AND ") }

  /// Two keys with the same collation may still be two keys.
  private var keyDiffers: String {
    key.map { "OLD.\(quoted($0)) IS NOT NEW.\(quoted($0)) COLLATE BINARY" }.joined(separator: " OR ")
  }

  private var uniqueDiffers: String {
    Set(uniques.flatMap { $0.map(\.column) }).sorted()
      .map { "OLD.\(quoted(columns[$0])) IS NOT NEW.\(quoted(columns[$0])) COLLATE BINARY" }.joined(separator: " OR ")
  }

  // MARK: rows that OR REPLACE deletes without a word

  private var uniques: [[UniqueIndex.Part]] {
    let alias = info.rowidAlias.map { [[UniqueIndex.Part(column: $0, collation: "BINARY")]] } ?? []
    return alias + info.uniqueIndexes.map(\.parts)
  }

  /// Every row that shares a UNIQUE value with the new one, whichever conflict clause the statement has: triggers cannot know it.
  private var saveVictimsOfInsert: String? { saveVictims(uniques.map { matches($0) }) }

  private var saveVictimsOfUpdate: String? {
    let isOther =
      "NOT (" + key.map { "\(table).\(quoted($0)) IS OLD.\(quoted($0)) COLLATE BINARY" }.joined(separator: " AND ") + ")"
    return saveVictims(uniques.map { matches($0) + " AND " + isOther })
  }

  private func matches(_ parts: [UniqueIndex.Part]) -> String {
    parts.map { "\(table).\(quoted(columns[$0.column])) = NEW.\(quoted(columns[$0.column])) COLLATE \(quoted($0.collation))" }
      .joined(separator: " AND ")
  }

  private func saveVictims(_ conditions: [String]) -> String? {
    if conditions.isEmpty { return nil }
    // A SELECT for each index: each is a look-up, where one OR of all may become a walk through the table.
    return conditions.map { condition in
      """
      \(insertInto(columns))
          SELECT \(quotedList(columns, prefix: table + ".")), \(Self.generation), 1, \(Self.stamp)
          FROM \(table)
          WHERE \(condition) AND \(isNamed(table))
          \(target) \(moveStamp)
      """
    }.joined(separator: ";\n  ")
  }
}
