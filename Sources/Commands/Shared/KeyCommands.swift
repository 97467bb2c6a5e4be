import SatchelCrypto
import SatchelJSON
import SatchelQRCode
import SatchelValues
import SatchelWorkspace

/// The commands `keys` of both tools, for their own keys.
struct KeyCommands {
  typealias Act<T> = @Sendable (ParsedCommand, CommandContext) throws -> T

  let tool: String
  /// How a new key reaches the other side, in words.
  let telling: String
  /// Options that `rotate` takes beside the options of every command.
  var rotateOptions: [OptionSpec] = []
  let show: Act<KeyReport>
  let rotate: Act<Answer>
  let setPassword: @Sendable (Password?, ParsedCommand, CommandContext) throws -> Void

  var all: [Command] { [showing, rotating, protecting, unprotecting] }

  private var showing: Command {
    let show = show
    return Command(
      ["keys", "show"], summary: "show the fingerprint of the key that signs here",
      discussion: """
        Shows the fingerprint that people compare, on a terminal also as a QR code for a telephone's camera. Also \
        shows the key with which others encrypt bundles for this workspace. No secret is ever shown.
        """,
      options: [OptionSpec("qr", help: "draw the QR code even if the output is not a terminal")],
      examples: [Example("\(tool) keys show", "Shows the fingerprint to read out.")]
    ) { command, context in
      let report = try show(command, context)
      let traits = context.console.traits
      var text = Self.text(report)
      if command.flag("qr") || traits.showsOutput { text += "\n" + Self.picture(report.key, colour: traits.colour) }
      return Answer(text, Self.members(report))
    }
  }

  /// The key's fingerprint as a QR code. Empty if no QR code can hold it.
  static func picture(_ key: PublicKey, colour: Bool) -> TerminalText {
    TerminalText(ofOwnMaking: QRCode(key.fingerprint)?.text(colour: colour) ?? "")
  }

  private static func text(_ report: KeyReport) -> TerminalText {
    var table = TextTable(["", ""])
    table.add(["Fingerprint", report.key.fingerprint])
    table.add(["Recipient", report.recipient.text])
    table.add(["Password", report.isProtected ? "a password protects the secret keys" : "none"])
    if let next = report.next {
      table.add(["Next key", next.fingerprint])
      table.add(["Not received by", report.unaware.isEmpty ? "none" : report.unaware.joined(separator: ", ")])
    }
    if let hub = report.hub { table.add(["Hub's key", hub.fingerprint]) }
    for key in report.revoked { table.add(["Revoked", key.fingerprint]) }
    return table.text(width: nil)
  }

  private static func members(_ report: KeyReport) -> KeyValuePairs<String, JSONValue> {
    [
      "fingerprint": .string(report.key.fingerprint), "key": .string(report.key.line),
      "recipient": .string(report.recipient.text),
      "protected": .bool(report.isProtected), "next": .optional(report.next?.fingerprint),
      "unaware": .strings(report.unaware),
      "revoked": .strings(report.revoked.map(\.fingerprint)), "hub": .optional(report.hub?.fingerprint),
    ]
  }

  private var rotating: Command {
    Command(
      ["keys", "rotate"], summary: "sign with a new key, and encrypt for a new one",
      discussion: """
        Makes new keys. \(telling) Until then the present key signs. Its signature under the new key proves that no \
        one else made the new key. Old bundles stay readable.
        """,
      options: rotateOptions, examples: [Example("\(tool) keys rotate", "Once a year, or when a person has left.")],
      changesData: true,
      answer: rotate)
  }

  /// The answer of `rotate`.
  /// - Parameters:
  ///   - key: the new key. In a dry run, the present key.
  ///   - next: the next steps, for people.
  static func answer(_ key: PublicKey, _ command: ParsedCommand, next: TerminalText) -> Answer {
    if command.dryRun {
      return Answer("A new key would take the place of this one:\n\n    \(key.fingerprint)\n\n", [:])
    }
    return Answer(
      "Made a new key with the fingerprint\n\n    \(key.fingerprint)\n\n" + next,
      ["fingerprint": .string(key.fingerprint)])
  }

  private var protecting: Command {
    let setPassword = setPassword
    return Command(
      ["keys", "protect"], summary: "protect the secret keys with a password",
      discussion: """
        Asks for the new password twice. From then on commands that sign or decrypt ask for it, or read it from the \
        file that --password-file or SATCHEL_PASSWORD_FILE names. A forgotten password cannot be recovered: the keys \
        are lost then.
        """,
      options: [OptionSpec("new-password-file", kind: .value("FILE"), help: "its first line is the new password")],
      examples: [Example("\(tool) keys protect", "For a tablet that may be stolen.")], changesData: true
    ) { command, context in
      try setPassword(Self.newPassword(command, context), command, context)
      return Answer("The password protects the secret keys now.\n", ["protected": true])
    }
  }

  private static func newPassword(_ command: ParsedCommand, _ context: CommandContext) throws -> Password {
    let file = command.value("new-password-file").map { command.path($0) }
    guard let typed = try AskedPassword(context, file: file, prompt: "New password: ").password() else {
      throw WorkspaceError(
        .passwordNeeded, "A new password is needed, and there is no terminal to ask for it.",
        hint: "Put it into a file that only you can read, and add: --new-password-file FILE")
    }
    if file == nil, context.console.readSecret("Once more: ") != typed {
      throw WorkspaceError(
        .passwordMistyped, "The two passwords are different: nothing was changed.", hint: "Try again.")
    }
    guard let password = Password(typed) else {
      throw WorkspaceError(.passwordEmpty, "An empty password protects nothing.")
    }
    return password
  }

  private var unprotecting: Command {
    let setPassword = setPassword
    return Command(
      ["keys", "unprotect"], summary: "take the password from the secret keys",
      discussion: "From then on commands ask for none: whoever has this folder can sign with its keys.",
      examples: [Example("\(tool) keys unprotect", "For a device that works unattended.")], changesData: true
    ) { command, context in
      try setPassword(nil, command, context)
      return Answer("No password protects the secret keys any more.\n", ["protected": false])
    }
  }
}
