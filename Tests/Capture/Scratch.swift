import Foundation
import Testing

/// A folder in memory that goes when its test ends.
final class Scratch {
  let folder: URL

  init() throws {
    let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/dev/shm"
    folder = URL(filePath: parent).appending(path: "satchel-capture-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func callAsFunction(_ name: String) -> String { folder.appending(path: name).path() }

  /// Runs SQL through the stock shell, which goes on after a statement that fails.
  func shell(_ database: String, _ sql: String) throws {
    let tool = "/usr/bin/sqlite3"
    try #require(FileManager.default.isExecutableFile(atPath: tool), "sqlite3 is missing: install Debian's package sqlite3")
    let process = Process()
    let input = Pipe()
    process.executableURL = URL(filePath: tool)
    process.arguments = ["-batch", "-init", "/dev/null", database]
    process.currentDirectoryURL = folder
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    input.fileHandleForWriting.write(Data(sql.utf8))
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
