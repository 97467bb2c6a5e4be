import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// Small files with distinct contents on a medium, and files that only reserve room between them. All of them are
/// removed when this value ends.
final class SizeMarkers {
  /// The size of a marker. It is a power of two, so each smaller cluster divides it.
  static let bytes: Int64 = 2 << 20
  /// The largest cluster of exFAT.
  private static let mostRoom: Int64 = 32 << 20
  private static let blockBytes = 64 << 10

  private let folder: StagingFolder
  private let mount: String
  private let files: any FileSystem
  /// With this random seed, the contents differ from the contents of every earlier check.
  private let seed: [UInt8]
  private var markers: [Int32] = []
  private var reservations: [Int32] = []
  /// The room that each marker takes on the medium, a power of two. A cluster may be larger than a marker.
  private(set) var room = bytes

  /// - Parameters:
  ///   - root: the folder for the markers. An interrupted check leaves files there, and the next `sync` removes them.
  ///   - mount: the medium's own folder.
  init(in root: String, of mount: String, platform: Platform) throws {
    self.mount = mount
    files = platform.files
    seed = platform.random.bytes(16)
    try files.makeDirectory(root, mode: 0o755)
    folder = try StagingFolder(in: root, platform: platform)
  }

  deinit { for fd in markers + reservations { files.close(fd) } }

  /// The number of markers (`count`), and the number of files that reserve room (`reserved`).
  var count: Int { markers.count }
  var reserved: Int { reservations.count }

  /// Writes one more marker. Returns false if the medium has no room for it.
  func add() throws -> Bool {
    let free = try files.freeBytes(mount)
    do { markers.append(try written()) } catch PlatformError.noSpace { return false }
    let taken = free - (try files.freeBytes(mount))
    if count == 1 { while room < min(taken, Self.mostRoom) { room *= 2 } }
    return true
  }

  /// Writes the file of the next marker, and returns it open.
  private func written() throws -> Int32 {
    let fd = try files.createTemporary(in: folder.path, mode: 0o600).fd
    do {
      for block in 0..<Self.blocks { try files.write(fd, content(of: count, block)) }
      try files.sync(fd)
      return fd
    } catch {
      files.close(fd)
      throw error
    }
  }

  /// Reserves room after everything that was written. Returns false if the file system cannot reserve it, or has too
  /// little room.
  func reserve(_ bytes: Int64) throws -> Bool {
    if bytes == 0 { return true }
    // The room is reserved as long as its file is open.
    let fd = try files.createTemporary(in: folder.path, mode: 0o600).fd
    reservations.append(fd)
    do { return try files.reserve(bytes, for: fd) } catch PlatformError.noSpace { return false }
  }

  /// Gives the reserved room back.
  func release() {
    for fd in reservations { files.close(fd) }
    reservations = []
  }

  /// Reads all markers back from the medium. Throws if one of them has other bytes than were written.
  func check(each: () -> Void) throws {
    for fd in markers { files.dropCache(of: fd) }
    for (number, fd) in markers.enumerated() {
      try files.seek(fd, to: 0)
      for block in 0..<Self.blocks where try read(fd) != content(of: number, block) { throw Self.falseSize(mount) }
      each()
    }
  }

  private static var blocks: Int { Int(bytes) / blockBytes }

  /// The content of one block of a marker. No two blocks have the same content.
  private func content(of number: Int, _ block: Int) -> [UInt8] {
    let position = Array("\(number) \(block)".utf8)
    let digest = Digest.of(seed + position).bytes
    var content: [UInt8] = []
    content.reserveCapacity(Self.blockBytes)
    while content.count < Self.blockBytes { content += digest }
    return content
  }

  /// The next block of a file; shorter at the file's end.
  private func read(_ fd: Int32) throws -> [UInt8] {
    var block: [UInt8] = []
    while block.count < Self.blockBytes {
      var buffer = [UInt8](repeating: 0, count: Self.blockBytes - block.count)
      let count = try files.read(fd, into: &buffer)
      if count == 0 { break }
      block += buffer.prefix(count)
    }
    return block
  }

  private static func falseSize(_ mount: String) -> WorkspaceError {
    WorkspaceError(
      .falseSize, "The stick at \(mount) has less room than it says: it lost test data. No bundle was put on it.",
      hint: """
        Take another stick: on this one files get lost. If you know that it is sound, copy it, format it, and try again.
        """)
  }
}
