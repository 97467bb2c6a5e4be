import SatchelHub
import SatchelPlatform
import SatchelWorkspace

/// The options of commands that are acts of an operator: who acts, and why.
enum OperatorOptions {
  static let variable = "SATCHEL_OPERATOR"
  static let who = OptionSpec(
    "operator", kind: .value("NAME"), help: "the operator who does this, if the hub has operators")
  private static let why = OptionSpec("reason", kind: .value("TEXT"), help: "the reason, for the record of acts")
  private static let note = "note"
  /// The acts whose reason is in their option `--note`.
  private static let noted: Set<[String]> = [["conflicts", "resolve"], ["device", "hold"]]

  /// The commands that are acts: decisions, rights, reverts, revocations, and the end of history.
  private static let acts: Set<[String]> = [
    ["conflicts", "resolve"], ["conflicts", "reopen"], ["revert"], ["compact"], ["dataset", "apply"],
    ["user", "add"], ["user", "set"], ["user", "import"], ["user", "remove"],
    ["device", "provision"], ["device", "enrol"], ["device", "set"], ["device", "revoke"], ["device", "unflag"],
    ["device", "hold"], ["device", "release"],
    ["keys", "revoke"], ["operator", "add"], ["operator", "remove"],
  ]

  /// Returns the command. If the command is an act, it gets the options of an act.
  static func added(to command: Command) -> Command {
    guard acts.contains(command.path) else { return command }
    return Command(
      command.path, summary: command.summary, discussion: command.discussion, arguments: command.arguments,
      options: command.options + (noted.contains(command.path) ? [who] : [who, why]), examples: command.examples,
      changesData: command.changesData, run: command.run)
  }

  /// The hub, which records the command if it is an act. Throws a `UsageError` if the hub has operators and the command
  /// names none of them.
  static func acting(
    _ hub: HubWorkspace, by command: ParsedCommand, _ context: CommandContext
  ) throws -> HubWorkspace {
    guard acts.contains(command.path) else { return hub }
    let reason = noted.contains(command.path) ? note : why.long
    let leftOut: Set<String> = [who.long, why.long, note]
    return try acting(
      hub, as: name(command, context),
      ActDraft(
        what: command.path.joined(separator: " "), about: command.given(besides: leftOut), why: command.value(reason)))
  }

  /// The option that passes the console's operator on to a command. Empty if the console has no operator.
  static func words(of console: ParsedCommand, _ context: CommandContext) -> [String] {
    name(console, context).map { ["--\(who.long)=\($0)"] } ?? []
  }

  /// The operator that the command line or the environment names; nil: neither names one.
  static func name(_ command: ParsedCommand, _ context: CommandContext) -> String? {
    command.value(who.long) ?? context.console.environment(variable).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// - Parameter name: the operator's name. nil if no operator is named.
  static func acting(_ hub: HubWorkspace, as name: String?, _ draft: ActDraft) throws -> HubWorkspace {
    let known = try hub.operators().map(\.name)
    if known.isEmpty { return hub }
    let names = "The operators of this hub: \(known.joined(separator: ", "))."
    guard let name else { throw UsageError("name the operator who does this: --operator NAME", hint: names) }
    guard known.contains(name) else { throw UsageError("there is no operator \(name)", hint: names) }
    return hub.acting(as: name, draft)
  }
}

extension ParsedCommand {
  /// The arguments, and the options that are given, in the order of their names. Options of every command are left out.
  /// - Parameter more: the names of other options that are left out.
  fileprivate func given(besides more: Set<String>) -> [String] {
    let leftOut = more.union(OptionSpec.common.map(\.long)).union([OptionSpec.dryRun.long])
    let options = givenOptions.filter { !leftOut.contains($0.name) }
    return givenArguments + options.map { "--\($0.name)" + ($0.value.map { "=\($0)" } ?? "") }
  }
}
