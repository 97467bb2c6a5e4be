/// The difference between a geometry and its changed form.
public enum GeometryDifference: Equatable, Sendable {
  case none
  /// The changed geometry has another kind or another dimension.
  case kind
  /// The changed geometry has more or fewer points than before.
  case count(before: Int)
  /// Positions changed. The values are the number of these positions, and the largest distance in units of the layer.
  /// The distance is 0 if only Z or M changed.
  case moved(points: Int, distance: Double)

  public init(from before: Geometry, to after: Geometry) {
    guard before.kind == after.kind, before.dimension == after.dimension else {
      self = .kind
      return
    }
    let (old, new) = (before.positions, after.positions)
    guard old.count == new.count else {
      self = .count(before: old.count)
      return
    }
    let moved = zip(old, new).filter { $0 != $1 }
    let distance = moved.map { (($1.x - $0.x) * ($1.x - $0.x) + ($1.y - $0.y) * ($1.y - $0.y)).squareRoot() }.max()
    self = moved.isEmpty ? .none : .moved(points: moved.count, distance: distance ?? 0)
  }
}
