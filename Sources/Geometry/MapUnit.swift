/// The unit of a layer's coordinates.
public enum MapUnit: String, Sendable {
  case metres, degrees
  /// Any other unit, or a unit that cannot be read.
  case unknown

  /// - Parameter definition: a reference system as well-known text of version 1 or 2.
  public init(definition: String) {
    let system = ReferenceSystemText(definition)
    if let factor = system.factor(in: ["PROJCS", "PROJCRS"], of: ["UNIT", "LENGTHUNIT"]) {
      self = factor == 1 ? .metres : .unknown
    } else if let factor = system.factor(in: ["GEOGCS", "GEOGCRS", "GEODCRS"], of: ["UNIT", "ANGLEUNIT"]) {
      self = abs(factor - .pi / 180) < 1e-9 ? .degrees : .unknown
    } else {
      self = .unknown
    }
  }

  /// The text that follows a number in this unit.
  public var sign: String {
    switch self {
    case .metres: "m"
    case .degrees: "degrees"
    case .unknown: "units"
    }
  }
}

/// The parts of a reference system's text. Each part has a keyword, and arguments in brackets. An argument may itself
/// be a part.
private struct ReferenceSystemText {
  private struct Part {
    let keyword: String
    /// The index of the part that encloses this part; nil: no part encloses it.
    let parent: Int?
    /// The arguments that are words, texts or numbers. Arguments that are parts are in `parts`.
    var arguments: [String] = []
  }

  private var parts: [Part] = []

  init(_ text: String) {
    var (open, word, isQuoted) = ([Int](), "", false)
    for character in text.unicodeScalars {
      switch character {
      case "\"": isQuoted.toggle()
      case "[" where !isQuoted, "(" where !isQuoted:
        parts.append(Part(keyword: word.uppercased(), parent: open.last))
        open.append(parts.count - 1)
        word = ""
      case "," where !isQuoted, "]" where !isQuoted, ")" where !isQuoted:
        if let inside = open.last, !word.isEmpty { parts[inside].arguments.append(word) }
        word = ""
        if character != "," { _ = open.popLast() }
      case " " where !isQuoted, "\n" where !isQuoted, "\t" where !isQuoted, "\r" where !isQuoted: continue
      default: word.unicodeScalars.append(character)
      }
    }
  }

  /// The size of a unit; nil: the text declares no unit. The first part with one of `keywords` declares the unit for
  /// its axes.
  func factor(in keywords: [String], of units: [String]) -> Double? {
    guard let system = parts.firstIndex(where: { keywords.contains($0.keyword) }) else { return nil }
    // A text of version 2 may declare the unit in each axis, instead of once for all axes.
    let unit = parts.first { part in
      guard units.contains(part.keyword), let parent = part.parent else { return false }
      return parent == system || (parts[parent].keyword == "AXIS" && parts[parent].parent == system)
    }
    return unit.flatMap { $0.arguments.count > 1 ? Double($0.arguments[1]) : nil }
  }
}
