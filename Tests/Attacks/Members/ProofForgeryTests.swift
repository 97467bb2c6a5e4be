import SatchelJSON
import SatchelValues
import TestSupport
import Testing

/// Forged answers of a device to the hub's request for rows that differ.
@Suite("Forged answers about rows")
struct ProofForgeryTests {
  private let lab: AttackFixture
  /// The device's true digests and answers. One row of `replies` differs from the hub's row.
  private let truth: JSONValue

  init() throws {
    lab = try AttackFixture()
    truth = try lab.trueAnswers()
  }

  /// The true content, but with changed answers.
  private func state(_ change: (inout [JSONValue]) -> Void) -> JSONValue {
    var (members, answers) = (truth.objectValue ?? [], truth["answers"]?.arrayValue ?? [])
    change(&answers)
    members.set("answers", .array(answers))
    return .object(members)
  }

  /// The true content, but with one more row in its only answer.
  private func state(adding row: JSONValue) -> JSONValue {
    state { answers in
      var answer = answers[0].objectValue ?? []
      answer.set("rows", .array((answers[0]["rows"]?.arrayValue ?? []) + [row]))
      answers[0] = .object(answer)
    }
  }

  private func expectRefused(_ state: JSONValue, _ words: String) throws {
    let before = try Protected(lab)
    let error = try lab.error(of: lab.forger.bundle { $0.state = state })
    #expect(error?.reason == "bad-entry" && error?.message.contains(words) == true, "\(String(describing: error))")
    #expect(try before.differences(to: Protected(lab)) == [])
    #expect(try lab.atHub("SELECT count(*) FROM satchel_different_rows") == ["0"])
  }

  private func row(_ key: String) -> JSONValue {
    ["key": .string(key), "digest": .string(String(repeating: "0f", count: 32))]
  }

  @Test("a true answer is taken, and the row that it names is sent again")
  func truthful() throws {
    #expect(truth["answers"]?.arrayValue?.count == 1)
    #expect(try lab.refusal(of: lab.forger.bundle { $0.state = truth }) == nil)
    #expect(try lab.hub.compare("evil").rows.map(\.key) == [RowKey([.string("r1")])])
    #expect(lab.tool("compare", "evil", "--repair").code == 0)
  }

  @Test("an answer that names a row twice is refused")
  func twice() throws { try expectRefused(state(adding: row(#"["r1"]"#)), "names a row twice") }

  @Test(
    "an answer whose key has another number of values than the table's key is refused", arguments: [#"["r1",1]"#, "[]"])
  func otherKey(key: String) throws { try expectRefused(state(adding: row(key)), "that is no key of the table") }

  @Test("an answer with a row of another sum than it is about is refused")
  func otherSum() throws { try expectRefused(state(adding: row(#"["elsewhere"]"#)), "that is in none of its sums") }

  @Test("an answer about a table whose digests are not there is refused")
  func otherTable() throws {
    try expectRefused(state { $0.append(["table": "zoo", "sums": [1], "rows": []]) }, "an answer about zoo")
  }
}
