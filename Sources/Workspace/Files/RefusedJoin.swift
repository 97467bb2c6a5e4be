import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// The record that a bundle was joined from its pieces and then refused. It is a file beside the pieces.
///
/// Without this record, each further volume would cause another join and import of the whole bundle. A sender can
/// sign any number of tiny volumes. So a refused bundle is joined again only after the state of this workspace has
/// changed, or after some minutes.
struct RefusedJoin {
  /// The time after which the bundle is joined again in any case. A person may have changed something that `state`
  /// does not show.
  private static let milliseconds: Int64 = 10 * 60_000
  private static let prefix = "refused-"
  private static let mostBytes = 64 << 10

  private let place: String
  private let state: String?
  private let files: any FileSystem
  private let clock: any WallClock

  /// - Parameters:
  ///   - place: the folder of the pieces.
  ///   - state: a text that changes whenever another attempt may end differently. nil: no refusal is recorded, and
  ///     each attempt joins the pieces.
  init(of place: String, in state: String?, _ platform: Platform) {
    (self.place, files, clock) = (place, platform.files, platform.clock)
    self.state = state.map { String(Digest.of(Array($0.utf8)).hexadecimal.prefix(16)) }
  }

  /// The recorded refusal; nil if the bundle should be joined again.
  func refusal() throws -> Refusal? {
    guard let state, let name = try names().first else { return nil }
    let words = name.dropFirst(Self.prefix.count).split(separator: "-")
    guard words.count == 2, words[0] == state, let time = Int64(words[1]),
      (0..<Self.milliseconds).contains(clock.milliseconds() - time)
    else { return nil }
    let text = String(decoding: try files.read(Paths.join(place, name), limit: Self.mostBytes), as: UTF8.self)
    let lines = text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    guard lines.count == 3, let code = Reason(rawValue: lines[0]) else { return nil }
    // `.unnoted`, because `status` names the bundle since its first refusal.
    return Refusal(code, lines[1], hint: lines[2].isEmpty ? nil : lines[2], keeping: .unnoted)
  }

  func note(_ refusal: Refusal) throws {
    guard let state else { return }
    for name in try names() { try files.remove(Paths.join(place, name)) }
    let message = refusal.message.split(separator: "\n").joined(separator: " ")
    let text = "\(refusal.code.rawValue)\n\(message)\n\(refusal.hint ?? "")"
    try files.replace(
      Paths.join(place, "\(Self.prefix)\(state)-\(clock.milliseconds())"), mode: 0o644, contents: Array(text.utf8))
  }

  private func names() throws -> [String] { try files.list(place).filter { $0.hasPrefix(Self.prefix) } }
}
