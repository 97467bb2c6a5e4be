/// Why a text is not a geometry.
public struct WKTError: Error, Equatable {
  /// The byte at which the error is, counted from 1.
  public let position: Int
  public let words: String
}

/// Reads well-known text (ISO 13249-3). Variants that PostGIS, QGIS and GDAL write are accepted too.
///
/// If positions have three or four numbers, the text needs no `Z` or `ZM`. The points of a MULTIPOINT need no brackets.
/// The text is untrusted, so nesting is limited to `Geometry.maximumDepth`.
struct WKTReader {
  private let text: [UInt8]
  private var place = 0
  /// The dimension, as far as the text has shown it; nil: the text has not shown a dimension yet.
  private var dimension: CoordinateDimension?

  init(_ text: [UInt8]) { self.text = text }

  mutating func read() throws(WKTError) -> Geometry {
    let geometry = try tagged(depth: 0)
    skipSpace()
    if place < text.count { throw error("the geometry ends here, and more text follows") }
    return geometry.having(dimension ?? .xy)
  }

  /// Reads a geometry with its keyword.
  private mutating func tagged(depth: Int) throws(WKTError) -> Geometry {
    let start = place
    let kind = try keyword()
    if kind.shape == nil {
      place = start
      throw error("\(kind.word) is the type of a layer, and no geometry")
    }
    return Geometry(kind, .xy, try content(of: kind, depth))
  }

  private mutating func keyword() throws(WKTError) -> GeometryKind {
    skipSpace()
    let start = place
    guard let word = word() else { throw error("expected a geometry such as POINT") }
    if let kind = GeometryKind(word: word) {
      if let next = nextWord(), let suffix = Self.dimension(next) {
        try declare(suffix)
        _ = self.word()
      }
      return kind
    }
    // Some programs write POINTZ instead of POINT Z.
    for suffix in ["ZM", "Z", "M"] where word.hasSuffix(suffix) {
      if let kind = GeometryKind(word: String(word.dropLast(suffix.count))), let given = Self.dimension(suffix) {
        try declare(given)
        return kind
      }
    }
    place = start
    if word == "SRID" { throw error("the layer says the reference system: leave SRID=...; out") }
    let typed = String(decoding: text[start..<start + word.utf8.count], as: UTF8.self)
    throw error("\(typed) is no kind of geometry")
  }

  private static func dimension(_ word: String) -> CoordinateDimension? {
    ["Z", "M", "ZM"].contains(word)
      ? CoordinateDimension(hasZ: word.hasPrefix("Z"), hasM: word.hasSuffix("M")) : nil
  }

  private mutating func declare(_ given: CoordinateDimension) throws(WKTError) {
    if let dimension, dimension != given { throw error("all parts of a geometry need the same dimension") }
    dimension = given
  }

  private mutating func content(of kind: GeometryKind, _ depth: Int) throws(WKTError) -> Geometry.Content {
    switch kind.shape {
    case .positions where kind == .point:
      let positions = try positions()
      if positions.count > 1 { throw error("a POINT has one position") }
      return .positions(positions)
    case .positions, nil: return .positions(try positions())
    case .rings:
      var rings: [[Position]] = []
      try list { reader throws(WKTError) in rings.append(try reader.positions()) }
      return .rings(rings)
    case .parts:
      var parts: [Geometry] = []
      try list { reader throws(WKTError) in parts.append(try reader.part(of: kind, depth)) }
      return .parts(parts)
    }
  }

  private mutating func part(of kind: GeometryKind, _ depth: Int) throws(WKTError) -> Geometry {
    guard depth + 1 < Geometry.maximumDepth else { throw error("geometries lie in geometries too often") }
    let next = nextWord()
    guard let plain = kind.plainPart, next == nil || next == "EMPTY" else { return try tagged(depth: depth + 1) }
    skipSpace()
    if plain == .point, next == nil, place < text.count, text[place] != UInt8(ascii: "(") {
      return Geometry(.point, .xy, .positions([try position()]))
    }
    return Geometry(plain, .xy, try content(of: plain, depth + 1))
  }

  private mutating func positions() throws(WKTError) -> [Position] {
    var positions: [Position] = []
    try list { reader throws(WKTError) in positions.append(try reader.position()) }
    return positions
  }

  /// Reads elements in brackets with commas between them, or the word EMPTY.
  private mutating func list(_ readElement: (inout Self) throws(WKTError) -> Void) throws(WKTError) {
    if nextWord() == "EMPTY" {
      _ = word()
      return
    }
    guard pass("(") else { throw error("expected ( or EMPTY") }
    repeat { try readElement(&self) } while pass(",")
    guard pass(")") else { throw error("expected , or )") }
  }

  private mutating func position() throws(WKTError) -> Position {
    var numbers = [try number(), try number()]
    while numbers.count < 4, let next = nextByte(), next != UInt8(ascii: ","), next != UInt8(ascii: ")") {
      numbers.append(try number())
    }
    let usual = CoordinateDimension(hasZ: numbers.count > 2, hasM: numbers.count > 3)
    let given = dimension ?? usual
    if given.count != numbers.count { throw error("this position has \(numbers.count) numbers, not \(given.count)") }
    dimension = given
    return Position(
      x: numbers[0], y: numbers[1], z: given.hasZ ? numbers[2] : 0, m: given.hasM ? numbers[numbers.count - 1] : 0)
  }

  private mutating func number() throws(WKTError) -> Double {
    skipSpace()
    let start = place
    while place < text.count, Self.isOfNumber(text[place]) { place += 1 }
    // Swift converts the digits to the nearest double, as `strtod` does.
    let digits = String(decoding: text[start..<place], as: UTF8.self)
    guard let number = Double(digits), number.isFinite else {
      place = start
      throw error(digits.isEmpty ? "expected a number" : "\(digits) is no number that a coordinate can have")
    }
    return number
  }

  private static func isOfNumber(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || [UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains(byte)
      || byte | 0x20 == UInt8(ascii: "e")
  }
}

/// Reads words and signs.
extension WKTReader {
  /// Reads the next word, and returns it in capitals; nil: the next item is no word.
  private mutating func word() -> String? {
    guard let word = nextWord() else { return nil }
    place += word.utf8.count
    return word
  }

  private mutating func nextWord() -> String? {
    skipSpace()
    let letters = text[place...].prefix { (97...122).contains($0 | 0x20) }
    return letters.isEmpty ? nil : String(decoding: letters, as: UTF8.self).uppercased()
  }

  private mutating func nextByte() -> UInt8? {
    skipSpace()
    return place < text.count ? text[place] : nil
  }

  private mutating func pass(_ sign: Unicode.Scalar) -> Bool {
    guard nextByte() == UInt8(ascii: sign) else { return false }
    place += 1
    return true
  }

  private mutating func skipSpace() {
    while place < text.count, [0x20, 0x09, 0x0a, 0x0d].contains(text[place]) { place += 1 }
  }

  private func error(_ words: String) -> WKTError { WKTError(position: place + 1, words: words) }
}

extension Geometry {
  /// Reads well-known text.
  public init(wellKnownText text: String) throws(WKTError) {
    var reader = WKTReader(Array(text.utf8))
    self = try reader.read()
  }

  /// A copy of this geometry with another dimension. All parts of the copy also have this dimension.
  fileprivate func having(_ dimension: CoordinateDimension) -> Geometry {
    guard case .parts(let parts) = content else { return Geometry(kind, dimension, content) }
    return Geometry(kind, dimension, .parts(parts.map { $0.having(dimension) }))
  }
}
