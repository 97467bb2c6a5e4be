import SatchelBundle
import SatchelJSON
import SatchelPlatform
import SatchelValues

/// The commands `verify` and `inspect` of both tools. The tools differ in the keys that they trust.
enum BundleCommands {
  /// Verifies a named file and passes it to `look`, which makes the answer.
  typealias Verify =
    @Sendable (
      _ file: String, ParsedCommand, CommandContext, _ look: (borrowing VerifiedBundle) throws -> Answer
    ) throws -> Answer

  static func verify(tool: String, _ verify: @escaping Verify) -> Command {
    Command(
      ["verify"], summary: "check that a bundle is complete, and who signed it",
      discussion: """
        Checks the signature and every digest of a bundle, and imports nothing. The signature must be \
        by a key that this workspace trusts.
        """,
      arguments: [ArgumentSpec("FILE", help: "the bundle; - for standard input")],
      examples: [Example("\(tool) verify survey-hub-tablet-1-4.satchel", "Checks that the hub wrote this file.")]
    ) { command, context in
      let file = command.argument("FILE")
      return try verify(file, command, context) { bundle in
        let view = BundleView(bundle)
        return Answer(
          "\(file) is whole, and signed by a key that is trusted here.\n" + view.text(by: context.platform.clock),
          view.members)
      }
    }
  }

  static func inspect(tool: String, _ verify: @escaping Verify) -> Command {
    Command(
      ["inspect"], summary: "show what a bundle carries",
      discussion:
        "Verifies a bundle, then shows from whom and for whom it is and what it changes, by table. Imports nothing.",
      arguments: [ArgumentSpec("FILE", help: "the bundle; - for standard input")],
      options: [OptionSpec("rows", help: "show each row too: + new, - removed, ~ changed, = as it is")],
      examples: [Example("\(tool) inspect --rows survey-tablet-1-hub-3.satchel", "Shows what tablet-1 changed.")]
    ) { command, context in
      try verify(command.argument("FILE"), command, context) { bundle in
        let view = BundleView(bundle)
        let content = try BundleContent(bundle, withRows: command.flag("rows"))
        var answer = Answer(view.text(by: context.platform.clock) + content.text, view.members)
        answer.members.append(.init(name: "tables", value: content.json))
        answer.members.append(
          .init(
            name: "migrations",
            value: .array(content.migrations.map { ["version": .integer($0.version), "sql": .string($0.sql)] })))
        answer.members.append(
          .init(
            name: "entries",
            value: .array(bundle.entryList.map { ["name": .string($0.name.rawValue), "bytes": .integer($0.bytes)] })))
        if command.flag("rows") { answer.members.append(.init(name: "rows", value: .array(content.rowDocuments))) }
        return answer
      }
    }
  }
}
