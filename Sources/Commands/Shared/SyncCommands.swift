import SatchelPlatform

/// `sync` and `watch`, which both tools have.
struct SyncCommands: Sendable {
  /// Does both directions with the stick in a folder.
  typealias Sync = @Sendable (_ stick: String, _ command: ParsedCommand, _ context: CommandContext) throws -> Answer

  let tool: String
  /// Throws where there is no workspace: that is said before anybody waits for a stick.
  let check: @Sendable (_ command: ParsedCommand, _ context: CommandContext) throws -> Void
  let sync: Sync

  var all: [Command] { [once, watch] }

  private static let options = [
    OptionSpec("fingerprint", kind: .value("WORDS"), help: "of the hub's key; for a device's first bundle only"),
    Encrypting.option,
  ]

  private var once: Command {
    let sync = sync
    return Command(
      ["sync"], summary: "take from a stick what is for us, and put on it what is due",
      discussion: """
        Imports every bundle on the stick that is for this workspace, in the right order; then makes what is due and puts it there, in \
        SATCHEL/TO/FROM/, in the place of older bundles; and takes off what has arrived. What is for others stays. At the end the stick is safe to \
        remove.

        No link on the stick is followed, and what is no file is not opened. Files that are called otherwise than bundles stay as they are. When \
        \(ImportRounds.mostRefusedOfStick) files of one sender were refused, or as many that prove no sender, the others like them are left alone.
        """,
      arguments: [ArgumentSpec("DIR", help: "where the stick is")], options: Self.options,
      examples: [Example("\(tool) sync /media/stick", "Both directions.")], changesData: true
    ) { command, context in
      let stick = command.path(command.argument("DIR"))
      return try sync(stick, command, context.confined(below: stick))
    }
  }

  private var watch: Command {
    let (check, sync) = (check, sync)
    return Command(
      ["watch"], summary: "sync with every stick that is plugged in, until it is ended",
      discussion: """
        Looks into DIR every two seconds, and does what sync does with each stick that appears there. A folder in DIR \
        is a stick where something is \
        mounted on it, or where a folder SATCHEL lies in it; DIR itself is one where SATCHEL lies in it. A stick is synced once each time that it \
        is plugged in. What goes wrong with one is said, and the watch goes on. A link in DIR is no stick.

        It ends with Ctrl-C or when it is asked to (SIGTERM), never in the middle of a stick. The operator's guide \
        tells how it starts with \
        the machine.
        """,
      arguments: [ArgumentSpec("DIR", help: "where sticks appear, such as /media/ann")],
      options: [
        OptionSpec("every", kind: .value("SECONDS"), help: "look so often (2)"),
        OptionSpec("once", help: "sync with the sticks that are there now, and end"),
      ] + Self.options,
      examples: [
        Example("\(tool) watch /media/ann", "Until Ctrl-C."),
        Example("\(tool) watch --once /media/ann", "With every stick that is in now."),
      ], changesData: true
    ) { command, context in
      try check(command, context)
      var watch = try Watch(command, context, sync: sync)
      return try command.flag("once") ? watch.once() : watch.run()
    }
  }
}
