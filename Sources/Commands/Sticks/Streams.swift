import SatchelPlatform
import SatchelWorkspace

/// `-` in place of a file: standard input or output, such as the ends of a pipe.
enum Streams {
  static let word = "-"

  /// Gives `body` the path of a bundle that was named on the command line. `-` is standard input.
  /// - Parameter folder: the workspace's folder.
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

  /// Refuses to write a bundle to a terminal.
  static func checkOutput(_ context: CommandContext) throws {
    if context.console.traits.showsOutput {
      throw UsageError("a bundle is not for a terminal: send standard output to a file or a program")
    }
  }
}
