import SatchelConflicts
import SatchelGeometry
import SatchelJSON
import SatchelValues
import SatchelWorkspace

/// The form in which the geometries of a conflict are shown.
extension ConflictGeometries {
  /// One state of a geometry, with its change from an earlier state. The property `place` names the state in words.
  struct Side {
    let name: String
    let place: String
    let geometry: Geometry
    let change: GeometryDifference?
  }

  /// The states of the geometry that exist. The state in the present row comes last.
  func sides(row: [Field]?) -> [Side] {
    let now = row.flatMap { Self.geometry(column, in: $0) }
    func side(_ name: String, _ place: String, _ geometry: Geometry?, _ change: GeometryDifference?) -> Side? {
      geometry.map { Side(name: name, place: place, geometry: $0, change: change) }
    }
    return [
      side("base", "before", base, nil), side("hub", "at the hub", hub, hubChange),
      side("device", "on the device", device, deviceChange),
      side("row", "in the row now", now, now.flatMap { change(to: $0) }),
    ].compactMap(\.self)
  }

  /// A line for each state, below the conflict's table.
  func text(row: [Field]?) -> TerminalText {
    sides(row: row).map { "\(column) \($0.place): \(words(of: $0.geometry, $0.change))\n" as TerminalText }.joined()
  }

  /// A geometry in words, such as `Polygon, 5 points, x 0 to 9, y 0 to 9; 1 of 5 points moved, 7.0 m`.
  func words(of geometry: Geometry, _ change: GeometryDifference?) -> String {
    geometry.words + (words(change, of: geometry).map { "; \($0)" } ?? "")
  }

  /// The effect of the device's change on the geometry, in words. If it has no effect, the effect of the hub's change.
  /// Empty if neither has an effect.
  var move: String { words(deviceChange, of: device) ?? words(hubChange, of: hub) ?? "" }

  func json(row: [Field]?) -> JSONValue {
    .object(
      [.init(name: "unit", value: .string(unit.rawValue))]
        + sides(row: row).map { .init(name: $0.name, value: Self.json($0.geometry, $0.change)) })
  }

  private static func json(_ geometry: Geometry, _ change: GeometryDifference?) -> JSONValue {
    let bounds = GeometryBounds(of: geometry).map {
      [$0.minX, $0.minY, $0.maxX, $0.maxY].map { JSONValue(Value.real($0)) }
    }
    var members: [JSONValue.Member] = [
      .init(name: "type", value: .string(geometry.kind.word)),
      .init(name: "dimension", value: .string("XY" + geometry.dimension.word)),
      .init(name: "points", value: .integer(Int64(geometry.positions.count))),
      .init(name: "bounds", value: bounds.map { .array($0) } ?? .null),
      .init(name: "wkt", value: .string(geometry.wellKnownText)),
    ]
    if case .moved(let points, let distance)? = change {
      members.append(
        .init(name: "moved", value: ["points": .integer(Int64(points)), "distance": JSONValue(Value.real(distance))]))
    }
    return .object(members)
  }
}

extension ConflictView {
  /// The changes of the geometries, such as `: 1 of 5 points moved, 7.0 m`. The row's name comes before these words.
  /// Empty if no geometry differs.
  var moves: String {
    let moves = geometries().map(\.move).filter { !$0.isEmpty }
    return moves.isEmpty ? "" : ": \(moves.joined(separator: "; "))"
  }
}
