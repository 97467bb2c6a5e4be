import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

/// A hub with a database, and devices that began with a template. The tests use the tools' commands.
final class GeoPackageFixture {
  let folder: TemporaryFolder
  /// The file name extension of the databases.
  let ending: String

  struct Outcome {
    let code: Int32
    let out: String
    let error: String
  }

  init(ending: String = "gpkg") throws {
    folder = try TemporaryFolder()
    self.ending = ending
  }

  var office: String { folder("office.\(ending)") }
  func database(_ device: String) -> String { folder("\(device)/data.\(ending)") }

  @discardableResult func hub(_ words: String...) -> Outcome { hub(words) }

  private func hub(_ words: [String]) -> Outcome { run(["-C", folder("hub")] + words) { runHubTool($0, console: $1) } }

  @discardableResult func device(_ name: String, _ words: String...) -> Outcome {
    run(["-C", folder(name)] + words) { runDeviceTool($0, console: $1) }
  }

  private func run(_ words: [String], _ tool: ([String], CollectingConsole) -> Int32) -> Outcome {
    let console = CollectingConsole()
    let code = tool(words, console)
    return Outcome(code: code, out: console.outText, error: console.errorText)
  }

  /// Makes a hub over the office's database. All these tables have the same rules.
  func found(_ tables: [String], rules: JSONValue = .object([])) throws -> Outcome {
    let members = tables.map { JSONValue.Member(name: $0, value: rules) }
    let definition: JSONValue = ["dataset": "land", "version": 1, "tables": .object(members)]
    try folder.write(definition.prettyBytes, to: "land.json")
    return run(["init", folder("hub"), "--dataset", folder("land.json"), "--database", office]) {
      runHubTool($0, console: $1)
    }
  }

  @discardableResult func provision(_ name: String, template: String, _ more: String...) -> Outcome {
    hub(["device", "provision", name, "--user", "ann", "--into", folder(name), "--template", folder(template)] + more)
  }

  /// One device delivers its changes to the hub. Then all devices import the hub's changes.
  func round(from writer: String, to devices: [String]) throws {
    let exported = device(writer, "export", "--json")
    try #require(exported.code == 0, "\(exported.error)")
    let file = try JSONValue.parse(Array(exported.out.utf8))["file"]?.stringValue ?? ""
    let imported = hub("import", file)
    try #require(imported.code == 0, "\(imported.error)")
    try bring(to: devices)
  }

  /// The devices import the hub's changes.
  func bring(to devices: [String], _ options: String...) throws {
    for name in devices {
      let emitted = hub(["emit", "--device", name, "--json"] + options)
      let emission = try JSONValue.parse(Array(emitted.out.utf8))["emissions"]?.arrayValue?.first
      let outcome = device(name, "import", emission?["file"]?.stringValue ?? "")
      try #require(outcome.code == 0, "\(outcome.error)")
    }
  }

  // MARK: databases

  /// Writes like an app that has the geometry functions.
  func sql(_ path: String, _ text: String) throws { try Database(path: path, mode: .create).execute(text) }

  /// The rows of a query, one text for each row. Blobs are shown as bytes.
  func rows(_ path: String, _ query: String) throws -> [String] {
    try Database(path: path, mode: .readOnly).all(query) { row in
      row.values(from: 0, count: row.columnCount).map { "\($0)" }.joined(separator: "|")
    }
  }

  /// Everything that an import must not change: the whole schema, and the numbers in the file's header.
  func shape(_ path: String) throws -> [String] {
    try rows(path, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name")
      + rows(path, "PRAGMA application_id") + rows(path, "PRAGMA user_version")
  }
}
