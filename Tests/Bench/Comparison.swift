/// The times of one piece of work in Satchel and in other programs (peers). In each round, all of them ran one after
/// the other.
struct Comparison {
  enum Unit { case seconds, milliseconds, kibibytes, mebibytes }

  /// Another program that does similar work.
  private struct Peer {
    let name: String
    /// The limit of Satchel's value divided by the peer's value; nil: there is no limit.
    let limit: Double?
    var values: [Double] = []
  }

  static let heads = ["what", "Satchel", "against", "theirs", "ratio", "limit", ""]

  /// The numbers of table lines that kept their limits, of lines that did not, and of missing peers.
  nonisolated(unsafe) static var tally = (met: 0, over: 0, missing: 0)

  let what: String
  let unit: Unit
  /// The limit of Satchel's value itself.
  let limit: Double?
  private(set) var ours: [Double] = []
  private var peers: [Peer] = []

  init(_ what: String, in unit: Unit = .seconds, atMost limit: Double? = nil) {
    self.what = what
    self.unit = unit
    self.limit = limit
  }

  mutating func add(_ value: Double) { ours.append(value) }

  /// - Parameter value: the peer's value; nil: the peer is not installed, and its line says so.
  mutating func add(_ value: Double?, to name: String, atMost limit: Double? = nil) {
    if !peers.contains(where: { $0.name == name }) { peers.append(Peer(name: name, limit: limit)) }
    guard let value, let place = peers.firstIndex(where: { $0.name == name }) else { return }
    peers[place].values.append(value)
  }

  /// One line for each peer, or one line if there is no peer.
  func lines() -> [[String]] {
    let head = [what, text(median(ours))]
    if peers.isEmpty {
      return [head + ["", "", "", limit.map(text) ?? "", limit.map { Self.verdict(median(ours) <= $0) } ?? ""]]
    }
    return peers.enumerated().map { place, peer in
      let start = place == 0 ? head : ["", ""]
      let limit = peer.limit.map { decimal($0, 2) } ?? ""
      guard !peer.values.isEmpty else {
        Self.tally.missing += 1
        return start + [peer.name, "NOT INSTALLED", "", limit, "NOT MEASURED"]
      }
      // The ratio of Satchel to the peer is the median over all rounds.
      let ratio = median(zip(ours, peer.values).map { $0 / $1 })
      let verdict = peer.limit.map { Self.verdict(ratio <= $0) } ?? ""
      return start + [peer.name, text(median(peer.values)), decimal(ratio, 2), limit, verdict]
    }
  }

  static func verdict(_ isMet: Bool) -> String {
    if isMet { tally.met += 1 } else { tally.over += 1 }
    return isMet ? "met" : "OVER"
  }

  private func text(_ value: Double) -> String {
    switch unit {
    case .seconds: decimal(value, 3)
    case .milliseconds: decimal(value, 1)
    case .kibibytes, .mebibytes: decimal(value, 0)
    }
  }
}
