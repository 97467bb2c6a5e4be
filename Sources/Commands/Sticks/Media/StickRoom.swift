import SatchelPlatform
import SatchelWorkspace

/// The room on a stick for the bundles that one sync makes, one after another. The bundles are put there later.
struct StickRoom {
  private let stick: Stick
  /// The largest size of a bundle, as a person requested.
  private let size: Int64?
  /// The free bytes on the stick, minus the sizes of the bundles that were made so far and are not on it yet.
  private var free: Int64

  init(on stick: Stick, size: Int64?) throws {
    (self.stick, self.size) = (stick, size)
    free = try stick.room()
  }

  /// The room for the next bundle. Its attached files leave room for the rows of later bundles.
  /// - Parameters:
  ///   - receiver: for whom the next bundle is.
  ///   - later: the number of receivers that come later.
  func next(to receiver: String, later: Int = 0) -> BundleRoom {
    let kept = min(max(free, 0) / 2, Int64(later) * Self.ofRows)
    return BundleRoom(size: size, free: free - kept) { [stick] file in
      (try? stick.holds(copyOf: file, for: receiver)) == true
    }
  }

  /// Whether a bundle's file exists and does not fit into this room.
  func isTooSmall(_ room: BundleRoom, for file: String) throws -> Bool {
    let files = stick.platform.files
    return try files.kind(file) == .file && !room.fits(file, files)
  }

  /// Records that a bundle was made, which takes room if the stick does not hold it.
  mutating func add(_ file: String, of bytes: Int64, to receiver: String) {
    // A fault of the stick is reported when the bundle is put there.
    if (try? stick.holds(copyOf: file, for: receiver)) != true { free -= bytes }
  }

  /// The bytes that the rows of one receiver usually need at most.
  private static let ofRows: Int64 = 4 << 20
}
