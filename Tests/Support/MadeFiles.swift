import Foundation
import Glibc
import SatchelPlatform
import Synchronization

/// The files of a fixture just after its beginning. Tests copy them, because making them takes longer than most tests.
///
/// All copies have the same ids and keys. So a test may have only one copy. Its random numbers need another seed than
/// the random numbers of the files.
public final class MadeFiles: Sendable {
  /// The time of the story's clock after the files were made.
  public let now: Int64
  /// The folder in which the fixture made the files.
  public let origin: String
  private let path: String

  /// Copies the folder of a story. None of its databases may be open.
  public convenience init(of story: some Story) throws {
    try self.init(in: story.folder, at: story.clock.milliseconds())
  }

  /// Copies a folder. None of its databases may be open.
  public init(in folder: TemporaryFolder, at now: Int64) throws {
    self.now = now
    origin = folder.path
    // The copy is not beside the fixtures. Their place is in memory, so it may be small.
    path = Paths.join(NSTemporaryDirectory(), "satchel-made-\(UUID().uuidString)")
    try FileManager.default.copyItem(atPath: folder.path, toPath: path)
    _ = Self.isRemovedAtExit
    Self.all.withLock { [path] in $0.append(path) }
  }

  public func copy(into folder: TemporaryFolder) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      try FileManager.default.copyItem(atPath: Paths.join(path, name), toPath: folder(name))
    }
  }

  private static let all = Mutex<[String]>([])
  private static let isRemovedAtExit =
    atexit {
      for path in MadeFiles.all.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
    } == 0
}
