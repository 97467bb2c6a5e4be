/// One point of a geometry. `z` is 0 if the geometry has no Z, and `m` is 0 if the geometry has no M.
public struct Position: Hashable, Sendable {
  public var x, y, z, m: Double

  public init(x: Double, y: Double, z: Double = 0, m: Double = 0) {
    (self.x, self.y, self.z, self.m) = (x, y, z, m)
  }

  /// Whether this position marks an empty point: x or y is NaN.
  var isNowhere: Bool { x.isNaN || y.isNaN }
}

/// Whether positions have a Z and an M, besides x and y.
public struct CoordinateDimension: Hashable, Sendable {
  public let hasZ: Bool
  public let hasM: Bool

  public static let xy = CoordinateDimension(hasZ: false, hasM: false)

  public init(hasZ: Bool, hasM: Bool) { (self.hasZ, self.hasM) = (hasZ, hasM) }

  /// The number of coordinates in a position.
  var count: Int { 2 + (hasZ ? 1 : 0) + (hasM ? 1 : 0) }

  /// The word `Z`, `M` or `ZM`; empty if there are only x and y.
  public var word: String { (hasZ ? "Z" : "") + (hasM ? "M" : "") }
}

/// A geometry as a value. It can be read from a GeoPackage's blob, from well-known binary or from well-known text.
public struct Geometry: Equatable, Sendable {
  public let kind: GeometryKind
  public let dimension: CoordinateDimension
  public let content: Content

  public enum Content: Equatable, Sendable {
    /// The positions of a point, a line or a line of arcs. A point has one position, and an empty point has none.
    case positions([Position])
    /// The rings of a polygon. The outer ring is first.
    case rings([[Position]])
    case parts([Geometry])
  }

  public init(_ kind: GeometryKind, _ dimension: CoordinateDimension, _ content: Content) {
    self.kind = kind
    self.dimension = dimension
    self.content = content
  }

  /// The largest accepted depth of nested geometries. GDAL has the same limit.
  public static let maximumDepth = 32

  /// Whether the geometry has no position.
  public var isEmpty: Bool {
    switch content {
    case .positions(let positions): positions.isEmpty
    case .rings(let rings): rings.allSatisfy(\.isEmpty)
    case .parts(let parts): parts.allSatisfy(\.isEmpty)
    }
  }

  /// All positions, in their stored order.
  public var positions: [Position] {
    switch content {
    case .positions(let positions): positions
    case .rings(let rings): rings.flatMap { $0 }
    case .parts(let parts): parts.flatMap(\.positions)
    }
  }

  /// The kind and the dimension as people read them, for example `Polygon Z`.
  public var title: String { dimension.word.isEmpty ? kind.title : "\(kind.title) \(dimension.word)" }

  /// The kinds of this geometry and of all its parts. Its own kind is first.
  public var kinds: [GeometryKind] {
    guard case .parts(let parts) = content else { return [kind] }
    return parts.flatMap(\.kinds).reduce(into: [kind]) { if !$0.contains($1) { $0.append($1) } }
  }
}

extension Geometry {
  /// The fault, in words, that makes other programs refuse the geometry; nil: there is no fault.
  public var fault: String? {
    if positions.contains(where: { !$0.x.isFinite || !$0.y.isFinite || !$0.z.isFinite || !$0.m.isFinite }) {
      return "it has a coordinate that is no number"
    }
    switch content {
    case .positions(let positions): return faultOfLine(positions)
    case .rings(let rings): return rings.lazy.compactMap(Self.fault(ofRing:)).first
    case .parts(let parts): return parts.lazy.compactMap(fault(ofPart:)).first
    }
  }

  private func faultOfLine(_ positions: [Position]) -> String? {
    switch kind {
    case .lineString where positions.count == 1: "a LINESTRING needs at least 2 points"
    case .circularString where !positions.isEmpty && (positions.count < 3 || positions.count.isMultiple(of: 2)):
      "a CIRCULARSTRING needs an odd number of points, at least 3"
    default: nil
    }
  }

  private static func fault(ofRing ring: [Position]) -> String? {
    if ring.count < 4 { return "a ring of a polygon needs at least 4 points" }
    return ring.first == ring.last ? nil : "a ring of a polygon must end at the point where it begins"
  }

  private func fault(ofPart part: Geometry) -> String? {
    if !kind.mayHold(part.kind) { return "a \(kind.word) cannot have a \(part.kind.word) as a part" }
    if part.dimension != dimension { return "its parts have different dimensions" }
    return part.fault
  }
}
