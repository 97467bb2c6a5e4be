import SatchelJSON
import SatchelPlatform
import SatchelWorkspace

/// The command `watch`: waits for sticks, and syncs with each stick.
struct Watch {
  /// The most visits in the JSON document. A visit is one sync with one stick.
  private static let mostKept = 100

  private let command: ParsedCommand
  private let context: CommandContext
  private let sync: SyncCommands.Sync
  private let folder: String
  private let pause: Int64
  private var sticks: AppearingSticks
  /// The last visits, for the JSON document.
  private var visits: [JSONValue] = []
  private var count: Int64 = 0
  private var failures: Int64 = 0
  /// The last reported trouble of each path. With it, the same trouble is reported only once.
  private var lastTrouble: [String: TerminalText] = [:]

  init(_ command: ParsedCommand, _ context: CommandContext, sync: @escaping SyncCommands.Sync) throws {
    guard let seconds = Int64(command.value("every") ?? "2"), (1...3600).contains(seconds) else {
      throw UsageError("--every takes a number of seconds, from 1 to 3600")
    }
    folder = command.path(command.argument("DIR"))
    (self.command, self.context, self.sync) = (command, context.confined(below: folder), sync)
    pause = seconds * 1000
    sticks = AppearingSticks(in: folder, self.context.platform)
  }

  /// Syncs once with every stick that is there now.
  mutating func once() throws -> Answer {
    guard try context.platform.isFolder(folder) else { throw Stick.noFolder(folder) }
    var code = ExitCode.done
    for stick in try sticks.appeared() {
      let visited = visit(stick)
      if code == .done { code = visited }
    }
    return answer(count == 0 ? "There is no stick in \(folder).\n" : "", code)
  }

  /// Syncs with each stick that appears, until a person or the system requests the end.
  mutating func run() throws -> Answer {
    let isThere = try context.platform.isFolder(folder)
    say("Watching \(folder) for sticks\(isThere ? "" : ", which is not there yet"). Ctrl-C ends it.\n")
    var isAsked = try context.endRequest.comes(within: 0)
    while !isAsked {
      for stick in appeared() where !isAsked {
        if visit(stick) == .busy { sticks.forget(stick) }
        isAsked = try context.endRequest.comes(within: 0)
      }
      if !isAsked { isAsked = try context.endRequest.comes(within: pause) }
    }
    let trouble = failures > 0 ? ", \(failures) of them with trouble" : ""
    return answer("Ended after \(Words.count(count, "visit"))\(trouble).\n", .done)
  }

  private func answer(_ text: TerminalText, _ code: ExitCode) -> Answer {
    Answer(text, ["visits": .integer(count), "failures": .integer(failures), "sticks": .array(visits)], code: code)
  }

  /// The sticks that appeared. If the folder cannot be read now, the result is empty, because the folder may be
  /// readable at the next look.
  private mutating func appeared() -> [String] {
    do {
      let found = try sticks.appeared()
      lastTrouble[folder] = nil
      return found
    } catch {
      complain(Failure(error), about: folder)
      return []
    }
  }

  private mutating func visit(_ stick: String) -> ExitCode {
    say("\n\(context.platform.clock.localText(milliseconds: context.platform.clock.milliseconds())) \(stick)\n")
    count += 1
    do {
      let answer = try sync(stick, command, context)
      say(answer.text)
      if !answer.warnings.isEmpty { context.console.warn(answer.warnings) }
      say(answer.closing)
      keep([.init(name: "ok", value: .bool(answer.code == .done))] + answer.members, answer.code)
      lastTrouble[stick] = nil
      return answer.code
    } catch {
      let failure = Failure(error)
      complain(failure, about: stick)
      keep(
        [
          .init(name: "ok", value: false), .init(name: "stick", value: .string(stick)),
          .init(name: "error", value: failure.json),
        ], failure.code)
      return failure.code
    }
  }

  private mutating func keep(_ document: [JSONValue.Member], _ code: ExitCode) {
    if code != .done { failures += 1 }
    visits.append(.object(document))
    if visits.count > Self.mostKept { visits.removeFirst() }
  }

  /// Reports a failure once, even if it occurs at every look.
  private mutating func complain(_ failure: Failure, about path: String) {
    if lastTrouble[path] != failure.text { context.console.warn("\(path): \(failure.text)") }
    lastTrouble[path] = failure.text
  }

  private func say(_ text: TerminalText) {
    if !command.json, !command.quiet { context.console.show(text) }
  }
}
