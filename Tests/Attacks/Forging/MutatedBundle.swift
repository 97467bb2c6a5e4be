import SatchelCrypto
import SatchelJSON
import SatchelValues
import TestSupport

/// A bundle of the attacker with mutated lines. It may also have mutated members of the manifest.
struct MutatedBundle {
  /// How lines and members are chosen.
  enum Style {
    /// Nearly all lines are well-formed, and at most one member is wrong. The hub refuses many of these bundles because
    /// of one line. So each bundle is sent several times, without the refused lines.
    case anyLines
    /// The hub can merge nearly all lines. Up to three members are wrong.
    /// - Parameter state: the true digests of the device's rows after its newest emission.
    case mergeableLines(state: JSONValue)
  }

  private let style: Style
  private var lines: [MutatedLine] = []
  private var members: [(name: String, value: JSONValue?)] = []

  /// The number of mutations in the bundle.
  var count: Int { lines.count + members.count }

  private static let mostLines = 40
  private static let rarities: Set<ForgedEntry> = [.state, .attachments]
  /// Members that describe the device itself. The hub accepts some wrong values in them.
  private static let statements: Set<String> = [
    "bundle", "user", "created", "stamp", "received", "sequence", "base", "chain", "former_exports", "former", "lost",
    "brings", "original", "renamed", "health", "understands", "recipient", "rotation",
  ]

  /// Whether the bundle may change rows of the attacker's own user.
  private(set) var hasChanges: Bool
  /// Whether the hub has already merged a later bundle. Then only the files of this bundle count.
  private(set) var isOvertaken = false

  /// Makes a bundle. One of three bundles has no changes and no decisions.
  init(_ lab: AttackFixture, _ forger: Forger, _ style: Style, _ mutator: inout TreeMutator) throws {
    self.style = style
    hasChanges = mutator.number(below: 3) > 0
    let conflicts = try lab.atHub("SELECT id FROM satchel_conflicts ORDER BY id LIMIT 50")
    while lines.count < Self.mostLines {
      let line = try Self.line(forger, conflicts, style, &mutator)
      if !hasChanges, line.entry == .changes || line.entry == .resolutions { continue }
      if Self.rarities.contains(line.entry) && lines.contains(where: { $0.entry == line.entry }) { continue }
      if mutator.number(below: 100) == 0 || Self.fits(line, style, forger) { lines.append(line) }
    }
    // The format requires that lines about keys come first.
    lines = lines.filter(\.isAboutKeys) + lines.filter { !$0.isAboutKeys }
    if mutator.number(below: 3) == 0 { try mutateMembers(forger, lab, &mutator) }
  }

  private static func fits(_ line: MutatedLine, _ style: Style, _ forger: Forger) -> Bool {
    switch style {
    case .anyLines: line.isWellFormed
    case .mergeableLines: line.isMergeable(by: forger)
    }
  }

  private static func line(
    _ forger: Forger, _ conflicts: [String], _ style: Style, _ mutator: inout TreeMutator
  ) throws -> MutatedLine {
    let random = RandomLines(forger)
    switch mutator.number(below: 20) {
    case 0..<6: return MutatedLine(entry: .conflicts, value: try random.conflict(&mutator))
    case 6..<10: return MutatedLine(entry: .changes, value: random.change(&mutator))
    case 10..<13 where !conflicts.isEmpty:
      let decision = forger.resolution(of: mutator.choice(of: conflicts))
      return MutatedLine(entry: .resolutions, value: mutator.mutated(decision))
    case 19:
      let entry = mutator.choice(of: Array(rarities).sorted { $0.rawValue < $1.rawValue })
      let sample = mutator.choice(of: try samples(of: entry, forger, style))
      return MutatedLine(entry: entry, value: mutator.mutated(sample))
    default:
      let entry = mutator.choice(of: [.changes, .conflicts] as [ForgedEntry])
      let sample = mutator.mutated(mutator.choice(of: try forger.samples(of: entry)))
      return MutatedLine(entry: entry, value: try renamed(sample, entry, &mutator))
    }
  }

  private static func samples(of entry: ForgedEntry, _ forger: Forger, _ style: Style) throws -> [JSONValue] {
    if entry == .state, case .mergeableLines(let state) = style { return [state] }
    return try forger.samples(of: entry)
  }

  /// Gives every second conflict the id that the format requires.
  private static func renamed(
    _ line: JSONValue, _ entry: ForgedEntry, _ mutator: inout TreeMutator
  ) throws -> JSONValue {
    guard entry == .conflicts, mutator.number(below: 2) == 0, var members = line.objectValue else { return line }
    members.set("conflict", .string(try Forger.conflictID(of: line)))
    return .object(members)
  }

  /// Gives wrong values to members of the manifest.
  private mutating func mutateMembers(_ forger: Forger, _ lab: AttackFixture, _ mutator: inout TreeMutator) throws {
    let all = forger.manifest(of: .init(), try lab.evil.keys.ownKey()) + forger.rareMembers()
    switch style {
    case .anyLines: mutate(mutator.choice(of: all), &mutator)
    case .mergeableLines:
      let statements = all.filter { Self.statements.contains($0.name) }
      for _ in 0...mutator.number(below: 3) {
        // The hub refuses most wrong values in members other than `statements`, so these are chosen less often.
        mutate(mutator.choice(of: mutator.number(below: 4) == 0 ? all : statements), &mutator)
      }
    }
  }

  private mutating func mutate(_ member: JSONValue.Member, _ mutator: inout TreeMutator) {
    members.removeAll { $0.name == member.name }
    let value: JSONValue? = member.value.nodes > 1 ? mutator.mutated(member.value) : mutator.changed(member.value)
    members.append((name: member.name, value: value))
  }

  /// Gives the bundle an old number and a file. In most cases the bundle also claims to be a bundle that the hub has
  /// merged.
  mutating func overtake(_ lab: AttackFixture, _ forger: Forger, _ mutator: inout TreeMutator) throws {
    let chain = try lab.atHub(
      "SELECT sequence, digest FROM satchel_chain WHERE device = '\(forger.id)' ORDER BY sequence")
    let known = mutator.choice(of: chain).split(separator: "|").map { String($0) }
    let isKnown = mutator.number(below: 4) > 0
    let number = isKnown ? Int64(known[0]) ?? 1 : 1 + Int64(mutator.number(below: Int(forger.sequence)))
    members.removeAll { ["sequence", "base"].contains($0.name) }
    members.append((name: "sequence", value: .integer(number)))
    members.append((name: "base", value: .integer(number - 1)))
    if mutator.number(below: 4) > 0 {
      members.removeAll { $0.name == "original" }
      members.append((name: "original", value: .string(known[1])))
    }
    let paths: [JSONValue] = [
      "SECRET.jpg", .string(AttackFixture.guess), .string(AttackFixture.missing), "photos/a.jpg", "site/new.jpg",
    ]
    let versions = ["SECRET-PHOTO", "the victim's"].map { JSONValue.string(Digest.of(Array($0.utf8)).hexadecimal) }
    var was: JSONValue?
    if mutator.number(below: 2) == 0 { was = mutator.choice(of: versions) }
    lines.removeAll { $0.entry == .attachments }
    lines.append(MutatedLine(entry: .attachments, value: Forger.file(at: mutator.choice(of: paths), was: was)))
    (isOvertaken, hasChanges) = (true, false)
  }

  func bytes(_ forger: Forger) throws -> [UInt8] {
    try forger.bundle { content in
      for line in lines { content.add(line.value, to: line.entry) }
      // The hub compares digests only if the bundle does not know a later acknowledgement than the emission's.
      if case .mergeableLines = style, lines.contains(where: { $0.entry == .state }) { content.set("base", 0) }
      for member in members { content.set(member.name, member.value) }
    }
  }

  /// Removes a line.
  /// - Parameter number: the index among the lines of this entry, counted from 1.
  mutating func remove(line number: Int, of entry: String) {
    let places = lines.indices.filter { lines[$0].entry.rawValue == entry }
    lines.remove(at: places[min(number, places.count) - 1])
  }

  /// Removes a part that may be the reason of a refusal. The first calls remove one mutated member each. Returns false
  /// if no such part is left.
  mutating func removeRarities() -> Bool {
    let before = count
    if !members.isEmpty { members.removeLast() } else { lines.removeAll { Self.rarities.contains($0.entry) } }
    return count < before
  }
}
