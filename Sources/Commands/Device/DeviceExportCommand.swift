import SatchelDevice
import SatchelJSON
import SatchelPlatform
import SatchelWorkspace

extension DeviceTool {
  static var export: Command {
    Command(
      ["export"], summary: "write the changes made here as a bundle for the hub",
      discussion: """
        Writes everything that the hub has not acknowledged into one signed file in bundles/outbox. Losing the file \
        costs nothing: the next export contains everything again. If nothing is new, no file is written.
        """,
      options: [
        OptionSpec(
          "to", kind: .value("PATH"),
          help: "copy the bundle there too: a stick, a folder or a file; - for standard output"),
        OptionSpec("snapshot", help: "put the whole database into the bundle"),
        OptionSpec("prove", help: "put in digests of all rows, so that the hub can compare its rows with them"),
        Encrypting.option, Medium.plainFolder, Medium.trustSize, AttachedWords.option, BundleSize.option,
      ] + Volumes.options,
      examples: [
        Example("satchel export", "Into bundles/outbox."),
        Example("satchel export --to /media/stick", "And onto a stick."),
        Example("satchel export --size 200K --to /tmp/mail.satchel", "For a satellite link: rows first."),
        Example("satchel export --snapshot --volume-size 700M --to /media/stick", "In pieces that fit on CDs."),
        Example(
          "satchel export --volume-size 1G --parity 20% --to /media/stick", "If there are ten pieces, two may get lost."
        ),
      ], changesData: true
    ) { command, context in
      try command.checkDelivery(to: .folderOrFile, context)
      let workspace = try open(command, context)
      let report = try workspace.export(
        snapshot: command.flag("snapshot"), proof: command.flag("prove"), encryption: command.encryption,
        room: command.bundleRoom())
      if let excess = try BundleSize.excess(of: report.bytes, over: command.bundleSize(), cut: "satchel export") {
        throw excess
      }
      let file = Paths.name(of: report.file)
      let delivered = try command.deliver(
        report.file, of: workspace.configuration, context, unknown: workspace.unknownOwn
      ) {
        try workspace.cut(report, size: $0.size, parity: $0.parity, into: $1)
      }
      let total = report.changes.reduce(0) { $0 + $1.count }
      let tables: TerminalText = total > 0 ? " (\(Words.tables(report.changes)))" : ""
      var text: TerminalText =
        report.isNew
        ? "Export \(report.sequence): \(Words.count(total, "change"))\(tables).\n"
        : "Nothing is new since export \(report.sequence).\n"
      text +=
        AttachedWords.carried(report.attached, left: report.attachedLeft) + AttachedWords.asked(report.attachedLost)
      text += "It is in \(delivered.place(report.file)): carry it to the hub.\n"
      let before = try workspace.carriedBefore().filter { $0 != report.file }
      text += try deliver(before, beside: delivered, command, context, unknown: workspace.unknownOwn)
      var answer = Answer(
        text,
        [
          "new": .bool(report.isNew), "sequence": .integer(report.sequence.rawValue), "file": .string(report.file),
          "name": .string(file), "changes": .tables(report.changes), "conflicts": .integer(Int64(report.conflicts)),
          "files": .integer(Int64(report.attached)), "files_left": .integer(Int64(report.attachedLeft)),
          "files_lost": .integer(Int64(report.attachedLost)), "before": .strings(before),
          "proof": .bool(report.isProved),
        ])
      answer.members += delivered.members
      if delivered.isStreamed { answer.output = report.file }
      return answer
    }
  }

  /// Copies earlier files that the hub needs to the same folder as the newest export. Returns the words for people.
  private static func deliver(
    _ files: [String], beside delivered: Delivered, _ command: ParsedCommand, _ context: CommandContext,
    unknown: Stick.UnknownOwn
  ) throws -> TerminalText {
    if files.isEmpty { return "" }
    let isFolder = try command.value("to").map { try context.platform.isFolder(command.path($0)) } ?? false
    if isFolder, let copy = delivered.copy ?? delivered.volumes.first {
      for file in files {
        try command.checkName(of: file, at: Paths.parent(of: copy), context, unknown)
        _ = try context.platform.deliver(file, to: Paths.parent(of: copy))
      }
    }
    let place = isFolder ? "beside it" : "in bundles/outbox"
    return
      """
      The hub needs \(Words.count(files.count, "more file")) \(place): \
      \(files.map(Paths.name).joined(separator: ", ")).\n
      """
  }
}

extension Platform {
  /// Copies a bundle to the place that a person named: into a folder under its own name, or to a file. Returns the
  /// copy's path.
  func deliver(_ file: String, to path: String) throws -> String {
    let target = try place(of: file, at: path)
    try files.deliver(file, to: target, mode: 0o644)
    return target
  }

  /// The path of the copy of a file. Throws if the folder does not exist.
  func place(of file: String, at path: String) throws -> String {
    if try isFolder(path) { return Paths.join(path, Paths.name(of: file)) }
    guard path.hasSuffix(".satchel"), try isFolder(Paths.parent(of: path)) else {
      throw Stick.noFolder(
        path.hasSuffix(".satchel") ? Paths.parent(of: path) : path, hint: "A file's name ends in .satchel.")
    }
    return path
  }

  /// Whether a path is a folder. Follows a link, because the path of a stick is often a link.
  func isFolder(_ path: String) throws -> Bool { try files.kind(Paths.join(path, ".")) == .directory }
}
