/// Reads well-known binary. Z and M may be marked as ISO or as PostGIS marks them. PostGIS may also add a reference
/// system.
struct WKBReader {
  private var reader: ByteReader
  /// The reference system that PostGIS wrote into the geometry; nil: the bytes contain none.
  private(set) var referenceSystem: Int32?

  init(from place: Int, to end: Int) { reader = ByteReader(from: place, to: end, isLittleEndian: true) }

  /// The position of the next unread byte.
  var place: Int { reader.place }

  mutating func geometry(_ bytes: Span<UInt8>, depth: Int = 0) throws(UnreadableGeometry) -> Geometry {
    guard depth < Geometry.maximumDepth else { throw UnreadableGeometry() }
    let order = try reader.byte(bytes)
    guard order < 2 else { throw UnreadableGeometry() }
    reader.isLittleEndian = order == 1
    let (kind, dimension) = try header(bytes)
    return Geometry(kind, dimension, try content(bytes, kind, dimension, depth))
  }

  private mutating func header(
    _ bytes: Span<UInt8>
  ) throws(UnreadableGeometry) -> (kind: GeometryKind, dimension: CoordinateDimension) {
    let type = try reader.integer(bytes)
    let code = type & 0x0fff_ffff
    guard code < 4000, let kind = GeometryKind(rawValue: code % 1000) else { throw UnreadableGeometry() }
    if type & 0x2000_0000 != 0 { referenceSystem = Int32(bitPattern: try reader.integer(bytes)) }
    let dimension = CoordinateDimension(
      hasZ: type & 0x8000_0000 != 0 || code / 1000 & 1 != 0, hasM: type & 0x4000_0000 != 0 || code / 1000 & 2 != 0)
    return (kind, dimension)
  }

  private mutating func content(
    _ bytes: Span<UInt8>, _ kind: GeometryKind, _ dimension: CoordinateDimension, _ depth: Int
  ) throws(UnreadableGeometry) -> Geometry.Content {
    switch kind.shape {
    case .positions where kind == .point:
      let position = try reader.position(bytes, dimension)
      return .positions(position.isNowhere ? [] : [position])
    case .positions: return .positions(try reader.positions(bytes, dimension))
    case .rings:
      var rings: [[Position]] = []
      for _ in 0..<(try reader.count(bytes, each: 4)) { rings.append(try reader.positions(bytes, dimension)) }
      return .rings(rings)
    case .parts:
      var parts: [Geometry] = []
      for _ in 0..<(try reader.count(bytes, each: 9)) { parts.append(try geometry(bytes, depth: depth + 1)) }
      return .parts(parts)
    case nil: throw UnreadableGeometry()
    }
  }
}

extension Geometry {
  /// Reads well-known binary. nil: the bytes have another form, or more bytes follow the geometry.
  /// - Returns: the geometry, and its reference system if PostGIS wrote a reference system into it.
  public static func wellKnownBinary(_ bytes: [UInt8]) -> (geometry: Geometry, referenceSystem: Int32?)? {
    var reader = WKBReader(from: 0, to: bytes.count)
    guard let geometry = try? reader.geometry(bytes.span), reader.place == bytes.count else { return nil }
    return (geometry, reader.referenceSystem)
  }
}
