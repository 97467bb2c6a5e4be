import Foundation
import SatchelCapture
import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

/// A folder in memory. Its deinitialiser deletes it.
final class Scratch {
  let folder: URL

  init() throws {
    let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/dev/shm"
    folder = URL(filePath: parent).appending(path: "satchel-capture-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func callAsFunction(_ name: String) -> String { folder.appending(path: name).path() }

  /// Runs SQL with the stock sqlite3 shell. The shell continues after a statement that fails.
  func shell(_ database: String, _ sql: String) throws {
    let tool = "/usr/bin/sqlite3"
    try #require(
      FileManager.default.isExecutableFile(atPath: tool), "sqlite3 is missing: install Debian's package sqlite3")
    let process = try ChildProcess(
      tool, ["-batch", "-init", "/dev/null", database], in: folder.path, takesInput: true, complaints: .nowhere)
    process.write(sql.utf8)
    process.endInput()
    _ = process.readToEnd()
    process.wait()
  }
}

extension PreImageStore {
  /// All steps since a generation, in an order in which they can be applied.
  static func steps(_ tables: [TrackedTable], since first: Generation, in database: borrowing Database) throws -> [Step]
  {
    var found: [(place: ApplyOrder, number: Int, step: Step)] = []
    try eachStep(tables, since: first, in: database) { found.append(($0, found.count, $2)) }
    return found.sorted { ($0.place, $0.number) < ($1.place, $1.number) }.map(\.step)
  }
}
