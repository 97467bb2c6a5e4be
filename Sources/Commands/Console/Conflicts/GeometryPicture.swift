import SatchelGeometry

/// A small picture of a geometry's states, drawn from their coordinates.
struct GeometryPicture {
  /// A state of the geometry, with the class of its lines.
  struct Layer {
    let style: String
    let geometry: Geometry
  }

  private let layers: [Layer]
  private let box: (x: Double, y: Double, scale: Double)

  private static let (width, height, margin) = (3000.0, 2000.0, 150.0)
  /// The most positions of one geometry that are drawn. A geometry with more positions is drawn with every second,
  /// third, ... position.
  private static let mostPositions = 150

  /// nil: the geometries have no positions that can be drawn.
  init?(_ layers: [Layer]) {
    let positions = layers.flatMap { $0.geometry.positions }.filter { $0.x.isFinite && $0.y.isFinite }
    guard let first = positions.first else { return nil }
    var (minX, maxX, minY, maxY) = (first.x, first.x, first.y, first.y)
    for position in positions {
      (minX, maxX) = (min(minX, position.x), max(maxX, position.x))
      (minY, maxY) = (min(minY, position.y), max(maxY, position.y))
    }
    let (spanX, spanY) = (maxX - minX, maxY - minY)
    guard spanX.isFinite, spanY.isFinite else { return nil }
    let scale = min(
      (Self.width - 2 * Self.margin) / max(spanX, .leastNormalMagnitude),
      (Self.height - 2 * Self.margin) / max(spanY, .leastNormalMagnitude))
    let used = scale.isFinite && max(spanX, spanY) > 0 ? scale : 1
    self.layers = layers
    box = ((minX + maxX) / 2, (minY + maxY) / 2, used)
  }

  /// The picture. The words beside it say the same.
  func markup(label: String) -> Markup {
    """
    <svg class="map" viewBox="0 0 3000 2000" role="img" aria-label="\(label)">\
    \(layers.map { "<g class=\"\($0.style)\">\(drawn($0.geometry))</g>" as Markup })</svg>
    """
  }

  private func drawn(_ geometry: Geometry) -> Markup {
    let step = max(1, (geometry.positions.count + Self.mostPositions - 1) / Self.mostPositions)
    var left = Self.mostPositions
    return drawn(geometry, step, &left)
  }

  private func drawn(_ geometry: Geometry, _ step: Int, _ left: inout Int) -> Markup {
    switch geometry.content {
    case .positions(let positions) where geometry.kind == .point:
      return circle(positions, &left)
    case .positions(let positions): return path([positions], step, "", &left)
    case .rings(let rings): return path(rings, step, "Z", &left)
    case .parts(let parts):
      var markup: Markup = ""
      for part in parts where left > 0 { markup += drawn(part, step, &left) }
      return markup
    }
  }

  private func circle(_ positions: [Position], _ left: inout Int) -> Markup {
    guard let position = positions.first, let point = place(position) else { return "" }
    left -= 1
    return "<circle class=\"shape\" cx=\"\(point.x)\" cy=\"\(point.y)\" r=\"60\"/>"
  }

  private func path(_ lines: [[Position]], _ step: Int, _ end: String, _ left: inout Int) -> Markup {
    var text = ""
    for line in lines where left > 0 {
      let shown = line.indices.filter { $0 % step == 0 || $0 == line.count - 1 }.compactMap { place(line[$0]) }
      for (number, point) in shown.prefix(left).enumerated() {
        text += "\(number == 0 ? "M" : "L")\(point.x) \(point.y)"
      }
      left -= shown.count
      // A line without a point that can be drawn adds nothing to the text. There may be millions of such lines.
      if !shown.isEmpty { text += end }
    }
    if text.isEmpty { return "" }
    return "<path class=\"shape\" d=\"\(text)\"/>"
  }

  /// The point of a position in the picture. nil if the coordinates of this point are not finite.
  private func place(_ position: Position) -> (x: Int, y: Int)? {
    let x = Self.width / 2 + (position.x - box.x) * box.scale
    let y = Self.height / 2 - (position.y - box.y) * box.scale
    // Rounding errors of large numbers could lead outside the picture, so the numbers are limited.
    guard x.isFinite, y.isFinite else { return nil }
    return (Int(min(max(x, 0), Self.width)), Int(min(max(y, 0), Self.height)))
  }
}
