import Foundation
import SatchelJSON
import SatchelWorkspace
import TestSupport
import Testing

/// The table in `docs/SECURITY.md` lists each member that a device writes. The tests forge bundles for each of these
/// members.
@Suite("Each member of a device's bundle")
struct MemberTests {
  /// A row of the table.
  struct Member {
    let entry: String
    let name: String
    /// The reasons with which the hub may refuse a bundle that has a wrong value in this member.
    let reasons: Set<String>
  }

  static func table() throws -> [Member] {
    let page = try String(contentsOf: PackageFolder.file("docs/SECURITY.md"), encoding: .utf8)
    let section = try #require(page.components(separatedBy: "\n## What a device's bundle may say\n").last)
    return section.components(separatedBy: "\n## ")[0].split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap {
      let cells = $0.split(separator: "|").map(String.init)
      let names = quoted(cells[1])
      return names.map { Member(entry: quoted(cells[0])[0], name: $0, reasons: Set(quoted(cells[4]))) }
    }
  }

  /// The words between back quotes in a text.
  private static func quoted(_ text: String) -> [String] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map {
      String($0.element)
    }
  }

  @Test("the table of docs/SECURITY.md names every member that the schemas know of a device's bundle")
  func complete() throws {
    let named = Dictionary(grouping: try Self.table(), by: \.entry).mapValues { Set($0.map(\.name)) }
    for entry in ForgedEntry.allCases {
      guard let file = entry.schema else { continue }
      let schema = try JSONValue.parse(
        [UInt8](Data(contentsOf: PackageFolder.file("docs/schema/\(file).schema.json"))))
      var properties = schema["properties"]?.objectValue ?? []
      if entry == .manifest { properties += schema["$defs"]?["changes"]?["properties"]?.objectValue ?? [] }
      #expect(properties.count > 4)
      #expect(Set(properties.map(\.name)).subtracting(named[entry.rawValue] ?? []) == [], "\(entry)")
    }
    let schema = try JSONValue.parse(
      [UInt8](Data(contentsOf: PackageFolder.file("docs/schema/manifest.schema.json"))))
    let common = Set((schema["properties"]?.objectValue ?? []).map(\.name))
    for kind in ["volume", "enrolment"] {
      let own = Set((schema["$defs"]?[kind]?["properties"]?.objectValue ?? []).map(\.name)).subtracting(common)
      #expect(own.count > 2 && own.subtracting(named[kind] ?? []) == [], "\(kind)")
    }
  }

  /// `StateMemberTests` tests `state.json` in the same way. It is separate, because the hub compares `state.json` only
  /// under certain conditions.
  @Test(
    """
    no member changes what its device's user may not change, whatever it says: another device's, another user's, the \
    hub's or a random value
    """,
    arguments: ForgedEntry.allCases.filter { $0 != .state })
  func tried(entry: ForgedEntry) throws {
    let lab = try AttackFixture()
    let before = try Protected(lab)
    var count = 0
    for member in try Self.table() where member.entry == entry.rawValue {
      for bundle in try bundles(member, of: entry, in: lab) {
        let reason = try lab.refusal(of: lab.forger.bundle(bundle))
        count += 1
        #expect(reason.map(member.reasons.contains) ?? true, "\(member.name): \(reason ?? "")")
        try lab.letGoOn()
      }
      let changed = try before.differences(to: Protected(lab))
      try #require(changed == [], "\(member.name)")
    }
    #expect(count > 20)
    #expect(try lab.takesTheVictim())
    let undecided = try Protected(lab)
    lab.decideAll()
    #expect(try undecided.changedRows(in: Protected(lab)) == [])
    #expect(try lab.namesTheVictimsFile())
    #expect(try !lab.tellsSecrets(to: "evil"))
  }

  typealias Filling = (inout Forger.Content) throws -> Void

  /// One bundle for each value of a member, and one bundle without the member.
  private func bundles(_ member: Member, of entry: ForgedEntry, in lab: AttackFixture) throws -> [Filling] {
    let values = try ForeignValues(lab).share(for: member.name)
    if entry == .manifest {
      let path = member.name.split(separator: ".").map(String.init)
      return try values.map { value in try manifest(path, value, lab) } + [{ $0.set(path[0], nil) }]
    }
    let samples = try lab.forger.samples(of: entry)
    let known = samples.indices.filter { samples[$0][member.name] != nil }
    let places = known.isEmpty ? [0] : known
    return values.enumerated().map { number, value in
      // This closure makes the line when the bundle is sent. The hub would skip a line of an export that it has already
      // merged.
      {
        let sample = try lab.forger.samples(of: entry)[places[number % places.count]]
        try $0.add(changed(sample, member.name, value), to: entry)
      }
    }
  }

  private func manifest(_ path: [String], _ value: JSONValue, _ lab: AttackFixture) throws -> Filling {
    guard path.count == 2 else { return { $0.set(path[0], value) } }
    return { content in
      let whole = try lab.forger.manifest(of: content, lab.evil.keys.ownKey()).first { $0.name == path[0] }?.value
      var members = whole?.objectValue ?? []
      members.set(path[1], value)
      content.set(path[0], .object(members))
    }
  }

  /// The sample with another value in one member, and with the id that the format then requires.
  private func changed(_ sample: JSONValue, _ name: String, _ value: JSONValue) throws -> JSONValue {
    var members = sample.objectValue ?? []
    members.set(name, value)
    if name != "conflict", sample["device_values"] != nil {
      members.set("conflict", .string(try Forger.conflictID(of: .object(members))))
    }
    return .object(members)
  }
}
