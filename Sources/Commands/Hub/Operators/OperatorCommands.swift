import SatchelCrypto
import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues

extension HubTool {
  static var operators: [Command] { [addOperator, listOperators, removeOperator, acts] }

  private static var addOperator: Command {
    Command(
      ["operator", "add"], summary: "add a person who decides at this hub, with a key of their own",
      discussion: """
        If a hub has operators, each decision, change of rights, revert and revocation needs the name of one of them: \
        --operator NAME, or SATCHEL_OPERATOR. The operator signs the act with the key in keys/operators. The hub \
        records it in the same transaction as its effect. See acts, and audit.

        A decision about a conflict has the operator's name in its note, and travels with it. If a password protects \
        the hub's keys, it protects the operator's key too. Backups do not contain the keys of operators.
        """,
      arguments: [ArgumentSpec("NAME", help: "the operator's name: letters, digits, - and _")],
      examples: [Example("satchel-hub operator add mia", "From now on, decisions need a name.")], changesData: true
    ) { command, context in
      let added = try open(command, context).addOperator(command.argument("NAME"))
      return Answer("Added the operator \(added.name). Next: --operator \(added.name)\n", ["operator": json(added)])
    }
  }

  private static var listOperators: Command {
    Command(
      ["operator", "list"], summary: "show the operators of this hub",
      discussion: "Shows who may decide at this hub, and the fingerprints of their keys.",
      examples: [Example("satchel-hub operator list", "Shows the operators.")]
    ) { command, context in
      let found = try open(command, context).operators()
      let rows = found.map { person in
        [person.name, person.key?.fingerprint ?? "", context.platform.clock.localText(milliseconds: person.added)]
      }
      let table = StatusSheet.Table(titles: ["Operator", "Fingerprint", "Since"], rows: rows)
      return Answer(
        found.isEmpty ? "This hub has no operators.\n" : table.text, ["operators": .array(found.map(json))])
    }
  }

  private static var removeOperator: Command {
    Command(
      ["operator", "remove"], summary: "end the rights of an operator",
      discussion: "Deletes the operator's secret key. The acts of the operator stay, and can be verified as before.",
      arguments: [ArgumentSpec("NAME", help: "the operator's name")],
      examples: [Example("satchel-hub operator remove mia --operator tom", "Mia does not decide any more.")],
      changesData: true
    ) { command, context in
      let removed = try open(command, context).removeOperator(command.argument("NAME"))
      return Answer("Removed the operator \(removed.name). The acts stay.\n", ["operator": json(removed)])
    }
  }

  private static var acts: Command {
    Command(
      ["acts"], summary: "show what the operators did, the newest first",
      discussion: """
        Shows who did what, when and why. Each act is signed by its operator and has the digest of the act before it. \
        audit verifies the whole record.
        """,
      options: [OptionSpec("limit", kind: .value("NUMBER"), help: "how many (50)")],
      examples: [Example("satchel-hub acts --limit 10", "The last ten acts.")]
    ) { command, context in
      guard let limit = Int64(command.value("limit") ?? "50"), limit > 0 else {
        throw UsageError("--limit takes a number")
      }
      let found = try open(command, context).acts(limit: limit)
      let table = StatusSheet.Table(
        titles: ["Act", "When", "Who", "Did", "Why"], numbers: [0],
        rows: found.map { act in
          [
            String(act.number), context.platform.clock.localText(milliseconds: act.at), act.who,
            ([act.draft.what] + act.draft.about).joined(separator: " "), act.draft.why ?? "",
          ]
        })
      return Answer(
        found.isEmpty ? "No operator did anything yet.\n" : table.text, ["acts": .array(found.map(json))])
    }
  }

  private static func json(_ person: Operator) -> JSONValue {
    [
      "name": .string(person.name), "fingerprint": .optional(person.key?.fingerprint), "added": .time(person.added),
      "removed": .time(person.removed),
    ]
  }

  private static func json(_ act: Act) -> JSONValue {
    [
      "number": .integer(act.number), "at": .time(act.at), "operator": .string(act.who),
      "did": .string(act.draft.what), "about": .strings(act.draft.about), "why": .optional(act.draft.why),
    ]
  }
}
