/// An option of a command.
public struct OptionSpec: Sendable {
  public enum Kind: Hashable, Sendable {
    /// The option is either given or absent.
    case flag
    /// The option takes a value, shown in help by this name: `--to PATH`.
    case value(String)
  }

  /// The option's name without the hyphens: `to`.
  public let long: String
  public let short: Character?
  public let kind: Kind
  public let help: String
  /// A value may be given more than once.
  public let repeatable: Bool
  /// The command cannot run without this value.
  public let required: Bool

  public init(
    _ long: String, short: Character? = nil, kind: Kind = .flag, help: String, repeatable: Bool = false,
    required: Bool = false
  ) {
    self.long = long
    self.short = short
    self.kind = kind
    self.help = help
    self.repeatable = repeatable
    self.required = required
  }

  /// The ways to write the option.
  var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + ["--\(long)"] }

  var valueName: String? { if case .value(let valueName) = kind { valueName } else { nil } }

  /// The option as help shows it, such as `--to PATH`.
  var withValueName: String { "--\(long)" + (valueName.map { " \($0)" } ?? "") }

  /// The option's part of the usage line.
  var usage: String { (required ? withValueName : "[\(withValueName)]") + (repeatable ? "..." : "") }
}

extension OptionSpec {
  static let directory = OptionSpec(
    "directory", short: "C", kind: .value("DIR"), help: "work in DIR, not in the current folder")
  static let json = OptionSpec("json", help: "print one JSON document, on failure too")
  static let quiet = OptionSpec("quiet", short: "q", help: "print nothing but errors")
  static let passwordFile = OptionSpec(
    "password-file", kind: .value("FILE"), help: "take the keys' password from the first line of FILE")
  static let help = OptionSpec("help", short: "h", help: "print this help and do nothing")
  static let dryRun = OptionSpec("dry-run", help: "say what would happen and change nothing")
  static let version = OptionSpec("version", help: "print the version and do nothing")

  /// The options that every command has.
  static let common = [directory, passwordFile, json, quiet, help]

  /// Whether a word is one of the options in `common`, and takes a value. The value is then the next word.
  static func takesValue(_ word: String) -> Bool { common.contains { $0.kind != .flag && $0.spellings.contains(word) } }
}

extension CommandSpec {
  /// The command's own options, then the options of every command.
  var allOptions: [OptionSpec] { options + (changesData ? [.dryRun] : []) + OptionSpec.common }
}
