import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The programs in a workspace's folder `hooks/`. A command starts them after its work is done and committed.
///
/// Each program gets one JSON document on standard input. A hook that fails does not undo the command's work.
struct Hooks {
  enum Event: String, CaseIterable {
    /// Bundles were imported.
    case afterImport = "after-import"
    /// A stick was synced.
    case afterSync = "after-sync"
    /// An import found new conflicts.
    case onConflict = "on-conflict"
    /// A bundle or another file was refused.
    case onRefused = "on-refused"
  }

  /// The longest time for a hook, in milliseconds. A slow line may need it, but the command must not wait forever.
  private static let longest: Int64 = 300_000
  private static let folderName = "hooks"
  private static let variable = "SATCHEL_HOOK"

  private let folder: WorkspaceFolder
  private let platform: Platform

  /// - Parameter root: the workspace's folder.
  init(in root: String, _ platform: Platform) {
    folder = WorkspaceFolder(root)
    self.platform = platform
  }

  /// Runs the hooks for the events of an answer, one after another. If a hook fails, the answer has a warning, and its
  /// exit code says that only a part was done.
  static func run(
    after answer: Answer, isSync: Bool = false, _ command: ParsedCommand, _ context: CommandContext
  ) -> Answer {
    // A dry run runs no hooks. If a hook started this command, the command runs no hooks either, because that could go
    // on forever.
    if command.dryRun || context.console.environment(Self.variable) != nil { return answer }
    let hooks = Hooks(in: command.directory, context.platform)
    var answer = answer
    let failures = hooks.run(events(of: answer, isSync: isSync), answer.members)
    if failures.isEmpty { return answer }
    answer.warnings += failures.map { "The hook \($0)\n" as TerminalText }.joined()
    answer.members.append(.init(name: "hook_failures", value: .strings(failures)))
    if answer.code == .done {
      answer.code = .partial
      if !answer.closing.isEmpty { answer.closing = "Not everything was done: see above.\n" }
    }
    return answer
  }

  /// Runs the programs of some events, one after another. If a person ends a program, the others do not run. Returns
  /// the failures.
  private func run(_ events: [Event], _ members: [JSONValue.Member]) -> [String] {
    var failures: [String] = []
    for event in events {
      do {
        if let fault = try fault(of: event) {
          failures.append("\(event.rawValue): \(fault)")
          continue
        }
        guard let end = try run(event, members) else { continue }
        if let words = words(event, end) { failures.append(words) }
        if end == .interrupted { break }
      } catch {
        failures.append("\(event.rawValue): \(Failure(error).message)")
      }
    }
    return failures
  }

  /// The events that an answer of `import`, `apply` or `sync` reports.
  private static func events(of answer: Answer, isSync: Bool) -> [Event] {
    let document = JSONValue.object(answer.members)
    let bundles = document["bundles"]?.arrayValue ?? []
    let verdicts = bundles.compactMap { $0["verdict"]?.stringValue }
    let wereRefused = verdicts.contains("refused") || document["refused"]?.arrayValue?.isEmpty == false
    return Event.allCases.filter { event in
      switch event {
      case .afterImport: verdicts.contains { ["imported", "collected"].contains($0) }
      case .afterSync: isSync
      case .onConflict: bundles.contains { $0["found"]?.arrayValue?.isEmpty == false }
      case .onRefused: wereRefused
      }
    }
  }

  /// Runs the program of an event. Returns how it ended; nil: there is no such program.
  private func run(_ event: Event, _ members: [JSONValue.Member]) throws -> ProgramEnd? {
    let files = platform.files
    let here = try files.currentDirectory()
    let place = Paths.absolute(folder.path(Self.folderName), currentDirectory: here)
    let path = Paths.join(place, event.rawValue)
    guard try files.kind(path) != nil else { return nil }
    guard try files.permissions(place) & 0o022 == 0 else {
      throw WorkspaceError(
        .openFolder, "Others can put programs into the folder \(place).",
        hint: "See that each file in it is yours (ls -l). Then run: chmod 755 \(place)")
    }
    let root = Paths.absolute(folder.root, currentDirectory: here)
    let document: JSONValue = [
      "hook": .string(event.rawValue), "workspace": .string(root), "answer": .object(members),
    ]
    let (input, fd) = try files.createTemporary(in: folder.inbox, for: Self.folderName, mode: 0o600)
    func remove() { try? files.remove(input) }
    defer { remove() }
    do {
      defer { files.close(fd) }
      try files.write(fd, document.prettyBytes)
    }
    // The input file is removed once it is open, before the program runs. So no file stays if this command is killed
    // meanwhile.
    return try platform.programs.run(
      Program(
        path: path, input: Paths.absolute(input, currentDirectory: here),
        variables: ["\(Self.variable)=\(event.rawValue)", "SATCHEL_WORKSPACE=\(root)"], longest: Self.longest),
      opened: remove)
  }

  /// Why the file of an event cannot be run. nil if it can be run, or if there is none.
  private func fault(of event: Event) throws -> String? {
    let path = folder.path(Paths.join(Self.folderName, event.rawValue))
    switch try platform.files.kind(path) {
    case nil: return nil
    case .file:
      if try platform.files.permissions(path) & 0o111 != 0 { return nil }
      return "\(path) is not executable. If you wrote it, run: chmod 755 \(path)"
    case .directory: return "\(path) is a folder. Only a program with this name is run."
    case .link: return "\(path) is a link. Put the program itself in its place."
    case .other: return "\(path) is no file. Only a program with this name is run."
    }
  }

  private func words(_ event: Event, _ end: ProgramEnd) -> String? {
    switch end {
    case .exited(0): nil
    case .exited(let code): "\(event.rawValue) ended with the code \(code)."
    case .killed(let signal): "\(event.rawValue) was killed by the signal \(signal)."
    case .interrupted: "\(event.rawValue) was ended on request. Later hooks did not run."
    case .overdue: "\(event.rawValue) took more than \(Words.span(Self.longest)), and was killed."
    }
  }
}
