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

  static func missing(_ missing: [Int64], of parts: Int64) -> String {
    let shown = missing.prefix(10).map(String.init).joined(separator: ", ")
    let more = missing.count > 10 ? " and \(missing.count - 10) more" : ""
    return "\(missing.count) of \(parts) still missing: \(shown)\(more)"
  }

  static func json(_ waiting: [BundleParts.Waiting]) -> JSONValue {
    .array(
      waiting.map {
        ["name": .string($0.whole), "parts": .integer($0.parts), "missing": .array($0.missing.map { .integer($0) })]
      })
  }
}
