import SatchelPlatform
import SatchelValues

/// Chooses the stick for a `sync` command that names no stick.
struct StickChoice {
  private let tool: String
  private let directory: String
  /// The media that are plugged in, in the order of their paths.
  private let sticks: [PluggedStick]

  init(tool: String, for command: ParsedCommand, _ platform: Platform) throws {
    (self.tool, directory) = (tool, command.directory)
    sticks = try PluggedStick.all(besides: directory, platform)
  }

  /// The path of the only stick with a folder SATCHEL, or of the only stick. Throws a `WorkspaceError` if no stick is
  /// plugged in, and a `UsageError` if a person must choose.
  func path() throws -> String {
    guard let stick = candidates.first else {
      throw WorkspaceError(
        .notMounted, "No stick is plugged in, or this machine has not mounted it yet.",
        hint: "Plug the stick in, and open it once. Then repeat the command. For a folder: \(command(for: "DIR"))")
    }
    if candidates.count == 1 { return stick.path }
    throw UsageError(
      "\(sticks.count) sticks are plugged in, and the command names none",
      hint: "Type one of these:\n" + sticks.map { command(for: $0.path) }.joined(separator: "\n"))
  }

  /// The words that say which stick was chosen, and which other media are plugged in.
  func words(for chosen: String) -> TerminalText {
    let others = sticks.map(\.path).filter { $0 != chosen }
    if others.isEmpty { return "The stick is \(chosen).\n" }
    return """
      The stick is \(chosen): no other has a folder \(StickLayout.folderName). Not used: \
      \(others.joined(separator: ", ")).

      """
  }

  /// The sticks that the person may mean. Sticks that carry bundles come before media for other things.
  private var candidates: [PluggedStick] {
    let used = sticks.filter(\.isUsed)
    return used.isEmpty ? sticks : used
  }

  /// The command as a person types it for one stick.
  private func command(for stick: String) -> String {
    let place = directory == "." ? "" : "-C \(Words.typed(directory)) "
    return "\(tool) \(place)sync \(Words.typed(stick))"
  }
}
