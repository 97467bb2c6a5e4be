import CSQLite
import SatchelValues

/// Why a script could not be run, and where.
public struct ScriptError: Error {
  /// Of the statement, from 1 on.
  public let line: Int
  /// The rest of a sentence.
  public let message: String
}

/// What the statements of a migration may do: anything with the app's own tables, and nothing beside them.
private final class ScriptWatch {
  private(set) var refusal: String?

  /// A GeoPackage and an index for full-text search ask for some of them by themselves.
  private static let pragmas: Set<[UInt8]> = Set(
    [
      "user_version", "data_version", "page_size", "quick_check", "table_info", "table_xinfo", "table_list",
      "index_list",
      "index_info", "foreign_key_list",
    ].map { Array($0.utf8) })
  private static let functions: Set<[UInt8]> = Set(["load_extension", "fts3_tokenizer"].map { Array($0.utf8) })

  func allows(_ action: Int32, _ first: String?, _ second: String?) -> Bool {
    let one = Array((first ?? "").utf8).asciiLowercased
    let two = Array((second ?? "").utf8).asciiLowercased
    switch action {
    case SQLITE_ATTACH, SQLITE_DETACH: refusal = "it opens another database"
    case SQLITE_TRANSACTION, SQLITE_SAVEPOINT:
      refusal = "it begins or ends a transaction, and a migration is one already: leave BEGIN, COMMIT and the like out"
    case SQLITE_PRAGMA where !Self.pragmas.contains(one): refusal = "PRAGMA \(first ?? "") has no place in a migration"
    case SQLITE_FUNCTION where Self.functions.contains(two): refusal = "it calls \(second ?? "")()"
    case SQLITE_PRAGMA, SQLITE_FUNCTION, SQLITE_SELECT, SQLITE_RECURSIVE: break
    case SQLITE_READ, SQLITE_UPDATE, SQLITE_INSERT, SQLITE_DELETE: refuseOurs([one])
    default: refuseOurs([one, two])
    }
    return refusal == nil
  }

  private func refuseOurs(_ names: [[UInt8]]) {
    guard let name = names.first(where: { $0.starts(with: "satchel_".utf8) }) else { return }
    refusal = "it touches \(String(decoding: name, as: UTF8.self)), and what begins with satchel_ is Satchel's own"
  }
}

extension Database {
  /// How many statements a script may have.
  private static let mostStatements = 1_000

  /// Runs the statements of a script that a person wrote, inside the caller's transaction. They may change the app's
  /// tables, rows and triggers, and nothing of Satchel's; they can open no other database, load nothing, and end no
  /// transaction.
  ///
  /// - Parameter look: is called after each statement.
  /// - Throws: a `ScriptError` with the line of the statement that failed, and what `look` throws.
  public func runScript(_ sql: String, look: () throws -> Void) throws {
    let bytes = Array(sql.utf8)
    if let zero = bytes.firstIndex(of: 0) {
      throw ScriptError(line: Self.line(zero, of: bytes), message: "there is a NUL in it")
    }
    var place = 0
    var count = 0
    while place < bytes.count {
      let line = Self.line(Self.beginning(after: place, in: bytes), of: bytes)
      let watch = ScriptWatch()
      let done: (end: Int, isStatement: Bool)
      do {
        done = try watched(by: Watch(watch.allows)) { try runStatement(at: place, of: bytes) }
      } catch let error as SQLiteError where ![.busy, .full, .inputOutput, .corrupt].contains(error.kind) {
        throw ScriptError(line: line, message: watch.refusal ?? error.message)
      }
      place = done.end
      if !done.isStatement { continue }
      count += 1
      if count > Self.mostStatements {
        throw ScriptError(line: line, message: "there are more than \(Self.mostStatements) statements")
      }
      try look()
    }
  }

  /// Where the first word behind a place begins, past space and comments.
  private static func beginning(after place: Int, in bytes: [UInt8]) -> Int {
    var tokens = SQLTokens(String(decoding: bytes[place...], as: UTF8.self))
    while let token = tokens.next() { if !token.isSign(";") { return place + token.end - token.text.count } }
    return place
  }

  private static func line(_ place: Int, of bytes: [UInt8]) -> Int { 1 + bytes[..<place].count { $0 == 10 } }

  /// Returns where the text goes on, and whether there was a statement: it may have been space and comments.
  private func runStatement(at place: Int, of bytes: [UInt8]) throws -> (end: Int, isStatement: Bool) {
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
    while try statement.step() {}
    return (end, true)
  }
}
