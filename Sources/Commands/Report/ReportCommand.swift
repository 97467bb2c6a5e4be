import SatchelJSON
import SatchelPlatform

/// `report`, which both tools have.
enum ReportCommand {
  static func report(
    tool: String, _ make: @escaping @Sendable (_ command: ParsedCommand, _ context: CommandContext) throws -> Report
  ) -> Command {
    Command(
      ["report"], summary: "write how it stands into a file, as a web page or as CSV",
      discussion: """
        Writes what `status` tells, with the conflicts that wait, the refused files and the newest bundles: for \
        whoever is far away, or for \
        paper. A name that ends in .html gets one page that needs nothing else, one that ends in .csv a line for each \
        cell. What was in the \
        file before is replaced.
        """,
      arguments: [ArgumentSpec("FILE", .many, help: "the files to write, .html or .csv")],
      examples: [Example("\(tool) report monday.html monday.csv", "To print, and for a spreadsheet.")]
    ) { command, context in
      let files = command.arguments("FILE").map { command.path($0) }
      for file in files where !file.hasSuffix(".html") && !file.hasSuffix(".csv") {
        throw UsageError("a report's file ends in .html or .csv, and not so: \(file)")
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
