/// A command line that fits its command.
///
/// A program that reads an argument or option that the command does not declare has a mistake. The mistake stops the
/// program.
public struct ParsedCommand: Sendable {
  /// The command's path.
  public let path: [String]
  /// The value of `-C DIR`; `.` if it is not given.
  public let directory: String
  private let arguments: [String: [String]]
  private let values: [String: [String]]
  private let flags: [String: Bool]

  init(path: [String], arguments: [String: [String]], values: [String: [String]], flags: [String: Bool]) {
    self.path = path
    self.arguments = arguments
    self.values = values
    self.flags = flags
    directory = values[OptionSpec.directory.long]?.last ?? "."
  }

  /// The word for an argument that is always given.
  public func argument(_ name: String) -> String {
    guard let word = arguments(name).first else {
      preconditionFailure("\(name) is not an argument that is always there")
    }
    return word
  }

  /// The word for an argument that may be absent.
  public func optionalArgument(_ name: String) -> String? { arguments(name).first }

  /// The words given for a list of arguments.
  public func arguments(_ name: String) -> [String] {
    guard let words = arguments[name] else { preconditionFailure("the command declares no argument \(name)") }
    return words
  }

  /// Whether the flag `--name` is given.
  public func flag(_ name: String) -> Bool {
    guard let given = flags[name] else { preconditionFailure("the command declares no flag --\(name)") }
    return given
  }

  /// The value of `--name`. For a repeatable option, the last value.
  public func value(_ name: String) -> String? { values(name).last }

  /// The values of `--name`, in the order given.
  public func values(_ name: String) -> [String] {
    guard let given = values[name] else { preconditionFailure("the command declares no option --\(name) with a value") }
    return given
  }

  /// All arguments, in the order of their names.
  var givenArguments: [String] { arguments.sorted { $0.key < $1.key }.flatMap { $0.value } }

  /// The options that are given, in the order of their names. The value is nil for a flag.
  var givenOptions: [(name: String, value: String?)] {
    var given: [(name: String, value: String?)] = []
    for (name, all) in values {
      for value in all { given.append((name: name, value: value)) }
    }
    for (name, isSet) in flags where isSet { given.append((name: name, value: nil)) }
    return given.sorted { $0.name < $1.name }
  }

  public var json: Bool { flag(OptionSpec.json.long) }
  public var quiet: Bool { flag(OptionSpec.quiet.long) }
  /// Always false for a command that changes no data.
  public var dryRun: Bool { flags[OptionSpec.dryRun.long] ?? false }
}
