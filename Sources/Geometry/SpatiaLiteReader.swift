/// Reads a geometry in SpatiaLite's form, which GDAL's spatial SQL writes into GeoPackages.
///
/// SpatiaLite's documentation calls the format "BLOB-Geometry". Its bytes are: 00, the byte order, the reference
/// system, the box, 7C, the kind, the content, FE. The bytes of a "TinyPoint" are: 00, the byte order with the highest
/// bit set, the reference system, the dimension, the coordinates, FE.
struct SpatiaLiteReader {
  private var reader: ByteReader
  let referenceSystem: Int32
  private let form: Form

  private enum Form {
    case tinyPoint(CoordinateDimension)
    case whole(bounds: GeometryBounds?)
  }

  private struct Header {
    let kind: GeometryKind
    let dimension: CoordinateDimension
    let isCompressed: Bool
  }

  /// Reads the beginning of the bytes; nil: the marks of the format are missing.
  init?(_ bytes: Span<UInt8>) {
    guard bytes.count >= 24, bytes[0] == 0, bytes[bytes.count - 1] == 0xfe, bytes[1] & 0x7e == 0 else { return nil }
    reader = ByteReader(from: 2, to: bytes.count - 1, isLittleEndian: bytes[1] & 1 == 1)
    guard let system = try? reader.integer(bytes) else { return nil }
    referenceSystem = Int32(bitPattern: system)
    let isTiny = bytes[1] & 0x80 != 0
    guard let form = isTiny ? Self.tinyForm(bytes, &reader) : Self.wholeForm(bytes, &reader) else { return nil }
    self.form = form
  }

  private static func tinyForm(_ bytes: Span<UInt8>, _ reader: inout ByteReader) -> Form? {
    guard let code = try? reader.byte(bytes), (1...4).contains(code) else { return nil }
    let dimension = CoordinateDimension(hasZ: code == 2 || code == 4, hasM: code > 2)
    return bytes.count == 8 + 8 * dimension.count ? .tinyPoint(dimension) : nil
  }

  private static func wholeForm(_ bytes: Span<UInt8>, _ reader: inout ByteReader) -> Form? {
    guard bytes.count >= 44, bytes[38] == 0x7c, let minX = try? reader.double(bytes),
      let minY = try? reader.double(bytes), let maxX = try? reader.double(bytes), let maxY = try? reader.double(bytes)
    else { return nil }
    reader.place = 39
    return .whole(bounds: GeometryBounds(minX: minX, maxX: maxX, minY: minY, maxY: maxY))
  }

  /// Whether the geometry is empty, and its box, from the first bytes only; nil: the coordinates must be read.
  func shortAnswer(_ bytes: Span<UInt8>) -> (isEmpty: Bool, bounds: GeometryBounds?)? {
    guard case .whole(let bounds) = form else { return nil }
    var reader = reader
    guard let header = try? Self.header(bytes, &reader) else { return nil }
    if header.kind != .point, let count = try? reader.integer(bytes), count == 0 { return (true, nil) }
    return bounds.map { (false, $0) }
  }

  mutating func geometry(_ bytes: Span<UInt8>) throws(UnreadableGeometry) -> Geometry {
    switch form {
    case .tinyPoint(let dimension): return Geometry(.point, dimension, try point(bytes, dimension))
    case .whole: return try geometry(bytes, depth: 0)
    }
  }

  private mutating func geometry(_ bytes: Span<UInt8>, depth: Int) throws(UnreadableGeometry) -> Geometry {
    guard depth < Geometry.maximumDepth else { throw UnreadableGeometry() }
    let header = try Self.header(bytes, &reader)
    return Geometry(header.kind, header.dimension, try content(bytes, header, depth))
  }

  /// Reads the kind and the dimension from one number. The kind is 1 to 7. Z adds 1000, and M adds 2000. A line or
  /// polygon that stores short numbers adds 1,000,000.
  private static func header(_ bytes: Span<UInt8>, _ reader: inout ByteReader) throws(UnreadableGeometry) -> Header {
    let type = try reader.integer(bytes)
    let isCompressed = type >= 1_000_000
    let code = isCompressed ? type - 1_000_000 : type
    guard code < 4000, (1...7).contains(code % 1000), let kind = GeometryKind(rawValue: code % 1000),
      !isCompressed || kind == .lineString || kind == .polygon
    else { throw UnreadableGeometry() }
    let dimension = CoordinateDimension(hasZ: code / 1000 & 1 != 0, hasM: code / 1000 & 2 != 0)
    return Header(kind: kind, dimension: dimension, isCompressed: isCompressed)
  }

  private mutating func content(
    _ bytes: Span<UInt8>, _ header: Header, _ depth: Int
  ) throws(UnreadableGeometry) -> Geometry.Content {
    switch header.kind.shape {
    case .positions where header.kind == .point: return try point(bytes, header.dimension)
    case .positions: return .positions(try line(bytes, header))
    case .rings:
      var rings: [[Position]] = []
      for _ in 0..<(try reader.count(bytes, each: 4)) { rings.append(try line(bytes, header)) }
      return .rings(rings)
    case .parts: return .parts(try parts(bytes, depth))
    case nil: throw UnreadableGeometry()
    }
  }

  private mutating func point(
    _ bytes: Span<UInt8>, _ dimension: CoordinateDimension
  ) throws(UnreadableGeometry) -> Geometry.Content {
    let position = try reader.position(bytes, dimension)
    return .positions(position.isNowhere ? [] : [position])
  }

  /// Reads the parts. Each part has the byte 69, its kind and its content.
  private mutating func parts(_ bytes: Span<UInt8>, _ depth: Int) throws(UnreadableGeometry) -> [Geometry] {
    var parts: [Geometry] = []
    for _ in 0..<(try reader.count(bytes, each: 9)) {
      guard try reader.byte(bytes) == 0x69 else { throw UnreadableGeometry() }
      parts.append(try geometry(bytes, depth: depth + 1))
    }
    return parts
  }

  private mutating func line(_ bytes: Span<UInt8>, _ header: Header) throws(UnreadableGeometry) -> [Position] {
    guard header.isCompressed else { return try reader.positions(bytes, header.dimension) }
    let count = try reader.count(bytes, each: 8)
    var positions: [Position] = []
    for place in 0..<count {
      if let last = positions.last, place < count - 1 {
        positions.append(try step(bytes, from: last, header.dimension))
      } else {
        positions.append(try reader.position(bytes, header.dimension))
      }
    }
    return positions
  }

  /// Reads a position that is stored as short differences from the position before it. M is always stored in full.
  private mutating func step(
    _ bytes: Span<UInt8>, from last: Position, _ dimension: CoordinateDimension
  ) throws(UnreadableGeometry) -> Position {
    var position = Position(x: last.x + (try reader.float(bytes)), y: last.y + (try reader.float(bytes)))
    if dimension.hasZ { position.z = last.z + (try reader.float(bytes)) }
    if dimension.hasM { position.m = try reader.double(bytes) }
    return position
  }
}
