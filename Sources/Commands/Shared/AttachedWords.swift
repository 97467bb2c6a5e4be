import SatchelJSON
import SatchelWorkspace

/// Words about attached files: the files that a bundle carries, that came, or that are missing.
enum AttachedWords {
  static let option = OptionSpec(
    "files-size", kind: .value("SIZE"),
    help: "at most SIZE of attached files, such as 500M; later bundles carry the others")

  /// The most files that `status` names. `--json` names all files.
  static let mostShown = 5

  static func carried(_ count: Int, left: Int) -> TerminalText {
    if count == 0, left == 0 { return "" }
    let more = left == 0 ? "" : "; \(Words.count(left, "file"))for the next bundles"
    return "\(Words.count(count, "file")) along with it\(more).\n"
  }

  /// The files that stayed behind, because the bundle has no room for them.
  static func left(_ count: Int) -> String {
    if count == 0 { return "" }
    return count == 1
      ? " 1 file stays behind, because it does not fit. A later bundle takes it."
      : " \(count) files stay behind, because they do not fit. A later bundle takes them."
  }

  /// The files that an export requests, in words.
  static func asked(_ count: Int) -> TerminalText {
    count == 0
      ? "" : "It requests \(Words.count(count, "file")) that \(count == 1 ? "is" : "are") missing from files/ here.\n"
  }

  static func came(_ count: Int, newer: Int, _ beside: [ArrivingAttachments.Arrival]) -> TerminalText {
    let versions = newer == 0 ? "" : ", \(newer == count ? "" : "\(newer) of them ")in place of earlier versions"
    let text: TerminalText = count == 0 ? "" : "\(Words.count(count, "file")) came with it\(versions).\n"
    return text + kept(beside)
  }

  /// The files of a lost time, in words.
  static func cameBack(_ count: Int, _ beside: [ArrivingAttachments.Arrival]) -> TerminalText {
    let text: TerminalText = count == 0 ? "" : "\(Words.count(count, "file")) came back from the lost time.\n"
    return text + kept(beside)
  }

  private static func kept(_ beside: [ArrivingAttachments.Arrival]) -> TerminalText {
    var text: TerminalText = ""
    for file in beside.prefix(mostShown) {
      text += "A different file \(file.path) came. The file here stays; the new one is kept as \(file.kept).\n"
    }
    let more = beside.count - mostShown
    return text + (more > 0 ? "And \(more) more such files.\n" : "")
  }

  /// The files that `compact` removed, in words.
  static func removed(_ unnamed: UnnamedFiles, _ command: ParsedCommand) -> TerminalText {
    if unnamed.count == 0 { return "" }
    let verb = command.dryRun ? "Would remove" : "Removed"
    return "\(verb) \(Words.count(unnamed.count, "file")) that no row names any more, \(unnamed.bytes >> 10) KiB.\n"
  }

  static func words(_ why: MissingReason) -> String {
    switch why {
    case .missing: "it is not in files/, or empty"
    case .path: "the path is not below files/, or not every medium can hold it"
    case .link: "in its place, or on the way to it, is a folder or a symbolic link, which Satchel does not open"
    case .large: "it is larger than the dataset allows"
    }
  }

  static func json(_ beside: [ArrivingAttachments.Arrival]) -> JSONValue {
    .array(beside.map { ["path": .string($0.path.text), "kept": .string($0.kept.text)] })
  }

  static func json(_ missing: [MissingAttachment]) -> JSONValue {
    .array(
      missing.map { ["table": .string($0.table.text), "path": .string($0.path), "why": .string($0.why.rawValue)] })
  }
}

extension ParsedCommand {
  /// The most bytes of attached files in a bundle. nil if the dataset decides.
  func attachedBytes() throws -> Int64? {
    guard let text = value(AttachedWords.option.long) else { return nil }
    guard let bytes = ByteSize.bytes(text) else {
      throw UsageError("--files-size takes a size such as 500M, or 0 for none, and not \(text)")
    }
    return bytes
  }
}
