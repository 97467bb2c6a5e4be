import SatchelJSON
import SatchelPlatform
import SatchelWorkspace

/// `sync`, which both tools have: a stick is plugged in, and one command does both directions.
struct Syncing {
  /// What goes onto the stick: a bundle, or a reason why there is none.
  struct Outgoing {
    let to: String
    /// nil: there is nothing that the other side does not have.
    let file: String?
    let words: String
    var failure: Failure?
    /// Bundles that the other side must have before that one.
    var before: [String] = []
  }

  let tool: String
  let isRehearsal: Bool
  /// Of this replica.
  let name: String
  let stick: Stick

  /// - Parameters:
  ///   - folder: where the stick is.
  ///   - name: of this replica.
  init(tool: String, _ command: ParsedCommand, _ context: CommandContext, stick folder: String, name: String) throws {
    self.tool = tool
    self.name = name
    isRehearsal = command.dryRun
    stick = try Stick(folder, context.platform)
  }

  /// From what is imported on, one thing that fails holds up no other, and what was done is told.
  /// - Parameters:
  ///   - waiting: files of the workspace that can be imported by now.
  ///   - take: imports the bundles that are for us, and says which of the files need no carrying any more.
  ///   - make: makes what is due. In a rehearsal, what would be.
  func run(
    waiting: [String] = [], take: (_ files: [String]) throws -> (answer: Answer, taken: [String]),
    make: () throws -> [Outgoing]
  ) throws -> Answer {
    let incoming = try stick.bundles(for: name)
    let files = waiting + incoming
    var (answer, taken) = (Answer("Nothing for \(name) on the stick.\n", ["bundles": .array([])]), [String]())
    if !files.isEmpty {
      do { (answer, taken) = try take(files) } catch {
        let failure = Failure(error)
        // Another program works on the database: the export would wait for it, too.
        if failure.code == .busy || failure.code == .usage { throw error }
        // What stands in the way of an import may be what the export carries.
        answer.text = ""
        tell("", failure, &answer)
      }
    }
    if !isRehearsal { answer.text = brief(answer.text) }
    // What was refused or waits stays.
    if !isRehearsal { attempt(&answer) { _ in try stick.take(taken.filter(incoming.contains)) } }
    var outgoing: [Outgoing] = []
    do { outgoing = try make() } catch  where !files.isEmpty { tell("", Failure(error), &answer) }
    put(outgoing, &answer)
    attempt(&answer) { try finish(&$0) }
    return answer
  }

  private func put(_ outgoing: [Outgoing], _ answer: inout Answer) {
    var text = ""
    let idle = outgoing.count { $0.file == nil && $0.failure == nil }
    var documents: [JSONValue] = []
    for outgoing in outgoing {
      var (put, words) = (nil as Bool?, outgoing.words)
      var failure = outgoing.failure
      do { put = try self.put(outgoing) } catch {
        failure = Failure(error)
        words += " It could not be put on the stick."
      }
      if put == false { words += " It is on the stick already." }
      if idle <= 3 || outgoing.file != nil || failure != nil { text += "For \(outgoing.to): \(words)\n" }
      if let failure { tell("\(outgoing.to): ", failure, &answer) }
      documents.append([
        "to": .string(outgoing.to), "file": .optional(outgoing.file), "put": put.map { .bool($0) } ?? .null,
      ])
    }
    answer.text += brief(text)
    if idle > 3 { answer.text += "Nothing for \(idle) others: they have everything.\n" }
    answer.members.append(.init(name: "outgoing", value: .array(documents)))
  }

  /// Whether a bundle was put on the stick, or would be; nil: there is none.
  private func put(_ outgoing: Outgoing) throws -> Bool? {
    guard let file = outgoing.file else {
      if outgoing.failure == nil, !isRehearsal { try stick.clear(to: outgoing.to, from: name) }
      return nil
    }
    if isRehearsal {
      // What is made only when it is not a rehearsal has no file yet.
      if try stick.platform.files.kind(file) == .file { try stick.checkRoom(for: file) }
      return true
    }
    return try stick.put(file, behind: outgoing.before, to: outgoing.to, from: name)
  }

  private func finish(_ answer: inout Answer) throws {
    let others = try stick.countOfOthers(than: name)
    if others > 0 {
      answer.text +=
        "\(Words.count(others, "bundle")) for others \(others == 1 ? "stays as it is" : "stay as they are").\n"
    }
    if isRehearsal { return }
    try stick.explain()
    try stick.sync()
    answer.text += "Done: the stick is safe to remove.\n"
  }

  private func attempt(_ answer: inout Answer, _ body: (inout Answer) throws -> Void) {
    do { try body(&answer) } catch { tell("", Failure(error), &answer) }
  }

  private func tell(_ before: String, _ failure: Failure, _ answer: inout Answer) {
    answer.warnings += before + failure.text
    if answer.code == .done { answer.code = .failed }
  }

  /// As many lines as leave room on a screen for the others: of more, the first ones and the last.
  private func brief(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    guard lines.count > Self.mostLines else { return text }
    let (first, last) = (lines.prefix(Self.mostLines - 2), lines.suffix(1))
    let more = "... and \(lines.count - first.count - 1) lines more; \(tool) log has them all."
    return (first + [Substring(more)] + last).joined(separator: "\n") + "\n"
  }

  private static let mostLines = 10
}
