import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// A hub and a device in their own folders. The tests run the built tools as processes.
struct Field {
  let folder: TemporaryFolder
  private let tools: String

  /// The number of rows on each side. It is SATCHEL_ROWS, or so many rows as a debug build processes in a second. For
  /// more rows, use the tools of a release build, in the folder SATCHEL_TOOLS.
  static let rows = ProcessInfo.processInfo.environment["SATCHEL_ROWS"].flatMap { Int($0) } ?? 1_000

  private static let definition = """
    { "dataset": "field", "version": 1, "snapshot": "never", "brake": { "delete": "100%", "change": "100%" },
      "tables": { "places": { "write": "none" }, "notes": {} } }
    """

  init(journal: String) throws {
    folder = try TemporaryFolder()
    tools = ProcessInfo.processInfo.environment["SATCHEL_TOOLS"] ?? Paths.parent(of: builtProgram("satchel"))
    try folder.write(Self.definition.utf8, to: "field.json")
    try sql(
      "office.sqlite",
      """
      PRAGMA journal_mode = \(journal);
      CREATE TABLE places (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE notes (
        id TEXT PRIMARY KEY, place INTEGER REFERENCES places (id), author TEXT, number INTEGER, words TEXT, weight REAL);
      CREATE INDEX notes_by_author ON notes (author, number);
      WITH n (i) AS (SELECT value FROM generate_series(1, 20)) INSERT INTO places SELECT i, 'Place ' || i FROM n;
      """)
    try hub(
      "init", folder("hub"), "--dataset", folder("field.json"), "--database", folder("office.sqlite"), isMade: false)
    try hub("user", "add", "ann")
    try hub("device", "provision", "tablet", "--user", "ann", "--into", folder("tablet"))
    try sql("tablet/data.sqlite", "PRAGMA journal_mode = \(journal)")
    for (database, author) in [("office.sqlite", "office"), ("tablet/data.sqlite", "tablet")] {
      try sql(
        database,
        """
        INSERT INTO notes
        SELECT '\(author)-' || value, 1 + value % 20, '\(author)', value, 'One of many that were written at once', value / 3.0
        FROM generate_series(1, \(Self.rows));
        """)
    }
  }

  func sql(_ database: String, _ text: String) throws {
    try StockTool.sqlite3("-bail", folder(database), text, in: folder.path)
  }

  func rows(_ database: String, _ query: String) throws -> [String] {
    try StockTool.sqlite3(folder(database), query, in: folder.path).lines
  }

  @discardableResult func hub(_ words: String..., isMade: Bool = true) throws -> String {
    try run("satchel-hub", (isMade ? ["-C", folder("hub")] : []) + words)
  }

  @discardableResult func device(_ words: String...) throws -> String {
    try run("satchel", ["-C", folder("tablet")] + words)
  }

  /// Runs a tool and returns its output. Throws if the tool fails.
  private func run(_ tool: String, _ words: [String]) throws -> String {
    let result = try outcome(tool, words)
    guard result.status == 0 else {
      throw ToolFailure("\(tool) \(words.joined(separator: " ")) ended with \(result.status): \(result.complaint)")
    }
    return result.text
  }

  func outcome(_ tool: String, _ words: [String]) throws -> ToolResult {
    try runProgram(at: Paths.join(tools, tool), words, in: folder.path)
  }

  /// Carries everything in an outbox to the other side.
  func deliver() throws {
    try device("export")
    for file in try waiting("tablet") { try hub("import", file) }
  }

  func answer() throws {
    try hub("emit", "--device", "tablet")
    for file in try waiting("hub") { try device("import", file) }
  }

  private func waiting(_ side: String) throws -> [String] {
    let outbox = folder("\(side)/bundles/outbox")
    return try folder.files.list(outbox).filter { $0.hasSuffix(".satchel") }.map { Paths.join(outbox, $0) }
  }
}
