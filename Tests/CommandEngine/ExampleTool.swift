import SatchelCommands
import SatchelValues

/// Records what the commands of the example tool did.
struct Trace {
  var calls: [ParsedCommand] = []
  var failures: [CommandFailure] = []
}

struct Refusal: Error {}

private func command(
  _ path: String, _ summary: String, arguments: [ArgumentSpec] = [], options: [OptionSpec] = [],
  examples: [Example] = [],
  changesData: Bool = false,
  run: @escaping CommandSpec<Trace>.Run = { parsed, trace in
    trace.calls.append(parsed)
    return .done
  }
) -> CommandSpec<Trace> {
  CommandSpec(
    path.split(separator: " ").map(String.init), summary: summary, discussion: "Does what it says.",
    arguments: arguments,
    options: options, examples: examples, changesData: changesData, run: run)
}

/// An example tool with one command of each kind.
let bag = ToolSpec<Trace>(
  name: "bag", summary: "carries things where there is no network", version: "1.2",
  commands: [
    command("status", "what is in the bag"),
    CommandSpec(
      ["pack"], summary: "puts things into the bag",
      discussion: """
        Puts each THING into the bag, in the order given, and prints what it weighs then. A thing
        that is in the bag already is left as it is.

        A bag that is too heavy is refused whole:
          nothing is put into it.
        """,
      arguments: [
        ArgumentSpec("THING", .many, help: "what to carry"), ArgumentSpec("POCKET", help: "where to put it"),
      ],
      options: [
        OptionSpec(
          "to", short: "t", kind: .value("PATH"),
          help: "the bag, if it is not the one that hangs at the door, which it "
            + "nearly always is"),
        OptionSpec("fold", help: "fold them first"),
        OptionSpec("label", kind: .value("NAME=VALUE"), help: "what to write on it", repeatable: true),
      ],
      examples: [
        Example("bag pack shirt sock --fold left", "Puts a folded shirt and a folded sock into the left pocket."),
        Example(
          "bag pack --label owner=asha --label season=winter shirt sock hat scarf gloves left", "Labels what it packs."),
      ], changesData: true,
      run: { parsed, trace in
        trace.calls.append(parsed)
        return .done
      }),
    command(
      "user add", "makes a user",
      arguments: [ArgumentSpec("NAME", help: "n"), ArgumentSpec("ATTR=VALUE", .zeroOrMore, help: "a")]),
    command("user list", "who there is"),
    command("conflicts", "conflicts that are not settled"),
    command("conflicts show", "one of them", arguments: [ArgumentSpec("ID", .optional, help: "which")]),
    command(
      "device provision", "makes a device", arguments: [ArgumentSpec("NAME", help: "n")],
      options: [OptionSpec("user", kind: .value("U"), help: "whose", required: true)]),
    command("refuse", "throws", run: { _, _ in throw Refusal() }),
    command("judge", "throws a usage error", run: { _, _ in throw UsageError("the value is odd") }),
  ])

extension ToolSpec<Trace> {
  /// Parses these words, and returns the command that they select.
  func parsed(_ words: String) throws -> ParsedCommand {
    guard case .run(_, let parsed) = try parse(words.split(separator: " ").map(String.init)) else { throw Refusal() }
    return parsed
  }

  func usageError(_ words: String) -> UsageError? {
    do throws(UsageError) {
      _ = try parse(words.split(separator: " ", omittingEmptySubsequences: true).map(String.init))
      return nil
    } catch {
      return error
    }
  }
}
