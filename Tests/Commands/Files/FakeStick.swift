import SatchelPlatform
import Synchronization

/// A stick that may report a larger size than its true size. It gives files their room in the order of its addresses,
/// as FAT does. It stores only files that were created and are still open.
final class FakeStick: Sendable {
  /// How the stick treats writes beyond its true size.
  enum Manner: Sendable {
    /// The stick forgets these writes.
    case drops
    /// The stick writes them at its beginning again.
    case wraps
  }

  private struct OpenFile {
    /// The addresses of the file's blocks, in order.
    var clusters: [Int64] = []
    var reserved: Int64 = 0
    var position: Int64 = 0
  }

  private struct State {
    var next: Int64 = 0
    var files: [Int32: OpenFile] = [:]
    var content: [Int64: [UInt8]] = [:]
    var written: Int64 = 0
  }

  /// The size of a block in bytes. A cluster has one or more blocks.
  private static let clusterBytes: Int64 = 64 << 10

  private let folder: String
  let said: Int64
  private let real: Int64
  private let manner: Manner
  private let canReserve: Bool
  private let cluster: Int64
  private let state = Mutex(State())

  /// - Parameters:
  ///   - folder: the stick's folder.
  ///   - said: the size that the stick reports, in bytes.
  ///   - real: the true size in bytes, a multiple of 64 KiB.
  ///   - cluster: the smallest room that a file gets, in bytes, a multiple of 64 KiB.
  init(
    _ folder: String, said: Int64, real: Int64, _ manner: Manner = .drops, reserving: Bool = true,
    cluster: Int64 = 64 << 10
  ) {
    self.cluster = cluster
    (self.folder, self.said, self.real, self.manner, canReserve) = (folder, said, real, manner, reserving)
  }

  func holds(_ path: String) -> Bool { path.hasPrefix(folder) }

  var free: Int64 {
    state.withLock { state in
      free(state)
    }
  }

  private func free(_ state: State) -> Int64 {
    said - state.files.values.reduce(0) { $0 + $1.reserved + Int64($1.clusters.count) * Self.clusterBytes }
  }

  /// The number of bytes that were written to new files.
  var written: Int64 { state.withLock { $0.written } }

  func note(_ fd: Int32, _ path: String) {
    if holds(path) { state.withLock { $0.files[fd] = OpenFile() } }
  }

  /// Returns nil if the file is not on this stick, and false if the room cannot be reserved.
  func reserve(_ bytes: Int64, for fd: Int32) -> Bool? {
    state.withLock { state in
      guard state.files[fd] != nil else { return nil }
      guard canReserve else { return false }
      let room = (bytes + cluster - 1) / cluster * cluster
      state.files[fd]?.reserved += room
      state.next += room
      return true
    }
  }

  /// Returns false if the stick reports that it is full.
  func write(_ fd: Int32, _ bytes: [UInt8]) -> Bool {
    state.withLock { state in
      guard var file = state.files[fd] else { return true }
      state.written += Int64(bytes.count)
      var rest = bytes[...]
      while !rest.isEmpty {
        let (cluster, offset) = file.position.quotientAndRemainder(dividingBy: Self.clusterBytes)
        if Int(cluster) == file.clusters.count {
          guard free(state) >= self.cluster else { return false }
          file.clusters += stride(from: state.next, to: state.next + self.cluster, by: Int(Self.clusterBytes))
          state.next += self.cluster
        }
        let part = rest.prefix(Int(Self.clusterBytes - offset))
        if let address = place(of: file.clusters[Int(cluster)]) {
          var content = state.content[address] ?? [UInt8](repeating: 0, count: Int(Self.clusterBytes))
          content.replaceSubrange(Int(offset)..<(Int(offset) + part.count), with: part)
          state.content[address] = content
        }
        file.position += Int64(part.count)
        rest = rest.dropFirst(part.count)
      }
      state.files[fd] = file
      return true
    }
  }

  /// Replaces the first `count` bytes of `buffer` with the bytes that the stick really stored.
  func read(_ fd: Int32, _ count: Int, into buffer: inout [UInt8]) {
    let found: [UInt8]? = state.withLock { state in
      guard var file = state.files[fd] else { return nil }
      var bytes: [UInt8] = []
      while bytes.count < count {
        let (cluster, offset) = file.position.quotientAndRemainder(dividingBy: Self.clusterBytes)
        let wanted = min(count - bytes.count, Int(Self.clusterBytes - offset))
        let content = place(of: file.clusters[Int(cluster)]).flatMap { state.content[$0] }
        bytes += content?[Int(offset)..<(Int(offset) + wanted)] ?? [UInt8](repeating: 0, count: wanted)[...]
        file.position += Int64(wanted)
      }
      state.files[fd] = file
      return bytes
    }
    if let found { buffer.replaceSubrange(0..<count, with: found) }
  }

  func seek(_ fd: Int32, to offset: Int64) { state.withLock { $0.files[fd]?.position = offset } }

  /// Frees the file's room. If no file is open then, the next file begins at the first address.
  func close(_ fd: Int32) {
    state.withLock { state in
      guard state.files.removeValue(forKey: fd) != nil, state.files.isEmpty else { return }
      state.next = 0
    }
  }

  /// The true address of a block; nil: the stick forgets what is written there.
  private func place(of address: Int64) -> Int64? {
    if address < real { return address }
    return manner == .wraps ? address % real : nil
  }
}
