/// The kinds of geometry, by their numbers in well-known binary (ISO 13249-3).
public enum GeometryKind: UInt32, Sendable, CaseIterable {
  /// The type of a layer that accepts every kind. No geometry itself has this kind.
  case geometry = 0
  case point, lineString, polygon, multiPoint, multiLineString, multiPolygon, geometryCollection
  case circularString, compoundCurve, curvePolygon, multiCurve, multiSurface
  /// Types of layers that accept several kinds. No geometry itself has these kinds.
  case curve, surface
  case polyhedralSurface, tin, triangle

  /// The kind as people write it, for example `MultiPolygon`.
  public var title: String {
    switch self {
    case .geometry: "Geometry"
    case .point: "Point"
    case .lineString: "LineString"
    case .polygon: "Polygon"
    case .multiPoint: "MultiPoint"
    case .multiLineString: "MultiLineString"
    case .multiPolygon: "MultiPolygon"
    case .geometryCollection: "GeometryCollection"
    case .circularString: "CircularString"
    case .compoundCurve: "CompoundCurve"
    case .curvePolygon: "CurvePolygon"
    case .multiCurve: "MultiCurve"
    case .multiSurface: "MultiSurface"
    case .curve: "Curve"
    case .surface: "Surface"
    case .polyhedralSurface: "PolyhedralSurface"
    case .tin: "TIN"
    case .triangle: "Triangle"
    }
  }

  /// The keyword in well-known text and in GeoPackage's tables, for example `MULTIPOLYGON`.
  public var word: String { title.uppercased() }

  /// - Parameter word: the keyword, in upper or lower case. The result is nil if no kind has this keyword.
  public init?(word: String) {
    let word = word.uppercased()
    guard let kind = Self.allCases.first(where: { $0.word == word }) else { return nil }
    self = kind
  }

  /// The structure of a geometry's content.
  enum Shape {
    case positions, rings, parts
  }

  /// The structure of a geometry of this kind. nil: this kind is only the type of a layer.
  var shape: Shape? {
    switch self {
    case .geometry, .curve, .surface: nil
    case .point, .lineString, .circularString: .positions
    case .polygon, .triangle: .rings
    default: .parts
    }
  }

  /// The kind of the parts that have no keyword of their own in well-known text; nil: each part has its keyword.
  var plainPart: GeometryKind? {
    switch self {
    case .multiPoint: .point
    case .multiLineString, .multiCurve, .compoundCurve, .curvePolygon: .lineString
    case .multiPolygon, .multiSurface, .polyhedralSurface: .polygon
    case .tin: .triangle
    default: nil
    }
  }

  /// Whether a geometry of this kind may have a part of another kind.
  func mayHold(_ part: GeometryKind) -> Bool {
    switch self {
    case .geometryCollection: true
    case .compoundCurve: part == .lineString || part == .circularString
    case .curvePolygon, .multiCurve: [.lineString, .circularString, .compoundCurve].contains(part)
    case .multiSurface: part == .polygon || part == .curvePolygon
    default: part == plainPart
    }
  }

  /// Whether a layer of this type accepts a geometry of another kind, by the hierarchy in the GeoPackage standard.
  func takes(_ kind: GeometryKind) -> Bool {
    if self == .geometry || self == kind { return true }
    return switch self {
    case .curve: [.lineString, .circularString, .compoundCurve].contains(kind)
    case .surface: [.polygon, .curvePolygon, .polyhedralSurface, .tin, .triangle].contains(kind)
    case .curvePolygon: kind == .polygon
    case .polygon: kind == .triangle
    case .polyhedralSurface: kind == .tin
    case .multiCurve: kind == .multiLineString
    case .multiSurface: kind == .multiPolygon
    case .geometryCollection:
      [.multiPoint, .multiLineString, .multiPolygon, .multiCurve, .multiSurface].contains(kind)
    default: false
    }
  }
}
