import SatchelBundle
import SatchelHub
import SatchelJSON
import TestSupport
import Testing

/// Plays rounds of mutated bundles. Each round has its own hub, or its own copy of a hub.
struct MutatedBundles {
  /// Why the hub must refuse all bundles of a sender.
  enum Outcast: CaseIterable { case revoked, replacedKey }

  /// The number of mutations in all bundles that were sent to a hub.
  private(set) var tried = 0
  /// The number of mutations in bundles that the hub accepted.
  private(set) var taken = 0
  private var bundles = 0
  private var reasons: [String: Int] = [:]

  var words: String {
    let refused = reasons.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    return "\(tried) mutations in \(bundles) bundles, \(taken) of them taken; refused: \(refused)"
  }

  private static let bundlesInRound = 40
  private static let bundlesOfOutcast = 24

  /// Plays one round.
  /// - Parameter isCopied: whether the hub and its devices are copied. Otherwise they are made from the seed.
  mutating func play(seed: UInt64, atMost limit: Int, isCopied: Bool = true) throws {
    let random = SeededRandom(seed)
    let lab = try isCopied ? AttackFixture(alikeWith: random) : AttackFixture(random: random)
    // In one of four rounds, the device may write nothing. Then it must not change its own user's rows either.
    let mayWrite = seed % 4 > 0
    if !mayWrite { _ = try lab.hub.setDevice("evil", readOnly: true) }
    let style = try Self.style(of: seed, lab)
    let before = try Protected(lab, withOwn: !mayWrite)
    var mutator = TreeMutator(seed: seed, values: try ForeignValues(lab).all)
    let forger = try lab.forger
    var own = try Protected(lab, withOwn: true)
    for number in 0..<Self.bundlesInRound where tried < limit {
      // The device's own database does not change. So one forger reads it once, and is reused.
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

  /// The style of the bundles in a round. In one of 16 rounds, the hub refuses bundles more often.
  private static func style(of seed: UInt64, _ lab: AttackFixture) throws -> MutatedBundle.Style {
    // BulkDecisionTests repeats a round of this style.
    if seed % 16 == 5 { return .anyLines }
    // The victim's user has a file that an attack could replace.
    try #require(try lab.namesTheVictimsFile(), "seed \(seed)")
    return .mergeableLines(state: try lab.trueTables())
  }

  /// Plays bundles of a sender whom the hub must refuse. Half of the bundles have old numbers. Nothing changes at the
  /// hub except the quarantine and the ledger.
  mutating func play(_ sender: Outcast, seed: UInt64) throws {
    let lab = try AttackFixture(alikeWith: SeededRandom(seed))
    // The device skips numbers. So the hub has no record of bundles with these numbers.
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

  /// Sends a bundle. If the hub refuses it, removes the cause and sends the rest again.
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
      // The hub ignores the lines of an overtaken bundle. So its refusal says nothing about the lines.
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
