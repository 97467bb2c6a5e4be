import SatchelJSON
import SatchelPlatform

/// The commands `sync` and `watch` of both tools.
struct SyncCommands: Sendable {
  /// Exchanges bundles in both directions with the stick in a folder.
  typealias Sync = @Sendable (_ stick: String, _ command: ParsedCommand, _ context: CommandContext) throws -> Answer

  let tool: String
  /// Throws if there is no workspace, before the command waits for a stick.
  let check: @Sendable (_ command: ParsedCommand, _ context: CommandContext) throws -> Void
  let sync: Sync
  /// Makes the last lines in the language of the person. The result is nil for English.
  typealias Speech = @Sendable (_ command: ParsedCommand, _ context: CommandContext) throws -> SyncSpeech?
  /// nil: this tool answers in English only.
  var speech: Speech?

  /// `sync`, and then the hooks of its events.
  var syncWithHooks: Sync {
    let sync = sync
    return { stick, command, context in
      var answer = try sync(stick, command, context)
      answer.members.insert(JSONValue.Member(name: "stick", value: .string(stick)), at: 0)
      // Hooks are on this machine, so the rules against links on sticks do not apply to them.
      return Hooks.run(after: answer, isSync: true, command, context)
    }
  }

  /// `sync` with its hooks, and its last lines in the language of the person.
  private var spoken: Sync {
    let (sync, speech) = (syncWithHooks, speech)
    return { stick, command, context in
      // A wrong language option must throw before the sync begins.
      let person = try speech?(command, context)
      var answer = try sync(stick, command, context)
      if let person { answer.closing = person.lines(after: answer, stick: stick, context.platform.files) }
      return answer
    }
  }

  /// The path of the only stick that is plugged in. Says which stick it is, before `sync` works on it.
  private func pluggedIn(_ command: ParsedCommand, _ context: CommandContext) throws -> String {
    try check(command, context)
    let choice = try StickChoice(tool: tool, for: command, context.platform)
    let stick = try choice.path()
    if !command.json, !command.quiet { context.console.show(choice.words(for: stick)) }
    return stick
  }

  var all: [Command] { [once, watch] }

  private static let options = [
    OptionSpec("fingerprint", kind: .value("WORDS"), help: "of the hub's key; for a device's first bundle only"),
    Encrypting.option, BundleSize.option, Volumes.parityOnSticks, Medium.plainFolder, Medium.trustSize,
  ]

  private var options: [OptionSpec] { Self.options + (speech == nil ? [] : [WindowLanguage.option]) }

  private var once: Command {
    Command(
      ["sync"], summary: "exchange bundles with a stick in both directions",
      discussion: """
        Imports every bundle on the stick that is for this workspace, in the right order. These are the bundles in \
        SATCHEL/ and the bundles that --to put beside it. Then makes the bundles that are due and puts them into \
        SATCHEL/DATASET/TO/FROM/, in place of older bundles. Then removes the bundles that have arrived. Bundles for \
        others stay, and so do bundles beside SATCHEL/. Each file is read back from the stick and compared. At the \
        end, sync says whether the stick is safe to remove.

        The bundle is made for the free space of the stick: all rows, then as many attached files as fit. The other \
        files go with later bundles. If the rows alone do not fit, sync cuts the bundle into volumes and puts as many \
        on this stick as fit. Put the next stick in and run sync again: it goes on with the missing volumes. \
        If a stick may get lost, add --parity: a stick takes about eight volumes, and so many extra ones replace them.

        One failure does not stop the rest. If a part was done and a part failed, the exit code is 5.

        Without DIR, sync uses the only stick that is plugged in, and says which. These are the media that are mounted \
        in /media, /run/media or /mnt. If there are several, sync uses the only one with a folder SATCHEL. If sync \
        cannot choose, it does nothing, and names the commands.

        A folder in /media, /run/media or /mnt, or a folder in /etc/fstab, is refused if nothing is mounted there.

        Before sync puts anything on a stick with FAT or exFAT for the first time, it tests whether the stick has the \
        room that it says it has. This takes a minute or two.

        No link on the stick is followed, and only regular files are opened. Files without the name of a bundle stay \
        as they are. After \(ImportRounds.mostRefusedOfStick) refused files of one sender, or as many that prove no \
        sender, the others like them are left alone. A damaged file is refused once. So is a file of a revoked \
        device, or of a copy that did not keep its device's name. Later it is only named, as "Refused earlier", and \
        does not make the sync fail.
        """,
      arguments: [ArgumentSpec("DIR", .optional, help: "where the stick is")], options: options,
      examples: [
        Example("\(tool) sync /media/stick", "Exchanges bundles with the stick."),
        Example("\(tool) sync", "With the only stick that is plugged in."),
      ], changesData: true
    ) { command, context in try syncOnce(command, context) }
  }

  private func syncOnce(_ command: ParsedCommand, _ context: CommandContext) throws -> Answer {
    let (sync, person) = (spoken, try speech?(command, context))
    do {
      let stick = try command.optionalArgument("DIR").map { command.path($0) } ?? pluggedIn(command, context)
      return try sync(stick, command, context.confined(below: stick))
    } catch {
      if let person { context.console.warn(person.lines(after: Failure(error))) }
      throw error
    }
  }

  private var watch: Command {
    let (check, sync, speech) = (check, spoken, speech)
    return Command(
      ["watch"], summary: "sync with every stick that is plugged in, until it is ended",
      discussion: """
        Looks into DIR every two seconds, and does the same as sync with each stick that appears there. A folder in \
        DIR is a stick if a medium is mounted on it, or if it contains a folder SATCHEL. DIR itself is a stick if it \
        contains SATCHEL. A stick is synced once each time that it is plugged in. A failure with a stick is reported, \
        and the watch continues. A link in DIR is not a stick.

        It ends with Ctrl-C or SIGTERM, never in the middle of a stick. The operator's guide shows how to start it \
        with the machine.
        """,
      arguments: [ArgumentSpec("DIR", help: "where sticks appear, such as /media/ann")],
      options: [
        OptionSpec("every", kind: .value("SECONDS"), help: "time between two checks (2)"),
        OptionSpec("once", help: "sync with the sticks that are there now, and end"),
      ] + options,
      examples: [
        Example("\(tool) watch /media/ann", "Until Ctrl-C."),
        Example("\(tool) watch --once /media/ann", "With every stick that is in now."),
      ], changesData: true
    ) { command, context in
      try check(command, context)
      _ = try speech?(command, context)
      var watch = try Watch(command, context, sync: sync)
      return try command.flag("once") ? watch.once() : watch.run()
    }
  }
}
