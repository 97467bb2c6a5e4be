import Foundation
import Glibc
import SatchelPlatform
import Synchronization

/// Copies of camps just after they were opened. The commands that open a camp take longer than most tests. So later
/// tests that need such a camp copy its files.
///
/// At most one living camp belongs to a copy. Therefore two camps of one test never have the same keys and ids. There
/// are at least two copies of each kind, and tests use them in turn.
///
/// A copy is used for one minute only, because the tools call a time "just now" for 90 seconds. If SATCHEL_UNPREPARED
/// is 1, each test runs the commands itself.
final class PreparedCamps: Sendable {
  static let shared = PreparedCamps()
  static let areUsed = ProcessInfo.processInfo.environment["SATCHEL_UNPREPARED"] == nil

  /// The folder of a copy. Its deinitialiser removes the folder.
  final class Copy: Sendable {
    /// Everything that decides the content of the files, except for random numbers and the time.
    let kind: [String]
    let camp: String
    private let made = ContinuousClock.now

    fileprivate init(of other: String, _ kind: [String]) throws {
      self.kind = kind
      // The copies are not in the folder of the camps. That folder may be in memory and have little room.
      camp = Paths.join(NSTemporaryDirectory(), "satchel-prepared-\(UUID().uuidString)")
      try CommandLineFixture.copy(other, to: camp)
    }

    deinit { try? FileManager.default.removeItem(atPath: camp) }

    fileprivate var isRecent: Bool { made.duration(to: .now) < .seconds(60) }
  }

  private struct Place {
    let copy: Copy
    /// Whether a living camp belongs to the copy.
    var isTaken: Bool
  }

  private let places = Mutex<[[String]: [Place]]>([:])

  // At the end of the process, the copies that belong to no test are removed.
  private init() { atexit { PreparedCamps.shared.places.withLock { $0.removeAll() } } }

  /// Returns a copy of this kind that belongs to no living camp. Returns nil if there is none; the caller then runs the
  /// commands.
  func take(_ kind: [String]) -> Copy? {
    places.withLock { places in
      places = places.mapValues { $0.filter { $0.isTaken || $0.copy.isRecent } }
      var known = places[kind] ?? []
      guard known.count > 1, let free = known.firstIndex(where: { !$0.isTaken }) else { return nil }
      let copy = known.remove(at: free).copy
      places[kind] = known + [Place(copy: copy, isTaken: true)]
      return copy
    }
  }

  /// Makes a copy of a camp that commands have just opened. The copy belongs to this camp.
  func add(copyOf camp: String, _ kind: [String]) throws -> Copy {
    let copy = try Copy(of: camp, kind)
    places.withLock { $0[kind, default: []].append(Place(copy: copy, isTaken: true)) }
    return copy
  }

  /// Called when the camp to which this copy belonged is gone.
  func giveBack(_ copy: Copy) {
    places.withLock { places in
      guard let place = places[copy.kind]?.firstIndex(where: { $0.copy === copy }) else { return }
      places[copy.kind]?[place].isTaken = false
    }
  }
}

extension CommandLineFixture {
  /// Opens this empty camp. It runs the commands, or copies a camp that the same commands opened before. The commands
  /// may first open the camp as another kind.
  /// - Parameter kind: everything that decides the result.
  func open(as kind: [String], _ commands: () throws -> Void) throws {
    let isEmpty = try FileManager.default.contentsOfDirectory(atPath: root).isEmpty
    guard PreparedCamps.areUsed, isEmpty, hasUsualPlatform, !isOpening else { return try commands() }
    isOpening = true
    defer { isOpening = false }
    if let copy = PreparedCamps.shared.take(kind) {
      prepared = copy
      try fill(from: copy.camp)
    } else {
      try commands()
      prepared = try PreparedCamps.shared.add(copyOf: root, kind)
    }
  }
}
