/// Short descriptions of a geometry for people.
extension Geometry {
  /// For example `Point (7 7)`, or `Polygon, 5 points`.
  public var shortWords: String {
    let positions = positions
    guard let first = positions.first else { return "\(title), empty" }
    if kind == .point { return "\(title) (\(shown(first.x)) \(shown(first.y)))" }
    return "\(title), \(Self.pointWords(positions.count))"
  }

  /// The short words with the bounds, for example `Polygon, 5 points, x 10 to 20, y 30 to 40`.
  public var words: String {
    guard kind != .point, let bounds = GeometryBounds(of: self) else { return shortWords }
    return """
      \(shortWords), x \(shown(bounds.minX)) to \(shown(bounds.maxX)), y \(shown(bounds.minY)) to \(shown(bounds.maxY))
      """
  }

  static func pointWords(_ count: Int) -> String { "\(count) \(count == 1 ? "point" : "points")" }
}

extension GeometryDifference {
  /// The difference in words, such as `1 of 5 points moved, 7.0 m`; nil: nothing differs.
  /// - Parameters:
  ///   - after: the changed geometry.
  ///   - unit: the unit of the layer's coordinates.
  public func words(of after: Geometry, in unit: MapUnit) -> String? {
    let count = after.positions.count
    switch self {
    case .none: return nil
    case .kind: return "another kind of geometry"
    case .count(let before): return "\(Geometry.pointWords(count)) instead of \(before)"
    case .moved(let points, let distance):
      let which = count == 1 ? "" : "\(points) of \(count) points "
      if distance == 0 { return "\(which)changed in Z or M alone" }
      return "\(which)moved, \(shownDistance(distance)) \(unit.sign)"
    }
  }
}

/// A coordinate with at most six decimals. If the unit is degrees, the sixth decimal is about a tenth of a metre.
private func shown(_ number: Double) -> String { decimal(number, places: 6, least: 0) }

/// A distance with one decimal. A short distance has three significant digits.
private func shownDistance(_ distance: Double) -> String {
  var (places, limit) = (1, 1.0)
  while distance < limit, places < 14 {
    places += places == 1 ? 2 : 1
    limit /= 10
  }
  return decimal(distance, places: places, least: 1)
}

/// A number with at least `least` and at most `places` decimals.
private func decimal(_ number: Double, places: Int, least: Int) -> String {
  let power = (0..<places).reduce(1.0) { power, _ in power * 10 }
  let scaled = (number.magnitude * power).rounded()
  guard scaled < 1e15 else { return number.description }
  var digits = Array(String(Int64(scaled)).utf8)
  if digits.count <= places { digits = Array(repeating: UInt8(ascii: "0"), count: places + 1 - digits.count) + digits }
  var decimals = digits.suffix(places)
  while decimals.count > least, decimals.last == UInt8(ascii: "0") { decimals.removeLast() }
  let whole = String(decoding: digits.dropLast(places), as: UTF8.self)
  let sign = number < 0 && scaled > 0 ? "-" : ""
  return sign + whole + (decimals.isEmpty ? "" : "." + String(decoding: decimals, as: UTF8.self))
}
