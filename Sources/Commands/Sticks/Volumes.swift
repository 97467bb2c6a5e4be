import SatchelBundle
import SatchelJSON
import SatchelWorkspace

/// The options that split a bundle into volumes, and the messages about volumes that came.
enum Volumes {
  static let options = [
    OptionSpec(
      "volume-size", kind: .value("SIZE"),
      help: "in pieces of at most SIZE, such as 4095M for a FAT stick; any order, any sticks"),
    OptionSpec(
      "parity", kind: .value("SHARE"),
      help: "so many extra volumes, such as 20% or 2: each can replace any lost volume"),
  ]

  /// The option of the commands that cut a bundle only if it is larger than a stick.
  static let parityOnSticks = OptionSpec(
    "parity", kind: .value("SHARE"),
    help: "on several sticks, so many extra volumes, such as 20% or 2: each can replace any lost volume")

  /// The words about a volume that was stored.
  static func text(_ part: Int64, _ waiting: BundleParts.Waiting) -> TerminalText {
    let volume =
      part > waiting.parts
      ? "Parity volume \(part - waiting.parts)" : "Volume \(part) of \(waiting.parts)"
    return "\(volume) of \(waiting.whole): \(missing(waiting)).\n"
  }

  /// The words about the volumes that must still come.
  static func missing(_ waiting: BundleParts.Waiting) -> String {
    if waiting.isWhole { return "the whole bundle is here already" }
    if waiting.needed == 0 { return "enough volumes are here, but the bundle is not imported yet" }
    let missing = waiting.missing.map(String.init) + waiting.missingParity.map { "p\($0)" }
    if Int64(missing.count) == waiting.needed { return Self.missing(missing, of: waiting.parts, "still missing") }
    return waiting.needed == 1
      ? "any one of these is still needed: \(list(missing))"
      : "any \(waiting.needed) of these are still needed: \(list(missing))"
  }

  /// The words about volumes of a bundle that are on no stick yet.
  static func missing(_ carried: CarriedVolumes) -> String {
    let missing = carried.missing.map { $0 > carried.parts ? "p\($0 - carried.parts)" : String($0) }
    return Self.missing(missing, of: carried.parts + carried.parity, "on no stick yet")
  }

  private static func missing(_ missing: [String], of parts: Int64, _ state: String) -> String {
    "\(missing.count) of \(parts) \(state): \(list(missing))"
  }

  private static func list(_ missing: [String]) -> String {
    missing.prefix(10).joined(separator: ", ") + (missing.count > 10 ? " and \(missing.count - 10) more" : "")
  }

  static func json(_ waiting: [BundleParts.Waiting]) -> JSONValue {
    .array(
      waiting.map {
        [
          "name": .string($0.whole), "parts": .integer($0.parts), "missing": .array($0.missing.map { .integer($0) }),
          "missing_parity": .array($0.missingParity.map { .integer($0) }), "needed": .integer($0.needed),
        ]
      })
  }

  static func json(_ carried: [CarriedVolumes]) -> JSONValue {
    .array(
      carried.map {
        [
          "name": .string($0.whole), "parts": .integer($0.parts), "parity": .integer($0.parity),
          "missing": .array($0.missing.map { .integer($0) }),
        ]
      })
  }
}

/// The sizes and the number of the volumes into which a bundle is cut.
struct VolumePlan {
  /// The largest size of a volume's file, in bytes.
  let size: Int64
  let parity: ParityShare
}

extension ParsedCommand {
  /// The volumes that the options request. nil if bundles stay whole.
  func volumePlan() throws -> VolumePlan? {
    let parity = try parityShare()
    guard let text = value("volume-size") else {
      if parity == .none { return nil }
      throw UsageError("--parity makes more volumes of a bundle: it needs --volume-size")
    }
    guard let bytes = ByteSize.bytes(text) else {
      throw UsageError("--volume-size takes a size such as 4095M or 700M, and not \(text)")
    }
    guard bytes >= BundleVolumes.leastBytes else { throw UsageError("--volume-size is at least 64K") }
    return VolumePlan(size: bytes, parity: parity)
  }

  /// The parity volumes that the option `--parity` requests.
  func parityShare() throws -> ParityShare {
    guard let text = value("parity") else { return .none }
    let isPercent = text.hasSuffix("%")
    let digits = isPercent ? text.dropLast() : text[...]
    guard !digits.isEmpty, digits.utf8.count < 4, digits.utf8.allSatisfy({ (48...57).contains($0) }),
      let number = Int64(digits), number > 0, isPercent || number < Manifest.Volume.mostWithParity
    else { throw UsageError("--parity takes a share such as 20%, or a number of volumes such as 2, and not \(text)") }
    return isPercent ? .percent(number) : .volumes(number)
  }
}
