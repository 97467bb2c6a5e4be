import Foundation
import SatchelPlatform
import Testing

/// Any person can choose keys, values, names and files. None of these texts may control the terminal on which Satchel
/// prints it.
@Suite("Words that command a terminal")
struct HostileWordsTests {
  /// A text with escape sequences, C1 controls, marks that reverse text, all kinds of line ends, and a forged line.
  private static let words =
    "a\u{1B}[2J\u{9B}31m\u{7F}\u{8}\u{202E}\u{2066}\u{200F}\u{61C}\u{2028}\u{2029}\u{85}\r\nFAKE: all is well"

  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    let word = Self.words.replacingOccurrences(of: "'", with: "''")
    try camp.open(
      """
      CREATE TABLE notes (id TEXT PRIMARY KEY, "\(word)" TEXT, photo TEXT);
      INSERT INTO notes VALUES ('\(word)', '\(word)', NULL), ('n2', 'two', '\(word)');
      """,
      CommandLineFixture.definition(Self.tables), devices: ["tablet"])
  }

  private static let tables = #"{ "notes": { "conflict": "manual", "attachments": ["photo"] } }"#

  /// Expects that a command's output has no control characters and no forged line.
  private func expectHarmless(_ outcome: CommandLineFixture.Outcome, _ command: [String]) {
    // In CSV, a line ends with both characters.
    for text in [outcome.out.replacingOccurrences(of: "\r\n", with: "\n"), outcome.error] {
      let found = text.unicodeScalars.filter { scalar in
        switch scalar.value {
        case 0xA: false
        case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
      }
      #expect(found.isEmpty, "\(command): \(found.map { String($0.value, radix: 16) })")
      #expect(!text.split(separator: "\n").contains { $0.hasPrefix("FAKE") }, "\(command)")
    }
  }

  private func hub(_ words: String...) {
    for words in [words, words + ["--json"]] {
      expectHarmless(camp.hubAnywhere(["-C", camp.path("hub")] + words), words)
    }
  }

  private func tablet(_ words: String...) {
    for words in [words, words + ["--json"]] {
      expectHarmless(camp.deviceAnywhere(["-C", camp.path("tablet")] + words), words)
    }
  }

  /// Both sides change the same row, and the hub imports the device's change. Returns the conflict's id.
  private func disagree() throws -> String {
    let column = "\"\(Self.words)\""
    try camp.sql("tablet/data.sqlite", "UPDATE notes SET \(column) = \(column) || ' tablet'")
    try camp.sql("office.sqlite", "UPDATE notes SET \(column) = \(column) || ' office'")
    return try camp.export("tablet")
  }

  @Test("no command prints control characters for a terminal, wherever they come from")
  func everyCommand() throws {
    let file = try disagree()
    hub("inspect", "--rows", file)
    hub("import", file, "--dry-run")
    hub("import", file)
    let ids = try #require(try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue).compactMap {
      $0["id"]?.stringValue
    }
    #expect(ids.count == 2)
    // The JSON document escapes the text, but does not change it.
    let key = try camp.hub("conflicts", "show", ids[0], "--json").json["conflict"]?["key"]
    let other = try camp.hub("conflicts", "show", ids[1], "--json").json["conflict"]?["key"]
    #expect([key, other].contains([.string(Self.words)]), "\(String(describing: key))")
    hub("conflicts")
    hub("conflicts", "--all")
    hub("conflicts", "export")
    for id in ids { hub("conflicts", "show", id) }
    hub("history", "notes", Self.words)
    hub("scope", "explain", "ann", "notes", Self.words)
    hub("status")
    hub("log")
    hub("doctor")
    hub("audit")
    tablet("import", try camp.emit("tablet"))
    tablet("conflicts", "--all")
    tablet("conflicts", "export")
    for id in ids { tablet("conflicts", "show", id) }
    hub("conflicts", "resolve", ids[0], "--keep", "hub", "--note", Self.words)
    hub("conflicts", "show", ids[0])
    hub("conflicts", "resolve", "--all", "--policy", "device", "--note", Self.words)
    hub("revert", "tablet/1")
    hub("conflicts", "resolve", "--all", "--policy", "hub")
    hub("conflicts", "export")
    tablet("import", try camp.emit("tablet"))
    tablet("conflicts", "export")
    for command in [["status"], ["doctor"], ["log"], ["export"], ["conflicts"]] {
      expectHarmless(camp.deviceAnywhere(["-C", camp.path("tablet")] + command), command)
    }
  }

  @Test("typed text and missing names are printed without their terminal commands")
  func typed() throws {
    for command in [
      ["history", "notes", Self.words + "?"], ["history", Self.words, "x"], ["conflicts", "show", Self.words],
      ["import", Self.words], ["verify", Self.words], ["user", "add", Self.words], ["scope", "show", Self.words],
      ["emit", "--device", Self.words], ["emit", "--\(Self.words)"], [Self.words], ["device", "fork", Self.words],
      ["dataset", "apply", Self.words], ["quarantine", "drop", Self.words],
      ["backup", "--verify", camp.path(Self.words)],
      ["sync", Self.words], ["watch", "--once", Self.words], ["report", camp.path("nowhere/\(Self.words).csv")],
      ["revert", Self.words], ["compare", Self.words], ["keys", "revoke", Self.words],
    ] {
      let outcome = camp.hubAnywhere(["-C", camp.path("hub")] + command)
      #expect(outcome.code != 0 || command[0] == "user", "\(command): \(outcome)")
      expectHarmless(outcome, command)
      let document = camp.hubAnywhere(["-C", camp.path("hub")] + command + ["--json"])
      expectHarmless(document, command)
      #expect(throws: Never.self, "\(command)") { try document.json }
    }
    hub("user", "list")
  }

  @Test("files with such names on a stick are named without their commands")
  func stick() throws {
    let name = Self.words.replacingOccurrences(of: "/", with: "")
    try camp.makeFolder("stick/SATCHEL/camp/hub/tablet")
    try camp.makeFolder("stick/SATCHEL/camp/tablet/hub")
    for place in ["hub/tablet", "tablet/hub"] {
      try camp.writeDamagedBundle("stick/SATCHEL/camp/\(place)/\(name).satchel")
    }
    _ = try disagree()
    let stick = camp.path("stick")
    for _ in 1...2 {
      tablet("sync", stick)
      hub("sync", stick)
      hub("watch", "--once", stick)
    }
    hub("quarantine", "list")
    hub("status")
    hub("quarantine", "drop", "--all", "--yes")
    tablet("quarantine", "list")
    tablet("import", camp.path("stick/SATCHEL/camp/tablet/hub/\(name).satchel"), camp.path("stick/nothing"))
    tablet("import", "--stage", camp.path("stick/SATCHEL/camp/tablet/hub/\(name).satchel"))
  }

  @Test("the text beside a waiting bundle commands no terminal, and stays in its lines")
  func besideWaiting() throws {
    // The app on the device has already added the column that the migration will add.
    let column = "ALTER TABLE notes ADD COLUMN \"new \(Self.words)\" TEXT"
    try camp.sql("tablet/data.sqlite", column)
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    try camp.write("next.json", #"{ "dataset": "camp", "version": 2, "tables": \#(Self.tables) }"#)
    try camp.write("next.sql", column)
    #expect(camp.hub("dataset", "apply", camp.path("next.json"), "--migration", camp.path("next.sql")).code == 0)
    #expect(camp.device("tablet", "import", try camp.emit("tablet")).code == 3)
    let names = try HostFileSystem().list(camp.path("tablet/bundles/staged")).filter { $0.hasSuffix(".reason.txt") }
    let text = String(decoding: try camp.read("tablet/bundles/staged/\(try #require(names.first))"), as: UTF8.self)
    #expect(names.count == 1 && text.contains("FAKE: all is well"), "\(text)")
    expectHarmless(CommandLineFixture.Outcome(code: 0, out: text, error: ""), names)
  }

  @Test("a report's tables hold no commands and no formulas, and a browser shows its text as text")
  func report() throws {
    camp.hub("import", try disagree())
    hub("report", camp.path("report.csv"), camp.path("report.html"))
    for name in ["report.csv", "report.html"] {
      let text = String(decoding: try camp.read(name), as: UTF8.self)
      // In an HTML file, a line break in the source is not a line break on the screen.
      let shown = name.hasSuffix(".csv") ? text : text.replacingOccurrences(of: "\nFAKE", with: "FAKE")
      expectHarmless(CommandLineFixture.Outcome(code: 0, out: shown, error: ""), [name])
      #expect(text.contains("FAKE: all is well"))
    }
  }
}

@Suite("Cells of CSV")
struct HostileCellTests {
  @Test("a cell is no formula, also behind quotes and spaces")
  func formulas() throws {
    let cells = [
      "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\"=1+1", "'=1", " =1", "\"\"=1", "-",
      "-x", "+inf", "-inf", "-nan", "-0x1p3", "-1, 5", "\u{FF1D}1", "\u{FF0B}1", "\u{FF0D}1", "\u{FF20}x",
    ]
    for (cell, field) in zip(cells, try exported(cells)) { #expect(field.hasPrefix("'"), "\(cell): \(field)") }
  }

  @Test("numbers and words stay as they are")
  func plain() throws {
    let cells = ["-5", "+5", "-5.25", "-1.5e-7", "5", "a=b", "a-b", "\"quoted\"", "a,b", "it's"]
    #expect(try exported(cells) == cells)
  }

  /// The given values as the hub's CSV export of a device's rows shows them.
  private func exported(_ cells: [String]) throws -> [String] {
    let camp = try CommandLineFixture()
    let values = (0..<cells.count).map { "(\($0), 'x')" }.joined(separator: ", ")
    try camp.open(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES \(values)",
      CommandLineFixture.definition(#"{ "t": { "conflict": "manual" } }"#), devices: ["tablet"])
    for (id, cell) in cells.enumerated() {
      let word = cell.replacingOccurrences(of: "'", with: "''")
      try camp.sql("tablet/data.sqlite", "UPDATE t SET a = '\(word)' WHERE id = \(id)")
    }
    try camp.sql("office.sqlite", "UPDATE t SET a = 'z'")
    try camp.deliver("tablet")
    let rows = try #require(CSVReader.rows(camp.hub("conflicts", "export").out))
    let key = try #require(rows[0].firstIndex(of: "key"))
    let value = try #require(rows[0].firstIndex(of: "device_value"))
    return cells.indices.map { id in rows.first { $0[key] == String(id) }?[value] ?? "" }
  }
}

/// Parses CSV as RFC 4180 defines it.
private enum CSVReader {
  static func rows(_ text: String) -> [[String]]? {
    var (rows, row, field, isQuoted): ([[String]], [String], [UInt8], Bool) = ([], [], [], false)
    var bytes = Array(text.utf8)[...]
    while let byte = bytes.popFirst() {
      switch byte {
      case 0x22 where isQuoted && bytes.first == 0x22:
        field.append(byte)
        bytes.removeFirst()
      case 0x22: isQuoted.toggle()
      case 0x2C where !isQuoted, 0xD where !isQuoted:
        row.append(String(decoding: field, as: UTF8.self))
        field = []
        if byte == 0xD {
          guard bytes.popFirst() == 0xA else { return nil }
          rows.append(row)
          row = []
        }
      default: field.append(byte)
      }
    }
    return isQuoted ? nil : rows
  }
}
