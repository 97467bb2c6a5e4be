import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Finds a stick that reports more room than it has, before bundles are written to it.
///
/// FAT and exFAT give room to files in the order of the medium's addresses. The check writes a small marker, reserves
/// room without writing it, writes the next marker, and so on to the end of the free room. Then it reads all markers
/// back. A stick that drops writes beyond its true size loses the last markers. A stick may begin again at its first
/// address. If its true size is a power of two, it overwrites markers, because their distances are powers of two.
///
/// If the file system cannot reserve room, the markers follow each other, and reach only as far as they are written.
struct SizeCheck {
  /// The range of the free room over which the markers were spread.
  struct Reach: Equatable {
    let bytes: Int64
    let free: Int64
  }

  /// A folder with less free room is not checked, because the check is not worth its time.
  static let leastFree: Int64 = 64 << 20
  /// The file systems that give room in the order of addresses. Sticks are sold with these.
  static let fileSystems: Set<String> = ["vfat", "msdos", "exfat"]

  /// The room that stays free for the tables and folders of the file system. If a cluster is larger, one cluster stays
  /// free.
  private static let keptFree: Int64 = 4 << 20
  /// The size of each reserved file: the largest size that FAT allows, in whole clusters.
  private static let mostReserved: Int64 = 4094 << 20
  /// The number of reserved files that are open at the same time.
  private static let mostFiles = 600
  /// No further room is reserved, and no further marker is written, after this time.
  private static let mostMilliseconds: Int64 = 60_000
  /// The limit for markers that follow each other.
  private static let mostWritten: Int64 = 256 << 20
  /// The first reserved bytes, which show whether the file system writes the room that it reserves.
  private static let firstReserved: Int64 = 64 << 20

  let folder: String
  let platform: Platform

  /// Checks the free room. Removes all that it wrote.
  /// - Returns: nil if there is too little free room for a check, or no room for one marker.
  /// - Throws: a `WorkspaceError` if the medium gives other bytes back than were written.
  func run() throws -> Reach? {
    let free = try platform.files.freeBytes(folder)
    if free < Self.leastFree { return nil }
    let markers = try SizeMarkers(in: StickLayout(folder).root, of: folder, platform: platform)
    var meter = ProgressMeter(.testing, of: 2 * free, for: platform.progress)
    let reach = try spread(markers, over: free, &meter) ?? fill(markers, free, &meter)
    if markers.count == 0 { return nil }
    try markers.check { meter.add(Int(2 * free) / (2 * markers.count)) }
    return Reach(bytes: reach, free: free)
  }

  /// Writes markers with reserved room between them.
  /// - Returns: the number of bytes from the first marker to the last; nil if room cannot be reserved without writing.
  private func spread(_ markers: SizeMarkers, over free: Int64, _ meter: inout ProgressMeter) throws -> Int64? {
    let began = platform.clock.milliseconds()
    guard try markers.add() else { return nil }
    let cost = platform.clock.milliseconds() - began
    var distance = markers.room
    while distance * 2 <= free / 16 { distance *= 2 }
    var reach = SizeMarkers.bytes
    while reach + distance <= free, try hasRoom(for: distance, markers), isInTime(since: began),
      markers.reserved < Self.mostFiles
    {
      let isFirst = reach == SizeMarkers.bytes
      if isFirst, try !reservesWithoutWriting(markers, distance - markers.room, cost) { return nil }
      guard try reserve(markers, isFirst ? 0 : distance - markers.room) else { break }
      if isFirst, try platform.files.freeBytes(folder) > free - distance / 2 { return nil }
      guard try markers.add() else { break }
      reach += distance
      meter.add(Int(distance))
    }
    return reach
  }

  private func hasRoom(for bytes: Int64, _ markers: SizeMarkers) throws -> Bool {
    try platform.files.freeBytes(folder) >= bytes + max(Self.keptFree, markers.room)
  }

  private func isInTime(since began: Int64) -> Bool {
    platform.clock.milliseconds() - began < Self.mostMilliseconds
  }

  /// Reserves the room after the first marker. Returns false if this takes as long as writing it would take.
  private func reservesWithoutWriting(_ markers: SizeMarkers, _ bytes: Int64, _ cost: Int64) throws -> Bool {
    let began = platform.clock.milliseconds()
    let first = min(bytes, Self.firstReserved, Self.mostReserved)
    guard try markers.reserve(first) else { return false }
    // The limit is the time for a quarter of these bytes, and some time for the tables of the file system.
    let patience = cost * first / SizeMarkers.bytes / 4 + 200
    guard platform.clock.milliseconds() - began <= patience else { return false }
    return try reserve(markers, bytes - first)
  }

  /// Returns false if not all of this room could be reserved.
  private func reserve(_ markers: SizeMarkers, _ bytes: Int64) throws -> Bool {
    var left = bytes
    while left > 0, try markers.reserve(min(left, Self.mostReserved)) { left -= min(left, Self.mostReserved) }
    return left <= 0
  }

  /// Writes markers that follow each other, as far as room and time allow. Returns the number of bytes from the first
  /// marker to the last.
  private func fill(_ markers: SizeMarkers, _ free: Int64, _ meter: inout ProgressMeter) throws -> Int64 {
    markers.release()
    let bytes = min(Self.mostWritten, free / 4)
    let began = platform.clock.milliseconds()
    while Int64(markers.count) * markers.room < bytes, try hasRoom(for: markers.room, markers), isInTime(since: began) {
      guard try markers.add() else { break }
      meter.add(Int(free / (bytes / markers.room + 1)))
    }
    return max(0, Int64(markers.count - 1)) * markers.room + SizeMarkers.bytes
  }
}
