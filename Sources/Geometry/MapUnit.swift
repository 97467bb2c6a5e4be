/// The unit of a layer's coordinates.
public enum MapUnit: String, Sendable {
  case metres, degrees
  /// Another unit, or an unreadable one.
  case unknown

  /// - Parameter definition: a reference system as well-known text, of version 1 or 2.
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

  /// The unit's sign after a number.
  public var sign: String {
    switch self {
    case .metres: "m"
    case .degrees: "degrees"
    case .unknown: "units"
    }
  }
}

/// The parts of a reference system's text: each has a keyword, arguments in brackets, and parts among them.
private struct ReferenceSystemText {
  private struct Part {
    let keyword: String
    /// The enclosing part, and the number of enclosing parts.
    let parent: Int?
    /// Words, texts and numbers directly in the part.
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

  /// The size of the unit that the first part with one of these keywords declares for its axes; nil: there is none.
  func factor(in keywords: [String], of units: [String]) -> Double? {
    guard let system = parts.firstIndex(where: { keywords.contains($0.keyword) }) else { return nil }
    // Version 2 may give the unit of each axis instead.
    let unit = parts.first { part in
      guard units.contains(part.keyword), let parent = part.parent else { return false }
      return parent == system || (parts[parent].keyword == "AXIS" && parts[parent].parent == system)
    }
    return unit.flatMap { $0.arguments.count > 1 ? Double($0.arguments[1]) : nil }
  }
}
