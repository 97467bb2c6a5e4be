import SatchelJSON
import SatchelWorkspace

/// The option that splits a bundle into volumes, and the messages about volumes that came.
enum Volumes {
  static let option = OptionSpec(
    "volume-size", kind: .value("SIZE"),
    help: "in pieces of at most SIZE, such as 4095M for a FAT stick; any order, any sticks")

  /// The words about a volume that was kept.
  static func text(_ part: Int64, _ waiting: BundleParts.Waiting) -> TerminalText {
    let missing = waiting.missing
    return "Volume \(part) of \(waiting.parts) of \(waiting.whole): \(Self.missing(missing, of: waiting.parts)).\n"
  }

  static func missing(_ missing: [Int64], of parts: Int64, _ state: String = "still missing") -> String {
    let shown = missing.prefix(10).map(String.init).joined(separator: ", ")
    let more = missing.count > 10 ? " and \(missing.count - 10) more" : ""
    return "\(missing.count) of \(parts) \(state): \(shown)\(more)"
  }

  static func json(_ waiting: [BundleParts.Waiting]) -> JSONValue {
    .array(waiting.map { json($0.whole, parts: $0.parts, missing: $0.missing) })
  }

  static func json(_ carried: [CarriedVolumes]) -> JSONValue {
    .array(carried.map { json($0.whole, parts: $0.parts, missing: $0.missing) })
  }

  private static func json(_ name: String, parts: Int64, missing: [Int64]) -> JSONValue {
    ["name": .string(name), "parts": .integer(parts), "missing": .array(missing.map { .integer($0) })]
  }
}
