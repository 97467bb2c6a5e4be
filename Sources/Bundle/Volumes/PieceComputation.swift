import SatchelPlatform

/// Computes pieces of a file from other pieces, stripe by stripe. Only one stripe of each piece is in memory.
struct PieceComputation {
  /// The place of a piece: a file, or a part of a file.
  struct Place {
    let path: String
    let start: Int64
    /// A piece with fewer bytes than the others is continued with zeros.
    let bytes: Int64
  }

  /// The number of bytes of each piece that are in memory. With 256 pieces this makes 16 MiB.
  private static let stripeBytes: Int64 = 64 << 10

  let files: any FileSystem
  let tables: PieceTables

  /// Computes the outputs of `tables` into new files.
  /// - Parameters:
  ///   - inputs: the places of the inputs of `tables`, in order.
  ///   - sizes: the size of each output. Bytes beyond that size are left out.
  ///   - folder: the folder of the new files.
  /// - Returns: the paths of the new files, in order.
  func run(from inputs: [Place], sizes: [Int64], in folder: String) throws(PlatformError) -> [String] {
    precondition(inputs.count == tables.inputs && sizes.count == tables.outputs, "each piece has its row")
    let readers = try PieceReaders(inputs, files: files)
    let writers = try PieceWriters(sizes, in: folder, files: files)
    var tables = tables
    var offset: Int64 = 0
    let end = sizes.max() ?? 0
    while offset < end {
      let bytes = Int(min(Self.stripeBytes, end - offset))
      var stripe = try readers.next(bytes)
      var result = [UInt8](repeating: 0, count: sizes.count * bytes)
      tables.compute(&stripe, bytes: bytes, into: &result)
      try writers.write(result, bytes: bytes)
      offset += Int64(bytes)
    }
    return writers.paths
  }
}

/// Several open pieces that are read side by side.
private final class PieceReaders {
  private let files: any FileSystem
  private var pieces: [(fd: Int32, left: Int64)] = []

  init(_ places: [PieceComputation.Place], files: any FileSystem) throws(PlatformError) {
    self.files = files
    for place in places {
      pieces.append((try files.open(place.path), place.bytes))
      try files.seek(pieces[pieces.count - 1].fd, to: place.start)
    }
  }

  deinit { for piece in pieces { files.close(piece.fd) } }

  /// The next bytes of each piece, one piece after the other.
  func next(_ bytes: Int) throws(PlatformError) -> [UInt8] {
    var stripe: [UInt8] = []
    stripe.reserveCapacity(pieces.count * bytes)
    for place in pieces.indices {
      try append(place, bytes, to: &stripe)
      let zeros = (place + 1) * bytes - stripe.count
      stripe.append(contentsOf: repeatElement(0, count: zeros))
    }
    return stripe
  }

  private func append(_ place: Int, _ bytes: Int, to stripe: inout [UInt8]) throws(PlatformError) {
    var wanted = Int(min(Int64(bytes), pieces[place].left))
    while wanted > 0 {
      var buffer = [UInt8](repeating: 0, count: wanted)
      let count = try files.read(pieces[place].fd, into: &buffer)
      // A file that is too short makes a wrong result, and the digest of the whole finds that.
      if count == 0 { return }
      stripe += buffer.prefix(count)
      wanted -= count
      pieces[place].left -= Int64(count)
    }
  }
}

/// Several new files that are written side by side.
private final class PieceWriters {
  private let files: any FileSystem
  private var pieces: [(path: String, fd: Int32, left: Int64)] = []

  init(_ sizes: [Int64], in folder: String, files: any FileSystem) throws(PlatformError) {
    self.files = files
    for size in sizes {
      let made = try files.createTemporary(in: folder, mode: 0o600)
      pieces.append((made.path, made.fd, size))
    }
  }

  deinit { for piece in pieces { files.close(piece.fd) } }

  var paths: [String] { pieces.map(\.path) }

  /// Writes a stripe: `bytes` bytes of each piece, one piece after the other.
  func write(_ stripe: [UInt8], bytes: Int) throws(PlatformError) {
    for place in pieces.indices {
      let count = Int(min(Int64(bytes), pieces[place].left))
      if count == 0 { continue }
      try files.write(pieces[place].fd, Array(stripe[(place * bytes)..<(place * bytes + count)]))
      pieces[place].left -= Int64(count)
    }
  }
}
