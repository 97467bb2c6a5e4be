import SatchelJSON
import SatchelPlatform
import SatchelWorkspace

/// `sync`, which both tools have: a stick is plugged in, and one command does both directions.
enum Syncing {
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

  /// - Parameters:
  ///   - name: of this replica.
  ///   - waiting: files of the workspace that can be imported by now.
  ///   - take: imports the bundles that are for us.
  ///   - make: makes what is due. In a rehearsal, what would be.
  static func run(
    _ command: ParsedCommand, _ context: CommandContext, name: String, waiting: [String] = [],
    take: (_ files: [String]) throws -> Answer,
    make: () throws -> [Outgoing]
  ) throws -> Answer {
    let stick = try Stick(command.path(command.argument("DIR")), context.platform)
    let incoming = try stick.bundles(for: name)
    let files = waiting + incoming
    var answer = files.isEmpty ? Answer("Nothing for \(name) on the stick.\n", [:]) : try take(files)
    if files.isEmpty { answer.members = [.init(name: "bundles", value: .array([]))] }
    if !command.dryRun { try removeTaken(incoming, answer, stick) }
    var documents: [JSONValue] = []
    for outgoing in try make() {
      let put = try outgoing.file.map { file in
        try command.dryRun ? true : stick.put(file, behind: outgoing.before, to: outgoing.to, from: name)
      }
      if outgoing.file == nil, outgoing.failure == nil, !command.dryRun { try stick.clear(to: outgoing.to, from: name) }
      answer.text += "For \(outgoing.to): \(outgoing.words)\(put == false ? " It is on the stick already." : "")\n"
      if let failure = outgoing.failure {
        answer.warnings += "\(outgoing.to): \(failure.text)"
        if answer.code == .done { answer.code = .failed }
      }
      documents.append(["to": .string(outgoing.to), "file": .optional(outgoing.file), "put": put.map { .bool($0) } ?? .null])
    }
    let others = try stick.count(notFor: name) - documents.count { $0["file"]?.stringValue != nil }
    if others > 0 { answer.text += "\(Words.count(others, "bundle")) for others stay as they are.\n" }
    if !command.dryRun {
      try stick.explain()
      try stick.sync()
      answer.text += "Done: the stick is safe to remove.\n"
    }
    answer.members.append(.init(name: "outgoing", value: .array(documents)))
    return answer
  }

  /// What was imported, or had been before, needs no carrying any more. What was refused or waits stays.
  private static func removeTaken(_ incoming: [String], _ answer: Answer, _ stick: Stick) throws {
    let bundles = answer.members.first { $0.name == "bundles" }?.value.arrayValue ?? []
    let taken: Set<String> = ["imported", "repeated", "stale", "part"]
    for bundle in bundles {
      guard let file = bundle["file"]?.stringValue, incoming.contains(file), let verdict = bundle["verdict"]?.stringValue,
        taken.contains(verdict)
      else { continue }
      try stick.take(file)
    }
  }

  static func command(
    tool: String,
    _ answer: @escaping @Sendable (_ command: ParsedCommand, _ context: CommandContext) throws -> Answer
  ) -> Command {
    Command(
      ["sync"], summary: "take from a stick what is for us, and put on it what is due",
      discussion: """
        Imports every bundle on the stick that is for this workspace, in the right order; then makes what is due and puts it there, in \
        SATCHEL/TO/FROM/, in the place of older bundles; and takes off what has arrived. What is for others stays. At the end the stick is safe to \
        remove.
        """,
      arguments: [ArgumentSpec("DIR", help: "where the stick is")],
      options: [
        OptionSpec("fingerprint", kind: .value("WORDS"), help: "of the hub's key; for a device's first bundle only"),
        Encrypting.option,
      ],
      examples: [Example("\(tool) sync /media/stick", "Both directions.")], changesData: true, answer: answer)
  }
}
