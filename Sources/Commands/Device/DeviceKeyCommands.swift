import SatchelDevice

extension DeviceTool {
  static var keys: [Command] {
    KeyCommands(
      tool: name,
      telling: "The next export carries them to the hub. They are used once the hub is known to have that export.",
      rotateOptions: [
        OptionSpec(
          "again", help: "the hub refused the new key that was made before: make another one in its place")
      ],
      show: { command, context in try open(command, context).keyReport() },
      rotate: { command, context in
        let key = try open(command, context).rotateKeys(command.flag("again") ? .isReplaced : .stays)
        return KeyCommands.answer(
          key, command,
          next: """
            Next: satchel export, which carries it to the hub. It signs once the hub's answer has come.
            No one needs to compare it: the present key vouches for it.

            """)
      },
      setPassword: { password, command, context in try open(command, context).setPassword(password) }
    ).all + [requestKeys]
  }

  private static var requestKeys: Command {
    Command(
      ["keys", "request"], summary: "request to be enrolled at the hub again",
      discussion: """
        For a hub that does not know this device because it was restored from a backup made before the device was \
        enrolled. Nothing changes here. After the hub has enrolled the device, sync brings the hub what it lacks.
        """,
      arguments: [ArgumentSpec("FILE", .one, help: "the request file to carry to the hub")],
      examples: [
        Example("satchel keys request /media/stick/tablet-1.satchel", "The restored hub does not know this device.")
      ]
    ) { command, context in
      let workspace = try open(command, context)
      let file = command.path(command.argument("FILE"))
      let key = try workspace.writeRequest(to: file)
      let words = RequestWords(
        request: file, key: key, whose: "this device's key", next: "Then sync here, at the hub, and here again.")
      return Answer(words.text, ["request": .string(file), "fingerprint": .string(key.fingerprint)])
    }
  }
}
