import SatchelPlatform
import SatchelWorkspace

/// `-` in a file's place: standard input or output, such as the ends of a pipe.
enum Streams {
  static let word = "-"

  /// Lets `body` have the path of a bundle that was named on the command line, `-` among the names.
  /// - Parameter folder: of the workspace that it is for.
  static func with<T>(
    _ typed: String, _ command: ParsedCommand, _ context: CommandContext, in folder: WorkspaceFolder,
    _ body: (_ path: String) throws -> T
  ) throws -> T {
    guard typed == word else { return try body(command.path(typed)) }
    var arriving = try ArrivingFiles(in: folder, platform: context.platform)
    return try body(try arriving.take("standard-input.satchel") { try context.console.readBytes(1 << 20) })
  }

  /// Copies a file to standard output.
  static func write(_ path: String, _ context: CommandContext) throws {
    let files = context.platform.files
    let fd = try files.open(path)
    defer { files.close(fd) }
    var pieces = files.pieces(of: fd)
    while let piece = try pieces.next() { try context.console.outBytes(piece) }
  }

  /// Refuses to write a bundle to where a person reads.
  static func checkOutput(_ context: CommandContext) throws {
    if context.console.traits.showsOutput {
      throw UsageError("a bundle is nothing for a terminal: lead standard output into a file or a program")
    }
  }
}
