/// What can be said of a geometry as a GeoPackage stores it: a header with the bounds, if the writer put them there,
/// and WKB.
///
/// The bytes may come from anybody: every read is checked against their end, and nothing is followed deeper than
/// `maximumDepth`.
struct GeometryBlob {
  let isEmpty: Bool
  /// nil: the geometry is empty.
  let bounds: GeometryBounds?

  /// As deep as GDAL follows collections in collections.
  static let maximumDepth = 32

  /// nil: the bytes are no geometry of a GeoPackage.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= 8, bytes[0] == UInt8(ascii: "G"), bytes[1] == UInt8(ascii: "P"), bytes[2] == 0 else {
      return nil
    }
    let flags = bytes[3]
    var reader = GeometryReader(bytes, at: 8, littleEndian: flags & 1 != 0)
    var envelope: [Double] = []
    let sizes = [0, 4, 6, 6, 8]
    let code = Int(flags >> 1 & 7)
    guard code < sizes.count else { return nil }
    for _ in 0..<sizes[code] {
      guard let number = reader.double() else { return nil }
      envelope.append(number)
    }

    if flags & 0x10 != 0 {
      (isEmpty, bounds) = (true, nil)
    } else if code > 0, !envelope[..<4].contains(where: \.isNaN) {
      bounds = GeometryBounds(minX: envelope[0], maxX: envelope[1], minY: envelope[2], maxY: envelope[3])
      isEmpty = false
    } else {
      // What follows is WKB, but for kinds of geometry that an extension has made up.
      guard flags & 0x20 == 0, reader.geometry(depth: 0) else { return nil }
      bounds = reader.bounds
      isEmpty = bounds == nil
    }
  }
}

struct GeometryBounds {
  var minX, maxX, minY, maxY: Double

  mutating func add(_ x: Double, _ y: Double) {
    (minX, maxX) = (min(minX, x), max(maxX, x))
    (minY, maxY) = (min(minY, y), max(maxY, y))
  }
}

/// Walks through WKB (ISO's or PostGIS's way to say Z and M) and gathers the bounds of all coordinates.
struct GeometryReader {
  private let bytes: UnsafeRawBufferPointer
  private var place: Int
  private var littleEndian: Bool
  private(set) var bounds: GeometryBounds?

  init(_ bytes: UnsafeRawBufferPointer, at place: Int, littleEndian: Bool) {
    self.bytes = bytes
    self.place = place
    self.littleEndian = littleEndian
  }

  /// The kinds of geometry, by what stands behind their type.
  private enum Kind {
    case point, line, arcs, rings, parts

    init?(_ code: UInt32) {
      switch code {
      case 1: self = .point
      case 2: self = .line
      case 8: self = .arcs
      case 3, 17: self = .rings
      case 4...7, 9...12, 15, 16: self = .parts
      default: return nil
      }
    }
  }

  /// Reads one geometry with all that is in it. Returns whether it is whole and of a kind that is known.
  mutating func geometry(depth: Int) -> Bool {
    guard depth < GeometryBlob.maximumDepth, place < bytes.count, bytes[place] < 2 else { return false }
    littleEndian = bytes[place] == 1
    place += 1
    guard let type = integer() else { return false }
    let hasSRID = type & 0x2000_0000 != 0
    let code = type & 0x0fff_ffff
    guard code < 4000, let kind = Kind(code % 1000) else { return false }
    if hasSRID, integer() == nil { return false }
    let hasZ = type & 0x8000_0000 != 0 || code / 1000 & 1 != 0
    let hasM = type & 0x4000_0000 != 0 || code / 1000 & 2 != 0
    let size = 8 * (2 + (hasZ ? 1 : 0) + (hasM ? 1 : 0))
    switch kind {
    case .point: return coordinates(1, size: size)
    case .line: return count(each: size).map { coordinates($0, size: size) } ?? false
    case .arcs: return count(each: size).map { arcs($0, size: size) } ?? false
    case .rings:
      guard let rings = count(each: 4) else { return false }
      for _ in 0..<rings {
        guard let points = count(each: size), coordinates(points, size: size) else { return false }
      }
      return true
    case .parts:
      guard let parts = count(each: 9) else { return false }
      for _ in 0..<parts where !geometry(depth: depth + 1) { return false }
      return true
    }
  }

  mutating func double() -> Double? {
    guard bytes.count - place >= 8 else { return nil }
    let bits = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
    place += 8
    return Double(bitPattern: littleEndian ? UInt64(littleEndian: bits) : UInt64(bigEndian: bits))
  }

  private mutating func integer() -> UInt32? {
    guard bytes.count - place >= 4 else { return nil }
    let bits = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
    place += 4
    return littleEndian ? UInt32(littleEndian: bits) : UInt32(bigEndian: bits)
  }

  /// How many things of at least `size` bytes follow; nil where there is not that much left.
  private mutating func count(each size: Int) -> Int? {
    guard let count = integer(), Int(count) <= (bytes.count - place) / size else { return nil }
    return Int(count)
  }

  private mutating func coordinates(_ count: Int, size: Int) -> Bool {
    for _ in 0..<count {
      guard let point = coordinate(size) else { return false }
      add(point.x, point.y)
    }
    return true
  }

  private mutating func coordinate(_ size: Int) -> (x: Double, y: Double)? {
    guard bytes.count - place >= size, let x = double(), let y = double() else { return nil }
    place += size - 16
    return (x, y)
  }

  /// A point whose coordinates are NaN is an empty one.
  private mutating func add(_ x: Double, _ y: Double) {
    if x.isNaN || y.isNaN { return }
    if bounds == nil { bounds = GeometryBounds(minX: x, maxX: x, minY: y, maxY: y) }
    bounds?.add(x, y)
  }

  /// Arcs, each from one point through a second to a third, from which the next one goes on.
  private mutating func arcs(_ count: Int, size: Int) -> Bool {
    var points: [(x: Double, y: Double)] = []
    for _ in 0..<count {
      guard let point = coordinate(size) else { return false }
      add(point.x, point.y)
      points.append(point)
    }
    for first in stride(from: 0, to: points.count - 2, by: 2) {
      addArc(points[first], points[first + 1], points[first + 2])
    }
    return true
  }

  /// An arc reaches as far as its circle at the top, bottom, left or right, where these lie on it.
  private mutating func addArc(_ a: (x: Double, y: Double), _ b: (x: Double, y: Double), _ c: (x: Double, y: Double)) {
    let isCircle = a == c
    let (bx, by, cx, cy) = (b.x - a.x, b.y - a.y, c.x - a.x, c.y - a.y)
    let d = 2 * (bx * cy - by * cx)
    // Points in one line are no arc.
    if d == 0, !isCircle { return }
    let (bb, cc) = (bx * bx + by * by, cx * cx + cy * cy)
    let (ux, uy) = isCircle ? (bx / 2, by / 2) : ((cy * bb - by * cc) / d, (bx * cc - cx * bb) / d)
    let radius = (ux * ux + uy * uy).squareRoot()
    guard radius.isFinite else { return }
    for (dx, dy) in [(radius, 0), (-radius, 0), (0, radius), (0, -radius)] {
      let (x, y) = (ux + dx, uy + dy)
      // On the arc are those on the same side of its chord as the point in its middle.
      if isCircle || (cx * y - cy * x).sign == (cx * by - cy * bx).sign { add(a.x + x, a.y + y) }
    }
  }
}
