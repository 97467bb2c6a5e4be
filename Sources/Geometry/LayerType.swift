/// The geometries that a layer accepts.
public struct LayerType: Sendable, Equatable {
  /// Whether positions in a layer have a Z or an M. The raw values are those of the GeoPackage standard.
  public enum Presence: Int64, Sendable {
    case prohibited, mandatory, optional
  }

  public let kind: GeometryKind
  public let z: Presence
  public let m: Presence

  public init(_ kind: GeometryKind, z: Presence, m: Presence) {
    self.kind = kind
    self.z = z
    self.m = m
  }

  /// Why the layer refuses the geometry, in words that continue a sentence after the layer's name; nil: the layer
  /// accepts it.
  public func refusal(of geometry: Geometry) -> String? {
    if !kind.takes(geometry.kind) { return "takes \(kind.word), and this is \(geometry.kind.word)" }
    for (presence, isThere, name) in [(z, geometry.dimension.hasZ, "Z"), (m, geometry.dimension.hasM, "M")] {
      switch presence {
      case .prohibited where isThere: return "takes no \(name) values, and this geometry is \(geometry.title)"
      case .mandatory where !isThere: return "needs \(name) values, and this geometry is \(geometry.title)"
      default: continue
      }
    }
    return nil
  }
}
