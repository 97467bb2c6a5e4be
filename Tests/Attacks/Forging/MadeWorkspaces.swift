import Foundation
import SatchelPlatform
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The files of the hub and the two devices of a `CostFixture`, just after they were made. To make them takes longer
/// than most tests, so tests copy them.
final class MadeWorkspaces: Sendable {
  static let shared: Result<MadeWorkspaces, any Error> = Result { try MadeWorkspaces() }

  /// The time of the workspaces' clock after they were made.
  let now: Int64
  private let path: String

  private init() throws {
    let fixture = try CostFixture(clock: .laterThanToday, snapshot: "never")
    now = fixture.clock.milliseconds()
    // Not where the fixtures are: that place may be small, because it is in memory.
    path = Paths.join(NSTemporaryDirectory(), "satchel-made-\(UUID().uuidString)")
    try FileManager.default.copyItem(atPath: fixture.folder.path, toPath: path)
    atexit { try? MadeWorkspaces.shared.get().remove() }
  }

  func copy(into folder: TemporaryFolder) throws {
    for name in ["hub", "evil", "other"] {
      try FileManager.default.copyItem(atPath: Paths.join(path, name), toPath: folder(name))
    }
  }

  private func remove() throws { try FileManager.default.removeItem(atPath: path) }
}
