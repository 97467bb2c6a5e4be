import SatchelJSON
import SatchelValues
import TestSupport

@testable import SatchelBundle

/// A bundle of the attacker with mutated lines, and perhaps a mutated manifest.
struct MutatedBundle {
  private struct Line {
    let entry: ForgedEntry
    let value: JSONValue

    var tellsOfKeys: Bool { ["rekey", "block"].contains(value["op"]?.stringValue) }

    /// Whether a reader accepts it: most lines get as far as the hub.
    var isWellFormed: Bool {
      let (bytes, limits) = (value.compactBytes, BundleLimits())
      do throws(any Error) {
        switch entry {
        case .changes:
          var parser = ChangeLineParser(limits)
          _ = try parser.parse(bytes)
        case .conflicts: _ = try ConflictRecord.parse(bytes, limits: limits)
        case .resolutions: _ = try Resolution.parse(bytes, limits: limits)
        case .attachments: _ = try AttachmentLine.parse(bytes, limits: limits)
        case .manifest, .state: break
        }
        return true
      } catch { return false }
    }
  }

  private var lines: [Line] = []
  private var member: (name: String, value: JSONValue?)?

  /// The number of mutations in it.
  var count: Int { lines.count + (member == nil ? 0 : 1) }

  private static let mostLines = 40
  private static let rarities: Set<ForgedEntry> = [.state, .attachments]

  /// Whether it may change rows of the attacker's own user.
  let hasChanges: Bool

  /// Every third bundle has no changes and no decisions.
  init(_ lab: AttackFixture, _ mutator: inout TreeMutator) throws {
    hasChanges = mutator.number(below: 3) > 0
    let forger = try lab.forger
    let conflicts = try lab.atHub("SELECT id FROM satchel_conflicts ORDER BY id LIMIT 50")
    while lines.count < Self.mostLines {
      let line = try Self.line(forger, conflicts, &mutator)
      if !hasChanges, line.entry == .changes || line.entry == .resolutions { continue }
      if Self.rarities.contains(line.entry) && lines.contains(where: { $0.entry == line.entry }) { continue }
      if mutator.number(below: 100) == 0 || line.isWellFormed { lines.append(line) }
    }
    // Lines about keys come first.
    lines = lines.filter(\.tellsOfKeys) + lines.filter { !$0.tellsOfKeys }
    if mutator.number(below: 3) == 0 { member = try Self.member(forger, lab, &mutator) }
  }

  private static func line(
    _ forger: Forger, _ conflicts: [String], _ mutator: inout TreeMutator
  ) throws -> Line {
    let random = RandomLines(forger)
    switch mutator.number(below: 20) {
    case 0..<6: return Line(entry: .conflicts, value: try random.conflict(&mutator))
    case 6..<10: return Line(entry: .changes, value: random.change(&mutator))
    case 10..<13 where !conflicts.isEmpty:
      let decision = forger.resolution(of: mutator.choice(of: conflicts))
      return Line(entry: .resolutions, value: mutator.mutated(decision))
    case 19:
      let entry = mutator.choice(of: Array(rarities).sorted { $0.rawValue < $1.rawValue })
      return Line(entry: entry, value: mutator.mutated(mutator.choice(of: try forger.samples(of: entry))))
    default:
      let entry = mutator.choice(of: [.changes, .conflicts] as [ForgedEntry])
      let sample = mutator.mutated(mutator.choice(of: try forger.samples(of: entry)))
      return Line(entry: entry, value: try renamed(sample, entry, &mutator))
    }
  }

  /// Every other conflict gets the id that the format requires.
  private static func renamed(
    _ line: JSONValue, _ entry: ForgedEntry, _ mutator: inout TreeMutator
  ) throws -> JSONValue {
    guard entry == .conflicts, mutator.number(below: 2) == 0, var members = line.objectValue else { return line }
    members.set("conflict", .string(try Forger.conflictID(of: line)))
    return .object(members)
  }

  private static func member(
    _ forger: Forger, _ lab: AttackFixture, _ mutator: inout TreeMutator
  ) throws -> (name: String, value: JSONValue?) {
    let members = forger.manifest(of: .init(), try lab.evil.keys.ownKey()) + forger.rareMembers()
    let member = mutator.choice(of: members)
    return (member.name, member.value.nodes > 1 ? mutator.mutated(member.value) : mutator.changed(member.value))
  }

  func bytes(_ forger: Forger) throws -> [UInt8] {
    try forger.bundle { content in
      for line in lines { content.add(line.value, to: line.entry) }
      if let member { content.set(member.name, member.value) }
    }
  }

  /// - Parameter number: from 1 on, among the lines of the entry.
  mutating func remove(line number: Int, of entry: String) {
    let places = lines.indices.filter { lines[$0].entry.rawValue == entry }
    lines.remove(at: places[min(number, places.count) - 1])
  }

  /// Removes parts that may make the hub refuse the whole bundle. Returns false if there are none left.
  mutating func removeRarities() -> Bool {
    let before = count
    if member != nil { member = nil } else { lines.removeAll { Self.rarities.contains($0.entry) } }
    return count < before
  }
}
