import SatchelJSON
import SatchelPlatform

/// The command `report` of both tools.
enum ReportCommand {
  static func report(
    tool: String, _ make: @escaping @Sendable (_ command: ParsedCommand, _ context: CommandContext) throws -> Report
  ) -> Command {
    Command(
      ["report"], summary: "write the state into a file, as a web page or as CSV",
      discussion: """
        Writes the content of `status`, with the waiting conflicts, the refused files and the newest bundles: for \
        people far away, or for paper. A name that ends in .html gets one page that needs nothing else. A name that \
        ends in .csv gets a line for each cell. The former content of the file is replaced.
        """,
      arguments: [ArgumentSpec("FILE", .many, help: "the files to write, .html or .csv")],
      examples: [Example("\(tool) report monday.html monday.csv", "To print, and for a spreadsheet.")]
    ) { command, context in
      let files = command.arguments("FILE").map { command.path($0) }
      for file in files where !file.hasSuffix(".html") && !file.hasSuffix(".csv") {
        throw UsageError("the name of a report ends in .html or .csv, and this one does not: \(file)")
      }
      let report = try make(command, context)
      for file in files {
        let text = file.hasSuffix(".html") ? report.html : report.csv
        context.platform.files.removeLeftovers(of: file)
        try context.platform.files.replace(file, mode: 0o644, contents: Array(text.utf8))
      }
      return Answer(files.map { "Wrote \($0).\n" as TerminalText }.joined(), ["files": .strings(files)])
    }
  }
}
