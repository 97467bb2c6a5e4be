import SatchelPlatform

/// Computes pieces of a file from other pieces. Only a stripe of each piece is in memory at a time.
struct PieceComputation {
  /// A piece: a whole file or a part of a file.
  struct Place {
    let path: String
    let start: Int64
    /// The size of the piece. Zeros follow a piece that is shorter than the others.
    let bytes: Int64
  }

  /// The bytes of each piece in memory. With 256 pieces these are 16 MiB.
  private static let stripeBytes: Int64 = 64 << 10

  let files: any FileSystem
  let tables: PieceTables

  /// Computes the outputs of `tables` and writes each into a new file.
  /// - Parameters:
  ///   - inputs: the pieces that are the inputs of `tables`, in order.
  ///   - sizes: the size of each output. Further bytes are not written.
  ///   - folder: the folder for the new files.
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

/// Several pieces that are read at the same time.
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

  /// The next `bytes` bytes of each piece, one piece after another.
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
      // If a file is too short, the result is wrong. The digest of the whole bundle shows that.
      if count == 0 { return }
      stripe += buffer.prefix(count)
      wanted -= count
      pieces[place].left -= Int64(count)
    }
  }
}

/// Several new files that are written at the same time.
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

  /// Writes a stripe: `bytes` bytes for each file, one file after another.
  func write(_ stripe: [UInt8], bytes: Int) throws(PlatformError) {
    for place in pieces.indices {
      let count = Int(min(Int64(bytes), pieces[place].left))
      if count == 0 { continue }
      try files.write(pieces[place].fd, Array(stripe[(place * bytes)..<(place * bytes + count)]))
      pieces[place].left -= Int64(count)
    }
  }
}
