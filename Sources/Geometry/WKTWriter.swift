extension Geometry {
  /// The geometry as well-known text, without loss: each number has the shortest form that reads back as the same
  /// number.
  public var wellKnownText: String {
    var text = ""
    write(to: &text)
    return text
  }

  private func write(to text: inout String) {
    text += kind.word + (dimension.word.isEmpty ? " " : " \(dimension.word) ")
    writeContent(to: &text)
  }

  private func writeContent(to text: inout String) {
    switch content {
    case .positions(let positions): write(positions, to: &text)
    case .rings(let rings): Self.list(rings, to: &text) { write($0, to: &$1) }
    case .parts(let parts):
      Self.list(parts, to: &text) { part, text in
        // A part of the usual kind needs no keyword, for example a polygon in a MULTIPOLYGON.
        if part.kind == kind.plainPart { part.writeContent(to: &text) } else { part.write(to: &text) }
      }
    }
  }

  private func write(_ positions: [Position], to text: inout String) {
    Self.list(positions, to: &text) { position, text in
      text += "\(shortest(position.x)) \(shortest(position.y))"
      if dimension.hasZ { text += " \(shortest(position.z))" }
      if dimension.hasM { text += " \(shortest(position.m))" }
    }
  }

  private static func list<T>(_ elements: [T], to text: inout String, _ write: (T, inout String) -> Void) {
    if elements.isEmpty {
      text += "EMPTY"
      return
    }
    text += "("
    for (place, element) in elements.enumerated() {
      if place > 0 { text += "," }
      write(element, &text)
    }
    text += ")"
  }
}

/// A number in the shortest form that reads back as the same number.
private func shortest(_ number: Double) -> String {
  let text = number.description
  return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}
