import SatchelBundle
import SatchelJSON
import TestSupport
import Testing

/// Plays rounds of mutated bundles, each against its own hub.
struct MutatedBundles {
  /// Mutated lines and manifests that came to a hub.
  private(set) var tried = 0
  /// The number of these in accepted bundles.
  private(set) var taken = 0
  private var bundles = 0
  private var reasons: [String: Int] = [:]

  var words: String {
    let refused = reasons.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    return "\(tried) mutations in \(bundles) bundles, \(taken) of them taken; refused: \(refused)"
  }

  private static let bundlesInRound = 40

  mutating func play(seed: UInt64, atMost limit: Int) throws {
    let lab = try AttackFixture(random: SeededRandom(seed))
    // A device that may write nothing changes no row of its own user either.
    let mayWrite = seed % 4 > 0
    if !mayWrite { _ = try lab.hub.setDevice("evil", readOnly: true) }
    let before = try Protected(lab, withOwn: !mayWrite)
    var mutator = TreeMutator(seed: seed, values: try ForeignValues(lab).all)
    for number in 0..<Self.bundlesInRound where tried < limit {
      let bundle = try MutatedBundle(lab, &mutator)
      let own = try Protected(lab, withOwn: true)
      try send(bundle, to: lab)
      let later = try Protected(lab, withOwn: true)
      var changed = before.differences(to: later)
      if !bundle.hasChanges { changed += own.differences(to: later) }
      try #require(changed == [], "seed \(seed), bundle \(number)")
      try lab.letGoOn()
    }
    try #require(try lab.takesTheVictim(), "seed \(seed)")
    let undecided = try Protected(lab, withOwn: !mayWrite)
    lab.decideAll()
    try #require(try undecided.changedRows(in: Protected(lab, withOwn: !mayWrite)) == [], "seed \(seed), decided")
    try #require(try !lab.tellsSecrets(to: "evil"), "seed \(seed)")
  }

  /// Sends a bundle. If it is refused, the cause is removed, and the rest is sent again.
  private mutating func send(_ whole: MutatedBundle, to lab: AttackFixture) throws {
    var bundle = whole
    tried += bundle.count
    while bundle.count > 0 {
      bundles += 1
      guard let error = try lab.error(of: bundle.bytes(lab.forger)) else {
        taken += bundle.count
        return
      }
      reasons[error.reason, default: 0] += 1
      if case .line(let entry, let number, _)? = error as? BundleError {
        bundle.remove(line: number, of: entry)
      } else if !bundle.removeRarities() {
        return
      }
      try lab.letGoOn()
    }
  }
}
