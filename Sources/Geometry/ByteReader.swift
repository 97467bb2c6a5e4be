/// The error for bytes that end too early, or that are not a geometry.
struct UnreadableGeometry: Error {}

/// Reads numbers from bytes, and checks that no read goes beyond their end.
///
/// The caller passes the bytes with each call. This struct cannot keep a span, and copying the bytes would cost as much
/// as reading them.
struct ByteReader {
  var place: Int
  let end: Int
  var isLittleEndian: Bool

  init(from place: Int, to end: Int, isLittleEndian: Bool) {
    self.place = place
    self.end = end
    self.isLittleEndian = isLittleEndian
  }

  mutating func byte(_ bytes: Span<UInt8>) throws(UnreadableGeometry) -> UInt8 {
    guard place < end else { throw UnreadableGeometry() }
    defer { place += 1 }
    return bytes[place]
  }

  mutating func integer(_ bytes: Span<UInt8>) throws(UnreadableGeometry) -> UInt32 {
    UInt32(truncatingIfNeeded: try bits(bytes, count: 4))
  }

  mutating func double(_ bytes: Span<UInt8>) throws(UnreadableGeometry) -> Double {
    Double(bitPattern: try bits(bytes, count: 8))
  }

  mutating func float(_ bytes: Span<UInt8>) throws(UnreadableGeometry) -> Double {
    Double(Float(bitPattern: try integer(bytes)))
  }

  private mutating func bits(_ bytes: Span<UInt8>, count: Int) throws(UnreadableGeometry) -> UInt64 {
    guard end - place >= count else { throw UnreadableGeometry() }
    var bits: UInt64 = 0
    for offset in 0..<count {
      bits = bits << 8 | UInt64(bytes[place + (isLittleEndian ? count - 1 - offset : offset)])
    }
    place += count
    return bits
  }

  /// Reads the number of the items that follow. Throws if the remaining bytes cannot hold this many items of at least
  /// `size` bytes.
  mutating func count(_ bytes: Span<UInt8>, each size: Int) throws(UnreadableGeometry) -> Int {
    let count = Int(try integer(bytes))
    guard count <= (end - place) / size else { throw UnreadableGeometry() }
    return count
  }

  mutating func position(_ bytes: Span<UInt8>, _ dimension: CoordinateDimension) throws(UnreadableGeometry) -> Position
  {
    var position = Position(x: try double(bytes), y: try double(bytes))
    if dimension.hasZ { position.z = try double(bytes) }
    if dimension.hasM { position.m = try double(bytes) }
    return position
  }

  mutating func positions(
    _ bytes: Span<UInt8>, _ dimension: CoordinateDimension
  ) throws(UnreadableGeometry) -> [Position] {
    let count = try count(bytes, each: 8 * dimension.count)
    var positions: [Position] = []
    positions.reserveCapacity(count)
    for _ in 0..<count { positions.append(try position(bytes, dimension)) }
    return positions
  }
}
