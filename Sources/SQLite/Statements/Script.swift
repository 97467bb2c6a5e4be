import CSQLite
import SatchelValues

/// Why a script could not be run, and where.
public struct ScriptError: Error {
  /// The line of the statement, counted from 1.
  public let line: Int
  /// Why it could not be run, as the rest of a sentence.
  public let message: String
  /// Whether rows break a constraint of their table, or an expression cannot be computed from a row.
  public let isByConstraint: Bool

  init(line: Int, message: String, isByConstraint: Bool = false) {
    (self.line, self.message, self.isByConstraint) = (line, message, isByConstraint)
  }
}

/// The rights of a migration's statements. They may do everything with the app's own tables, and nothing else.
private final class ScriptWatch {
  private(set) var refusal: String?

  /// The PRAGMAs that a migration may use. Some of them are here because a GeoPackage or a full-text index uses them
  /// internally.
  private static let pragmas: Set<[UInt8]> = Set(
    [
      "user_version", "data_version", "page_size", "quick_check", "table_info", "table_xinfo", "table_list",
      "index_list",
      "index_info", "foreign_key_list",
    ].map { Array($0.utf8) })
  /// Allowed PRAGMAs that a migration may only read. With a value, such a PRAGMA would change something.
  private static let questions: Set<[UInt8]> = Set(["data_version", "page_size"].map { Array($0.utf8) })
  private static let temporary: Set<Int32> = [
    SQLITE_CREATE_TEMP_TABLE, SQLITE_CREATE_TEMP_INDEX, SQLITE_CREATE_TEMP_TRIGGER, SQLITE_CREATE_TEMP_VIEW,
    SQLITE_DROP_TEMP_TABLE, SQLITE_DROP_TEMP_INDEX, SQLITE_DROP_TEMP_TRIGGER, SQLITE_DROP_TEMP_VIEW,
  ]
  /// SQLite also reports these actions for a new temporary object whose name contains the schema, such as `temp.t`.
  private static let creating: Set<Int32> = [
    SQLITE_CREATE_TABLE, SQLITE_CREATE_INDEX, SQLITE_CREATE_TRIGGER, SQLITE_CREATE_VIEW, SQLITE_CREATE_VTABLE,
  ]
  private static let functions: Set<[UInt8]> = Set(["load_extension", "fts3_tokenizer"].map { Array($0.utf8) })

  func allows(_ action: Int32, _ first: String?, _ second: String?, _ schema: String?) -> Bool {
    let one = Array((first ?? "").utf8).asciiLowercased
    let two = Array((second ?? "").utf8).asciiLowercased
    switch action {
    case SQLITE_ATTACH, SQLITE_DETACH: refusal = "it opens another database"
    case _ where Self.temporary.contains(action) || schema == "temp" && Self.creating.contains(action):
      refusal = "it makes or drops a temporary object, which could hide an object of the app"
    case SQLITE_TRANSACTION, SQLITE_SAVEPOINT:
      refusal = "it begins or ends a transaction, and a migration is one already: leave BEGIN, COMMIT and the like out"
    case SQLITE_PRAGMA where !Self.pragmas.contains(one) || Self.questions.contains(one) && second != nil:
      refusal = "PRAGMA \(first ?? "") has no place in a migration"
    case SQLITE_FUNCTION where Self.functions.contains(two): refusal = "it calls \(second ?? "")()"
    case SQLITE_PRAGMA, SQLITE_FUNCTION, SQLITE_SELECT, SQLITE_RECURSIVE: break
    case SQLITE_READ, SQLITE_UPDATE, SQLITE_INSERT, SQLITE_DELETE: refuseOurs([one])
    default: refuseOurs([one, two])
    }
    return refusal == nil
  }

  private func refuseOurs(_ names: [[UInt8]]) {
    if names.contains(Array("sqlite_dbpage".utf8)) { refusal = "it reaches past the tables, to the pages of the file" }
    guard let name = names.first(where: { $0.starts(with: "satchel_".utf8) }) else { return }
    refusal = "it touches \(String(decoding: name, as: UTF8.self)), and what begins with satchel_ is Satchel's own"
  }
}

extension Database {
  /// The limit on the number of statements in a script.
  private static let mostStatements = 1_000
  /// The limit on a value's bytes in a script. A line of a bundle has the same limit.
  private static let mostValueBytes: Int32 = 1 << 26

  /// Runs the statements of a script that a person wrote, inside the caller's transaction. The statements may change
  /// the app's tables, rows and triggers, but nothing that belongs to Satchel. They cannot open another database,
  /// create temporary objects, load extensions, or end a transaction.
  ///
  /// - Parameters:
  ///   - isOver: returns true if the script has run for too long and must end. SQLite calls it very often.
  ///   - look: is called after each statement. It may throw to end the script.
  /// - Throws: a `ScriptError` with the line of the statement that failed, and the errors of `look`.
  public func runScript(_ sql: String, until isOver: @escaping () -> Bool, look: () throws -> Void) throws {
    let bytes = Array(sql.utf8)
    if let zero = bytes.firstIndex(of: 0) {
      throw ScriptError(line: Self.line(zero, of: bytes), message: "it contains a NUL byte")
    }
    let limit = limitValues(toBytes: Self.mostValueBytes)
    defer { limitValues(toBytes: limit) }
    let reserved = try ReservedNames(in: self)
    var place = 0
    var count = 0
    while place < bytes.count {
      let line = Self.line(Self.beginning(after: place, in: bytes), of: bytes)
      let watch = ScriptWatch()
      let done: (end: Int, isStatement: Bool)
      var isRunning = false
      do {
        done = try watched(by: Watch(watch.allows)) {
          try bounded(by: isOver) { try runStatement(at: place, of: bytes) { isRunning = true } }
        }
      } catch let error as SQLiteError where ![.busy, .full, .inputOutput, .corrupt].contains(error.kind) {
        throw ScriptError(
          line: line, message: watch.refusal ?? Self.words(error),
          isByConstraint: [.unique, .constraint].contains(error.kind) || isRunning && error.asConstraint != nil)
      }
      place = done.end
      if !done.isStatement { continue }
      if let fault = try reserved.fault(in: self) { throw ScriptError(line: line, message: fault) }
      count += 1
      if count > Self.mostStatements {
        throw ScriptError(line: line, message: "there are more than \(Self.mostStatements) statements")
      }
      try look()
    }
  }

  private static func words(_ error: SQLiteError) -> String {
    switch error.kind {
    case .interrupted: "it does not come to an end"
    case .tooLarge: "it makes a value of more than \(mostValueBytes >> 20) MiB"
    default: Self.quotedOnce(error.message)
    }
  }

  /// SQLite's message. For a quoted name in ALTER TABLE, SQLite adds a second pair of quotes, which this function
  /// removes.
  private static func quotedOnce(_ message: String) -> String {
    let beginning = "no such column: \"\""
    guard message.hasPrefix(beginning), message.hasSuffix("\"\"") else { return message }
    return "no such column: \"" + message.dropFirst(beginning.count).dropLast()
  }

  /// The position of the first word after `place`. Space, comments and semicolons are skipped.
  private static func beginning(after place: Int, in bytes: [UInt8]) -> Int {
    var tokens = SQLTokens(String(decoding: bytes[place...], as: UTF8.self))
    while let token = tokens.next() { if !token.isSign(";") { return place + token.end - token.text.count } }
    return place
  }

  private static func line(_ place: Int, of bytes: [UInt8]) -> Int { 1 + bytes[..<place].count { $0 == 10 } }

  /// Runs one statement. Returns the position after the statement, and whether the text contained a statement. The text
  /// may have only space and comments.
  /// - Parameter willRun: is called after SQLite has compiled the statement, and before it runs.
  private func runStatement(
    at place: Int, of bytes: [UInt8], willRun: () -> Void
  ) throws -> (end: Int, isStatement: Bool) {
    var prepared: OpaquePointer?
    var end = bytes.count
    let code = bytes.withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { text in
        var tail: UnsafePointer<CChar>?
        let code = sqlite3_prepare_v3(
          handle, text.baseAddress.map { $0 + place }, Int32(bytes.count - place), 0, &prepared, &tail)
        if let tail, let start = text.baseAddress { end = tail - start }
        return code
      }
    }
    guard code == SQLITE_OK else { throw failure("") }
    guard let prepared else { return (end, false) }
    let statement = Statement(handle: prepared)
    willRun()
    while try statement.step() {}
    return (end, true)
  }
}
