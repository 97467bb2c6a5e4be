import SatchelPlatform

/// Long work that a form of the console begins.
struct ConsoleTask: PageTask {
  /// The work in a few words, such as `Sync the stick BLUE`.
  let title: String
  /// The page from which the work was begun.
  let place: ConsolePlace
  /// Words before the result, if the exit code says that the work failed.
  var ifFailed = "It was not done. The reason:"
  /// The next steps after the result, such as links.
  var next: @Sendable (ExitCode) -> Markup = { _ in "" }
  /// Does the work, and writes the result to the terminal of the context.
  let body: @Sendable (CommandContext) throws -> ExitCode

  func run(_ context: CommandContext) throws -> ExitCode { try body(context) }
}

extension ConsoleTask {
  /// Makes a task that runs a command of `satchel-hub` on the hub of the console. The task prints the same texts and
  /// refusals as the command.
  /// - Parameters:
  ///   - words: the command line, without `-C`. Words from a form come after `=` or after `--`, so that they cannot be
  ///     options.
  ///   - console: the command line of the console.
  init(
    _ title: String, at place: ConsolePlace, words: [String], on console: ParsedCommand,
    ifFailed: String = "It was not done. The reason:",
    next: @escaping @Sendable (ExitCode) -> Markup = { _ in "" }
  ) {
    let line = console.wordsOfWorkspace + words
    self.init(title: title, place: place, ifFailed: ifFailed, next: next) { context in
      var context = context
      return HubTool.spec.run(line, context: &context, console: context.console) { failure, context in
        let failure = Failure(failure.error)
        context.console.warn(failure.text)
        return failure.code
      }
    }
  }
}
