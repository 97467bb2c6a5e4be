import Foundation
import SatchelSQLite
import SatchelValues

/// A folder in memory. Its deinitialiser deletes it.
final class Scratch {
  let folder: URL

  init() throws {
    let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/dev/shm"
    folder = URL(filePath: parent).appending(path: "satchel-sqlite-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var path: String { folder.appending(path: "data.sqlite").path() }

  func open(_ mode: Database.Mode = .create) throws -> Database { try Database(path: path, mode: mode) }

  func put(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

  func bytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }
}

func memory(_ sql: String = "") throws -> Database {
  let database = try Database(path: ":memory:", mode: .create)
  try database.execute(sql)
  return database
}
