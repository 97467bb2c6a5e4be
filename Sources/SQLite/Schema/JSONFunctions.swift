import CSQLite

/// Schemas that use SQLite's own JSON functions.
///
/// SQLite 3.40 and earlier treat these functions as unsafe in an untrusted schema, by mistake. If an index or a
/// generated column uses `json_extract` or `->>`, SQLite then refuses to read the file. The functions only compute a
/// value from values. Satchel may therefore trust such a schema, if it calls no other function that SQLite treats as
/// unsafe.
extension Database {
  /// SQLite's own functions that only compute a value from values, but that SQLite 3.40 and earlier treat as unsafe.
  private static let ofValues: Set<[UInt8]> = Set(
    [
      "->", "->>", "json", "json_array", "json_array_length", "json_extract", "json_insert", "json_object",
      "json_patch", "json_quote", "json_remove", "json_replace", "json_set", "json_type", "json_valid",
    ].map { Array($0.utf8) })

  /// Trusts the schema of this connection, if SQLite refuses the schema only because of JSON functions. Reading a
  /// schema runs no function.
  ///
  /// Throws SQLite's own error if the schema has anything except tables and indexes, or calls another unsafe function.
  func acceptJSONFunctions() throws {
    do { _ = try first("SELECT 1 FROM sqlite_schema") { _ in true } } catch let error as SQLiteError
      where error.message.hasPart("unsafe use of ")
    {
      satchel_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1)
      if try callsOnlyFunctionsOfValues() { return }
      satchel_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
      throw error
    } catch is SQLiteError {
      // The caller's next statement meets the same error, and the caller explains it.
    }
  }

  private func callsOnlyFunctionsOfValues() throws -> Bool {
    // 0x200000 is SQLITE_INNOCUOUS, the mark of a safe function.
    let unsafe = try Set(
      all("SELECT DISTINCT lower(name) FROM pragma_function_list WHERE flags & 0x200000 = 0") { Array($0.text(0).utf8) }
    )
    if unsafe.isEmpty { return false }
    let others = unsafe.subtracting(Self.ofValues)
    let schema = try all("SELECT type, sql FROM sqlite_schema") { (type: $0.text(0), sql: $0.optionalText(1) ?? "") }
    return schema.allSatisfy { item in
      guard item.type == "table" || item.type == "index" else { return false }
      var previous: [UInt8] = []
      for token in SQLTokens(item.sql, quotes: .areWords) {
        if token.isSign("("), others.contains(previous) { return false }
        if previous == Self.virtual, token.text == Self.table { return false }
        previous = token.text
      }
      return true
    }
  }

  private static let virtual = Array("virtual".utf8)
  private static let table = Array("table".utf8)
}
