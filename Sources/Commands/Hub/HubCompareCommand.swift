import SatchelBundle
import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues

extension HubTool {
  static var compare: Command {
    Command(
      ["compare"], summary: "list the rows that differ between a device and the hub",
      discussion: """
        Every few exports a device sends digests of its rows, and the hub compares them with the rows that the device \
        should have. If they differ, this command requests the rows from the device: the next bundle for the device \
        carries the question, and its next export the answer. After that the command lists the rows.

        With --repair, the next bundle for the device carries these rows as the hub has them. The device keeps its own \
        values as conflicts, so nothing is overwritten without a trace.
        """,
      arguments: [ArgumentSpec("DEVICE", help: "the device's name")],
      options: [OptionSpec("repair", help: "send the rows that differ again")],
      examples: [
        Example("satchel-hub compare tablet-1", "Lists the rows that differ."),
        Example("satchel-hub compare tablet-1 --repair", "Send them again."),
      ], changesData: true
    ) { command, context in
      let (hub, name) = (try open(command, context), command.argument("DEVICE"))
      let found = try command.flag("repair") ? hub.repairDifferences(of: name) : hub.compare(name)
      return Answer(
        text(found),
        [
          "device": .string(found.device), "proof": json(found.proof),
          "rows": .array(
            found.rows.map {
              ["table": .string($0.table.text), "key": .key($0.key), "kind": .string($0.kind.rawValue)]
            }), "repaired": .optional(found.repaired.map { Int64($0) }),
        ])
    }
  }

  private static func text(_ found: StateComparison) -> TerminalText {
    let name = found.device
    guard let proof = found.proof else { return "The device \(name) has not sent digests of its rows yet.\n" }
    if let count = found.repaired {
      return
        """
        \(Words.count(count, "row")) will be sent to \(name) again, with the next bundle: satchel-hub emit --device \
        \(name)\n
        """
    }
    guard proof.result == .differs else { return "The hub knows no row of \(name) that differs.\n" }
    if found.rows.isEmpty, let words = proof.words {
      return """
        The rows that differ are not known: \(words). To send all rows again: satchel-hub emit --device \(name) \
        --full\n
        """
    }
    if found.rows.isEmpty {
      return "The next bundle for \(name) asks which rows differ: satchel-hub emit --device \(name)\n"
    }
    var table = TextTable(["TABLE", "ROW", "WHERE"])
    for row in found.rows { table.add([row.table.text, Words.key(row.key), words(row.kind)]) }
    return table.text(width: nil) + "To send these rows again: satchel-hub compare \(name) --repair\n"
  }

  private static func words(_ kind: DifferentRow.Kind) -> String {
    switch kind {
    case .onlyAtHub: "only at the hub"
    case .onlyOnDevice: "only on the device"
    case .different: "different"
    }
  }

  /// The result of a comparison of a device's rows, in a few words.
  static func words(_ proof: StateProof?, _ now: Int64) -> String {
    guard let proof else { return "never" }
    switch proof.result {
    case .verified: return Words.age(of: proof.verified, now: now)
    case .differs: return "differs"
    case .unknown: return proof.verified.map { Words.age(of: $0, now: now) } ?? "not yet"
    }
  }

  static func json(_ proof: StateProof?) -> JSONValue {
    guard let proof else { return .null }
    return [
      "result": .string(proof.result.rawValue), "at": .time(proof.at), "sequence": .integer(proof.sequence.rawValue),
      "emission": .integer(proof.emission.rawValue), "verified": .time(proof.verified), "words": .optional(proof.words),
      "asking": .bool(proof.isAsking),
      "differences": .array(
        proof.differences.map {
          [
            "table": .string($0.table.text), "sums": .array($0.sums.map { .integer(Int64($0)) }),
            "rows_here": .integer($0.rowsHere), "rows_there": .integer($0.rowsThere),
          ]
        }),
    ]
  }
}
