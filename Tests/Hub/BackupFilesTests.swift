import SatchelPlatform
import SatchelSQLite
import TestSupport
import Testing

@testable import SatchelHub

@Suite("The files in a backup")
struct BackupFilesTests {
  @Test("a file of which the first, a middle or no piece is missing", arguments: [(0, "big"), (1, "big"), (9, nil)])
  func incomplete(part: Int64, found: String?) throws {
    let folder = try TemporaryFolder()
    let host = HostFileSystem()
    try folder.write([UInt8](repeating: 7, count: (2 << 20) + 1), to: "big")
    try folder.write([], to: "empty")
    do {
      let made = try BackupFiles.making(at: folder("files.sqlite"), host)
      try made.add { for name in ["big", "empty"] { try made.add(folder(name), as: name) } }
    }
    let database = try Database(path: folder("files.sqlite"), mode: .readWrite)
    #expect(try database.all("SELECT count(*) FROM files") { $0.integer(0) } == [4])
    try database.run("DELETE FROM files WHERE path = 'big' AND part = :part", ["part": .integer(part)])
    #expect(try BackupFiles.verified(at: folder("files.sqlite"), host).incompleteFile() == found)
  }
}
