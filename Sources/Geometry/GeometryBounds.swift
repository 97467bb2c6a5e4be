/// The smallest box with sides along the axes that contains a geometry.
public struct GeometryBounds: Equatable, Sendable {
  public private(set) var minX, maxX, minY, maxY: Double

  /// A box from its four numbers; nil: a minimum exceeds its maximum, or a number is NaN.
  init?(minX: Double, maxX: Double, minY: Double, maxY: Double) {
    // Every comparison with NaN is false, so the guard also refuses NaN.
    guard minX <= maxX, minY <= maxY else { return nil }
    (self.minX, self.maxX, self.minY, self.maxY) = (minX, maxX, minY, maxY)
  }

  private init(at x: Double, _ y: Double) { (minX, maxX, minY, maxY) = (x, x, y, y) }

  /// The box of a geometry; nil: the geometry is empty.
  public init?(of geometry: Geometry) {
    var box: GeometryBounds?
    Self.widen(&box, geometry)
    guard let box else { return nil }
    self = box
  }

  private static func widen(_ box: inout GeometryBounds?, _ geometry: Geometry) {
    switch geometry.content {
    case .positions(let positions):
      for position in positions { widen(&box, position.x, position.y) }
      if geometry.kind == .circularString { widen(&box, arcs: positions) }
    case .rings(let rings):
      for ring in rings {
        for position in ring { widen(&box, position.x, position.y) }
      }
    case .parts(let parts):
      for part in parts { widen(&box, part) }
    }
  }

  private static func widen(_ box: inout GeometryBounds?, _ x: Double, _ y: Double) {
    if x.isNaN || y.isNaN { return }
    guard var wider = box else {
      box = GeometryBounds(at: x, y)
      return
    }
    (wider.minX, wider.maxX) = (min(wider.minX, x), max(wider.maxX, x))
    (wider.minY, wider.maxY) = (min(wider.minY, y), max(wider.maxY, y))
    box = wider
  }

  /// Widens the box by arcs. Each arc goes from one point through a second point to a third point. The next arc begins
  /// at this third point.
  private static func widen(_ box: inout GeometryBounds?, arcs positions: [Position]) {
    for first in stride(from: 0, to: positions.count - 2, by: 2) {
      widen(&box, arc: positions[first], through: positions[first + 1], to: positions[first + 2])
    }
  }

  /// Widens the box by one arc. If the top, bottom, left or right point of the arc's circle is on the arc, the box must
  /// contain it.
  private static func widen(_ box: inout GeometryBounds?, arc a: Position, through b: Position, to c: Position) {
    let isCircle = a.x == c.x && a.y == c.y
    let (bx, by, cx, cy) = (b.x - a.x, b.y - a.y, c.x - a.x, c.y - a.y)
    let d = 2 * (bx * cy - by * cx)
    // Three points on one straight line make no arc.
    if d == 0, !isCircle { return }
    let (bb, cc) = (bx * bx + by * by, cx * cx + cy * cy)
    let (ux, uy) = isCircle ? (bx / 2, by / 2) : ((cy * bb - by * cc) / d, (bx * cc - cx * bb) / d)
    let radius = (ux * ux + uy * uy).squareRoot()
    guard radius.isFinite else { return }
    for (dx, dy) in [(radius, 0), (-radius, 0), (0, radius), (0, -radius)] {
      let (x, y) = (ux + dx, uy + dy)
      // A point of the circle is on the arc if it is on the same side of the chord as `b`.
      if isCircle || (cx * y - cy * x).sign == (cx * by - cy * bx).sign { widen(&box, a.x + x, a.y + y) }
    }
  }
}
