import SatchelBundle
import SatchelHub
import SatchelJSON
import TestSupport
import Testing

/// Plays rounds of mutated bundles, each against a hub of its own or a copy.
struct MutatedBundles {
  /// A sender whose bundles the hub does not take any more.
  enum Outcast: CaseIterable { case revoked, replacedKey }

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
  private static let bundlesOfOutcast = 24

  /// - Parameter isCopied: whether the hub and its devices are copied. Otherwise the seed makes them, too.
  mutating func play(seed: UInt64, atMost limit: Int, isCopied: Bool = true) throws {
    let random = SeededRandom(seed)
    let lab = try isCopied ? AttackFixture(alikeWith: random) : AttackFixture(random: random)
    // A device that may write nothing changes no row of its own user either.
    let mayWrite = seed % 4 > 0
    if !mayWrite { _ = try lab.hub.setDevice("evil", readOnly: true) }
    let style = try Self.style(of: seed, lab)
    let before = try Protected(lab, withOwn: !mayWrite)
    var mutator = TreeMutator(seed: seed, values: try ForeignValues(lab).all)
    let forger = try lab.forger
    var own = try Protected(lab, withOwn: true)
    for number in 0..<Self.bundlesInRound where tried < limit {
      // The device's own database stays as it is, so it is read only once.
      let next = try forger.after(#require(try lab.merged))
      var bundle = try MutatedBundle(lab, next, style, &mutator)
      if case .mergeableLines = style, mutator.number(below: 8) == 0 { try bundle.overtake(lab, next, &mutator) }
      try send(bundle, by: next, to: lab)
      let later = try Protected(lab, withOwn: true)
      var changed = before.differences(to: later)
      if !bundle.hasChanges { changed += own.differences(to: later) }
      try #require(changed == [], "seed \(seed), bundle \(number)")
      own = later
      try lab.letGoOn()
    }
    try #require(try lab.takesTheVictim(), "seed \(seed)")
    let undecided = try Protected(lab, withOwn: !mayWrite)
    lab.decideAll()
    let decided = try undecided.changedRows(in: Protected(lab, withOwn: !mayWrite))
    try #require(decided == [], "seed \(seed), decided")
    try #require(try !lab.tellsSecrets(to: "evil"), "seed \(seed)")
  }

  /// The style of a round's bundles. One of 16 rounds has bundles that are refused more often.
  private static func style(of seed: UInt64, _ lab: AttackFixture) throws -> MutatedBundle.Style {
    // BulkDecisionTests plays a round of this kind again.
    if seed % 16 == 5 { return .anyLines }
    // The victim's user has a file to lose.
    try #require(try lab.namesTheVictimsFile(), "seed \(seed)")
    return .mergeableLines(state: try lab.trueTables())
  }

  /// Plays bundles of an outcast, half of them with old numbers. The hub refuses all of them, and nothing at all
  /// changes except the quarantine and the ledger of refusals.
  mutating func play(_ sender: Outcast, seed: UInt64) throws {
    let lab = try AttackFixture(alikeWith: SeededRandom(seed))
    // The device skips numbers, so that the hub knows no bundles with these numbers.
    try #require(try lab.refusal(of: lab.forger.bundle(later: 3)) == nil)
    switch sender {
    case .revoked: _ = try lab.hub.revoke("evil")
    case .replacedKey: try lab.replaceKey()
    }
    let before = try HubContent(lab)
    var mutator = TreeMutator(seed: seed, values: try ForeignValues(lab).all)
    let forger = try lab.forger
    for number in 0..<Self.bundlesOfOutcast {
      var bundle = try MutatedBundle(
        lab, forger, .mergeableLines(state: ["tables": [], "answers": []]), &mutator)
      if mutator.number(below: 2) == 0 { try bundle.overtake(lab, forger, &mutator) }
      let place = "\(sender), seed \(seed), bundle \(number)"
      let reason = try #require(try lab.refusal(of: bundle.bytes(forger)), "\(place)")
      bundles += 1
      reasons[reason, default: 0] += 1
      try lab.emptyQuarantine()
      try #require(before.differences(to: HubContent(lab)) == [], "\(place), refused for \(reason)")
    }
    try #require(try lab.takesTheVictim(), "seed \(seed)")
  }

  /// Sends a bundle. If it is refused, the cause is removed, and the rest is sent again.
  private mutating func send(_ whole: MutatedBundle, by forger: Forger, to lab: AttackFixture) throws {
    var bundle = whole
    tried += bundle.count
    while bundle.count > 0 {
      bundles += 1
      guard let error = try lab.error(of: bundle.bytes(forger)) else {
        taken += bundle.count
        return
      }
      reasons[error.reason, default: 0] += 1
      // Its lines do not count, so a refusal says nothing about them.
      if bundle.isOvertaken { return }
      if case .line(let entry, let number, _)? = error as? BundleError {
        bundle.remove(line: number, of: entry)
      } else if !bundle.removeRarities() {
        return
      }
      try lab.letGoOn()
    }
  }
}
