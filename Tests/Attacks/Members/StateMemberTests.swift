import SatchelBundle
import SatchelJSON
import SatchelValues
import TestSupport
import Testing

/// Digests of rows, with a wrong value in one member. The rest of the bundle is true, so the hub compares the digests
/// with its own rows.
@Suite("Each member of state.json")
struct StateMemberTests {
  private let lab: AttackFixture
  /// True content of `state.json`. The hub has requested all rows of `notes` and `replies`, so an answer may name any
  /// key.
  private let truth: JSONValue
  /// The attacker's last export that its newest emission acknowledges. The hub compares rows as of this export.
  private let acknowledged: Int64

  init() throws {
    lab = try AttackFixture()
    let sums = Array(0..<StateEntry.Table.sumCount)
    truth = try lab.trueAnswers(to: ["notes", "replies"].map { StateEntry.Question(Name($0), sums: sums) })
    acknowledged = try lab.forger.sequence
    // The hub has a request for rows that no emission carries yet.
    try lab.write("UPDATE satchel_proofs SET asked = NULL", in: lab.hub.folder)
  }

  /// The index of the table `replies` in a list of the true content.
  private func place(in list: String) throws -> Int {
    try #require(truth[list]?.arrayValue?.firstIndex { $0["table"] == "replies" })
  }

  private func bundle(_ state: JSONValue) throws -> [UInt8] {
    try lab.forger.bundle {
      $0.state = state
      $0.set("base", .integer(acknowledged))
    }
  }

  /// Whether the hub has compared the digests of the newest `state.json` that it accepted.
  private func isCompared() throws -> Bool {
    try lab.atHub("SELECT 1 FROM satchel_proofs WHERE device = '\(lab.evil.configuration.id)' AND words IS NULL")
      == ["1"]
  }

  @Test(
    "no member of a device's digests changes what its user may not change, and each of them is compared with the rows")
  func tried() throws {
    let reasons = Set(try MemberTests.table().filter { $0.entry == "state.json" }.flatMap(\.reasons))
    let (table, answer) = try ("tables.\(place(in: "tables"))", "answers.\(place(in: "answers"))")
    let sum = try #require(truth.part(at: Self.steps("\(table).sums"))?.objectValue?.first).name
    let before = try Protected(lab, withOwn: true)
    let values = try ForeignValues(lab).all + Self.values
    var compared: Set<String> = []
    for path in [
      "tables", table, "\(table).table", "\(table).columns", "\(table).columns.0", "\(table).rows", "\(table).sums",
      "\(table).sums.\(sum)", "answers", answer, "\(answer).table", "\(answer).sums", "\(answer).sums.0",
      "\(answer).rows", "\(answer).rows.0", "\(answer).rows.0.key", "\(answer).rows.0.digest",
    ] {
      let known = try #require(truth.part(at: Self.steps(path)), "\(path)")
      var changed: [JSONValue?] = values.filter { $0.isLike(known) }
      changed += [.some(.real(1.5)), .none]
      for value in changed {
        let state = try #require(truth.replacing(at: Self.steps(path), by: value))
        let reason = try lab.refusal(of: bundle(state))
        #expect(reason.map(reasons.contains) ?? true, "\(path), \(String(describing: value)): \(reason ?? "")")
        if reason != nil {
          try lab.letGoOn()
        } else if try isCompared() {
          compared.insert(path)
        }
      }
      try #require(before.differences(to: Protected(lab, withOwn: true)) == [], "\(path)")
    }
    let mustBeCompared: Set = [
      "\(table).columns", "\(table).rows", "\(table).sums", "\(table).sums.\(sum)", "answers", "\(answer).table",
      "\(answer).rows", "\(answer).rows.0.key", "\(answer).rows.0.digest",
    ]
    #expect(mustBeCompared.subtracting(compared) == [])
    #expect(try lab.takesTheVictim())
    #expect(try !lab.tellsSecrets(to: "evil"))
  }

  @Test("a hidden row that an answer names is not sent, even if a person has the rows that differ sent again")
  func hidden() throws {
    let path = try "answers.\(place(in: "answers")).rows.0.key"
    let state = try #require(truth.replacing(at: Self.steps(path), by: .string(#"["r2"]"#)))
    #expect(try lab.refusal(of: bundle(state)) == nil)
    #expect(try lab.hub.compare("evil").rows.map(\.key).contains(RowKey([.string("r2")])))
    #expect(lab.tool("compare", "evil", "--repair").code == 0)
    #expect(try !lab.tellsSecrets(to: "evil"))
  }

  /// Values that fit the format of one of the members: keys of hidden rows, a digest, and other tables, columns and
  /// sums.
  private static let values: [JSONValue] = [
    .string(#"["r2"]"#), .string(#"["n4"]"#), .string(String(repeating: "0f", count: 32)), "notes", "trips", "body",
    ["body", "id"], 2, 63,
  ]

  private static func steps(_ path: String) -> ArraySlice<String> { path.split(separator: ".").map { String($0) }[...] }
}

extension JSONValue {
  /// The value at the end of a path. A path consists of member names and list indexes. nil: there is no such value.
  fileprivate func part(at path: ArraySlice<String>) -> JSONValue? {
    guard let step = path.first else { return self }
    switch self {
    case .object: return self[step]?.part(at: path.dropFirst())
    case .array(let elements):
      guard let place = Int(step), elements.indices.contains(place) else { return nil }
      return elements[place].part(at: path.dropFirst())
    default: return nil
    }
  }

  /// A copy of this value, with another value at the end of a path.
  /// - Parameter part: the other value; nil: the value is removed.
  fileprivate func replacing(at path: ArraySlice<String>, by part: JSONValue?) -> JSONValue? {
    guard let step = path.first else { return part }
    switch self {
    case .object(let members):
      return .object(
        members.compactMap { member -> JSONValue.Member? in
          if member.name != step { return member }
          return member.value.replacing(at: path.dropFirst(), by: part).map { .init(name: step, value: $0) }
        })
    case .array(let elements):
      return .array(
        elements.enumerated().compactMap { place, element -> JSONValue? in
          if String(place) != step { return element }
          return element.replacing(at: path.dropFirst(), by: part)
        })
    default: return self
    }
  }
}
