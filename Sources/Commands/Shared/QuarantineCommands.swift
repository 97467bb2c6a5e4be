import SatchelJSON
import SatchelWorkspace

/// The commands `quarantine`. They list the refused files, say whether a file is still needed, and remove files.
struct QuarantineCommands {
  let tool: String
  let list: @Sendable (ParsedCommand, CommandContext) throws -> [Quarantine.Refused]
  /// Removes the files with these names, or all files if nil. Returns the removed files.
  let drop: @Sendable ([String]?, ParsedCommand, CommandContext) throws -> [Quarantine.Refused]

  var all: [Command] { [listing, dropping] }

  private var listing: Command {
    let list = list
    return Command(
      ["quarantine", "list"], summary: "show which files were refused, and why",
      discussion: """
        A refused file is copied to bundles/quarantine. At most \(Quarantine.mostFiles) files and \
        \(Quarantine.mostBytes >> 30) GiB are kept there, and \(Quarantine.mostFilesOfOne) of one signer. \
        Later refused files stay in their place. compact deletes files that were refused \(Quarantine.days) days ago.
        """,
      examples: [Example("\(tool) quarantine list", "Lists the refused files.")]
    ) { command, context in
      let refused = try list(command, context)
      var table = TextTable(["FILE", "SIZE", "WHY"])
      for file in refused { table.add([file.file, "\(file.bytes >> 10) KiB", file.presentWords]) }
      var text: TerminalText =
        refused.isEmpty ? "Nothing was refused.\n" : table.text(width: context.console.traits.width)
      let isFull = Quarantine.isFull(refused.map(\.bytes))
      if isFull {
        text += "No more files can be kept. Delete the files that you have dealt with: \(tool) quarantine drop FILE\n"
      }
      return Answer(text, ["refused": StatusSheet.json(refused), "full": .bool(isFull)])
    }
  }

  private var dropping: Command {
    let drop = drop
    return Command(
      ["quarantine", "drop"], summary: "delete refused files",
      discussion: """
        Deletes files from bundles/quarantine, with the words beside them. There may be no other copy of them.
        """,
      arguments: [ArgumentSpec("FILE", .zeroOrMore, help: "a file's name, as quarantine list shows it")],
      options: [OptionSpec("all", help: "all of them"), Confirmation.yes],
      examples: [Example("\(tool) quarantine drop --all --dry-run", "Shows how much would go.")], changesData: true
    ) { command, context in
      let names = command.arguments("FILE")
      guard names.isEmpty == command.flag("all") else {
        throw UsageError("Name the files to delete, or give --all.")
      }
      try Confirmation.ask("Refused files are deleted for good. Go on?", command, context)
      let dropped = try drop(names.isEmpty ? nil : names, command, context)
      let bytes = dropped.reduce(0) { $0 + $1.bytes }
      return Answer(
        "\(command.dryRun ? "Would delete" : "Deleted") \(Words.count(dropped.count, "file")), \(bytes >> 10) KiB.\n",
        ["dropped": .strings(dropped.map(\.file)), "bytes": .integer(bytes)])
    }
  }
}
