import SatchelSQLite
import SatchelValues

/// The triggers that make one table's writes known.
///
/// Every pre-image is saved before the write, never after it: an app's own AFTER triggers may run first and write the row
/// again. A pre-image too many does no harm, because a row that did not change is no change.
struct CaptureSQL {
  let info: TableInfo
  let names: CaptureNames
  let tables: CaptureTables

  init(info: TableInfo, names: CaptureNames) {
    self.info = info
    self.names = names
    tables = CaptureTables(info: info, names: names)
  }

  private var columns: [Name] { info.schema.columns }
  private var key: [Name] { tables.key }
  private var table: String { quoted(info.schema.name) }
  private var writes: String { quoted(names.writes) }

  /// All statements, in the order in which they run.
  var statements: [String] { tables.statements + triggers.map(\.sql) }

  /// SQLite fires triggers in any order, so each is right by itself: a row is called absent only where the same trigger has seen
  /// that it is not there, or has saved it. Conditions stand in front of what most writes need not do.
  var triggers: [(name: Name, sql: String)] {
    [
      trigger("before_insert", "BEFORE INSERT", when: keyIsFree, [saveAbsence(of: newKey, at: nextPlace)]),
      trigger("before_insert_taken", "BEFORE INSERT", when: isTaken, saveVictimsOfInsert),
      trigger("before_insert_made", "BEFORE INSERT", when: keyIsToBeMade, saveKeysToCome),
      trigger("after_insert", "AFTER INSERT", when: madeKeyIsNew, saveMadeKey),
      trigger("before_update", "BEFORE UPDATE", [saveOld]),
      trigger(
        "before_update_unique", "BEFORE UPDATE", when: uniqueDiffers,
        saveVictimsOfUpdate + [saveAbsence(of: newKey, at: tables.place.map { "NEW.\($0)" }, when: keyDiffers)]),
      trigger("before_delete", "BEFORE DELETE", [saveOld]),
    ].compactMap(\.self)
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

  /// It may use nothing that only newer SQLite builds have: any program may write the database.
  private static let now = "julianday('now')"

  private var moveTime: String {
    let written = quoted(names.written)
    let again = quoted(names.again)
    return """
      ON CONFLICT (\(quotedList(tables.identity))) DO UPDATE
          SET \(written) = max(\(written), excluded.\(written)), \(again) = \(again) + 1
      """
  }

  private func insertInto(_ saved: [Name]) -> String {
    let slot = tables.place == nil ? [] : [names.slot]
    return "INSERT INTO \(writes) (\(quotedList([names.existed, names.written] + slot + saved)))"
  }

  /// A whole row, as the expressions behind `prefix` name its columns and where it lies.
  private func whole(_ prefix: String) -> String {
    let place = tables.place.map { "\(prefix)\($0), " } ?? ""
    return "1, \(Self.now), \(place)\(quotedList(columns, prefix: prefix))"
  }

  private var saveOld: String { "\(insertInto(columns))\n    VALUES (\(whole("OLD.")))\n    \(moveTime)" }

  /// A row that was not there, by the expressions that make its key.
  private func saveAbsence(of newKey: [String], at place: String?, when condition: String? = nil, existed: String = "0") -> String
  {
    let values = ([existed, Self.now] + (tables.place == nil ? [] : [place ?? "NULL"]) + newKey).joined(separator: ", ")
    // Where rows lie in the order of their keys none can be NULL, but SQLite looks only after this.
    let isNamed = tables.isOrderedByKey ? newKey.map { "\($0) IS NOT NULL" } : []
    let conditions = isNamed + [condition].compactMap(\.self)
    let source = conditions.isEmpty ? "VALUES (\(values))" : "SELECT \(values) WHERE \(conditions.joined(separator: " AND "))"
    return "\(insertInto(key))\n    \(source)\n    \(moveTime)"
  }

  /// The new row's value of a column. OR REPLACE puts the default in the place of a NULL that may not be, but only after this.
  private func new(_ column: Int) -> String {
    let value = "NEW.\(quoted(columns[column]))"
    return info.replacements[column].map { "coalesce(\(value), \($0))" } ?? value
  }

  private var newKey: [String] { info.schema.key.map(new) }

  /// Where the new row will lie, as far as one can know.
  private var nextPlace: String? { tables.place.map { "(SELECT coalesce(max(\($0)) + 1, 1) FROM \(table))" } }

  /// Two keys with the same collation may still be two keys.
  private var keyDiffers: String {
    "(" + info.schema.key.map { "OLD.\(quoted(columns[$0])) IS NOT \(new($0)) COLLATE BINARY" }.joined(separator: " OR ") + ")"
  }

  /// nil: any column may be one on which it depends whether the row is in a partial index.
  private var uniqueDiffers: String? {
    if uniques.contains(where: { $0.condition != nil }) { return nil }
    let columns = Set(uniques.flatMap { $0.parts.map(\.column) }).sorted().map { quoted(self.columns[$0]) }
    return (columns + [tables.place].compactMap(\.self)).map { "OLD.\($0) IS NOT NEW.\($0) COLLATE BINARY" }
      .joined(separator: " OR ")
  }

  // MARK: keys that SQLite makes

  /// Where SQLite is to make the key, NEW holds -1 until it has; the same where the writer says -1. So both are saved: -1 as any
  /// other key, and the next one as it is foretold. That one belongs to no row if it is foretold wrongly, and so is no change.
  private var keyIsToBeMade: String? {
    guard let alias = info.rowidAlias.map({ quoted(columns[$0]) }) else { return nil }
    // Behind the greatest integer there is no next one.
    let hasNext = info.isAutoincrement ? "" : " AND (SELECT max(\(alias)) FROM \(table)) IS NOT \(Int64.max)"
    return "NEW.\(alias) IS -1" + hasNext
  }

  private var saveKeysToCome: [String] {
    guard let alias = info.rowidAlias.map({ quoted(columns[$0]) }) else { return [] }
    let next = "(SELECT coalesce(max(\(alias)) + 1, 1) FROM \(table))"
    guard info.isAutoincrement else { return [saveAbsence(of: [next], at: nil)] }
    let sequence = "(SELECT coalesce(max(seq) + 1, 1) FROM sqlite_sequence WHERE name = \(quotedText(info.schema.name.text)))"
    // A row that OR IGNORE leaves out uses up a key, and the sequence says so only when the statement is done.
    let unused = "(SELECT coalesce(max(\(alias)) + 1, 1) FROM \(writes))"
    return ["max(\(next), \(sequence))", "max(\(next), \(sequence), \(unused))"]
      .map { saveAbsence(of: [$0], at: nil, when: "typeof(\($0)) = 'integer'") }
  }

  /// A key that SQLite makes, or that a default does, is known for certain only afterwards. So is where a row lies.
  private var madeKeyIsNew: String {
    let isSaved = zip(tables.identity, identityValues("NEW.")).map { "\(quoted($0)) = \($1)" }
    return "NOT EXISTS (SELECT 1 FROM \(writes) WHERE \(isSaved.joined(separator: " AND ")))"
  }

  /// What finds a row's entry in the table of writes. The plus signs take away the columns' types: with them SQL would convert what
  /// it compares, and use no index.
  private func identityValues(_ prefix: String) -> [String] {
    ([tables.place].compactMap(\.self) + key.map { quoted($0) }).map { "+\(prefix)\($0)" }
  }

  private var saveMadeKey: [String] {
    let isMade = info.rowidAlias != nil || info.schema.key.contains { info.hasDefault[$0] }
    if !isMade && tables.place == nil { return [] }
    return [
      saveAbsence(of: key.map { "NEW.\(quoted($0))" }, at: tables.place.map { "NEW.\($0)" }, existed: isMade ? "0" : "NULL")
    ]
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

  private func isOfKey(_ index: UniqueIndex) -> Bool {
    index.condition == nil && Set(index.parts.map(\.column)) == Set(info.schema.key)
  }

  /// How a row is found that has the new one's key, or one that is the same to an index over the key.
  private var ownersOfKey: [String] { uniques.filter(isOfKey).map(matches) }

  /// How rows are found that the new one may replace: by each UNIQUE value, and by where it is to lie.
  private var victims: [String] { uniques.map(matches) + [isAtPlace].compactMap(\.self) }

  private var isAtPlace: String? { tables.place.map { "\(Self.row).\($0) = NEW.\($0)" } }

  private func isThere(_ condition: String) -> String { "EXISTS (SELECT 1 FROM \(table) AS \(Self.row) WHERE \(condition))" }

  private var keyIsFree: String {
    let isFree = ownersOfKey.map { "NOT \(isThere($0))" }.joined(separator: " AND ")
    guard let alias = info.rowidAlias.map({ quoted(columns[$0]) }) else { return isFree }
    return "(NEW.\(alias) IS NOT -1 OR NOT EXISTS (SELECT 1 FROM \(writes) WHERE \(alias) = -1)) AND \(isFree)"
  }

  private var isTaken: String { victims.map(isThere).joined(separator: " OR ") }

  /// With a collation that takes two keys for one, the new key is another one than the victim's, and is saved behind it.
  private var saveVictimsOfInsert: [String] {
    let isKeyItself = uniques.filter(isOfKey).allSatisfy { $0.parts.allSatisfy { $0.collation == "BINARY" } }
    return victims.map(saveVictims) + ownersOfKey.flatMap(takeMoveAlong)
      + (isKeyItself ? [] : [saveAbsence(of: newKey, at: nextPlace)])
  }

  /// An entry that says no more than that its row came to lie there goes where the row is about to lie. A row that is replaced
  /// again and again would have an entry for each place otherwise.
  private func takeMoveAlong(_ isOwner: String) -> [String] {
    if tables.place == nil { return [] }
    let owner = "SELECT \(identityValues("\(Self.row).").joined(separator: ", ")) FROM \(table) AS \(Self.row) WHERE \(isOwner)"
    let isMove = "\(quoted(names.existed)) IS NULL AND (\(quotedList(tables.identity))) = (\(owner))"
    return [
      saveAbsence(of: newKey, at: nextPlace, when: "EXISTS (SELECT 1 FROM \(writes) WHERE \(isMove))", existed: "NULL"),
      "DELETE FROM \(writes) WHERE \(isMove)",
    ]
  }

  private var saveVictimsOfUpdate: [String] {
    let isOther =
      "NOT (" + key.map { "\(Self.row).\(quoted($0)) IS OLD.\(quoted($0)) COLLATE BINARY" }.joined(separator: " AND ") + ")"
    return victims.map { saveVictims($0 + " AND " + isOther) }
  }

  /// The rows of an index that the new row would meet there. The new row itself may be outside of a partial one: then a row too many
  /// is saved. The line's end ends a comment that the condition may end with.
  private func matches(_ index: UniqueIndex) -> String {
    let parts = index.parts.map {
      "\(Self.row).\(quoted(columns[$0.column])) = \(new($0.column)) COLLATE \(quoted($0.collation))"
    }
    return (parts + [index.condition.map { "(\($0)\n  )" }].compactMap(\.self)).joined(separator: " AND ")
  }

  /// Every row that shares a UNIQUE value with the new one, whichever conflict clause the statement has: triggers cannot know it.
  /// A statement for each index: each is a look-up, where one OR of all may become a walk through the table.
  private func saveVictims(_ condition: String) -> String {
    """
    \(insertInto(columns))
      SELECT \(whole("\(Self.row)."))
      FROM \(table) AS \(Self.row)
      WHERE \(condition)
      \(moveTime)
    """
  }
}
