import SatchelBundle
import SatchelDevice
import SatchelHub
import SatchelJSON
import SatchelSQLite
import SatchelWorkspace
import TestSupport

/// True content for `state.json`, which the attacker's device itself makes. The hub does not import the bundles from
/// which it is taken.
extension AttackFixture {
  /// The digests of all rows, without answers to requests of the hub.
  func trueTables() throws -> JSONValue { try stateEntry(of: evil.export(proof: true).file) }

  /// The digests of all rows, and answers to the hub's request for rows. One row of `replies` differs from the hub's
  /// row.
  /// - Parameter questions: the sums for which the hub requests rows; nil: the sums that differ.
  func trueAnswers(to questions: [StateEntry.Question]? = nil) throws -> JSONValue {
    let database = try Database(path: evil.folder.path("data.sqlite"), mode: .readWrite)
    try database.withoutTriggers { try database.execute("UPDATE replies SET body = 'other' WHERE id = 'r1'") }
    tick()
    _ = try hub.importBundle(evil.export(proof: true).file)
    _ = try hub.compare("evil")
    if let questions {
      let text = StateEntry.Question.text(of: questions)
      try write("UPDATE satchel_proofs SET questions = '\(text)' WHERE result = 'differs'", in: hub.folder)
    }
    _ = try evil.importBundle(hub.emit(to: "evil").file)
    tick()
    return try stateEntry(of: evil.export().file)
  }

  private func stateEntry(of file: String) throws -> JSONValue {
    try JSONValue.parse(
      StockTool.bash("-euc", "zstd -dc '\(file)' | tar -xO state.json", in: folder.path).output)
  }
}
