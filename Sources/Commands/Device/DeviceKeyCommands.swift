import SatchelDevice

extension DeviceTool {
  static var keys: [Command] {
    KeyCommands(
      tool: name,
      telling: "The next export tells the hub of them, and once the hub is known to have that one, they are used.",
      show: { command, context in try open(command, context).keyReport() },
      rotate: { command, context in
        let key = try open(command, context).rotateKeys()
        return KeyCommands.answer(
          key, command,
          next: """
            Next: satchel export, which tells the hub of it. It signs once the hub's answer has come.
            Nobody needs to compare it: the present key vouches for it.

            """)
      },
      setPassword: { password, command, context in try open(command, context).setPassword(password) }
    ).all + [requestKeys]
  }

  private static var requestKeys: Command {
    Command(
      ["keys", "request"], summary: "ask the hub to let this device in once more",
      discussion: """
        For a hub that does not know this device: it came back from a backup that was made before the device was let \
        in. Nothing \
        changes here. When the hub has let it in, sync brings it what it lacks.
        """,
      arguments: [ArgumentSpec("FILE", .one, help: "the request that is carried to the hub")],
      examples: [
        Example("satchel keys request /media/stick/tablet-1.satchel", "The restored hub does not know this device.")
      ]
    ) { command, context in
      let workspace = try open(command, context)
      let file = command.path(command.argument("FILE"))
      let key = try workspace.writeRequest(to: file)
      let words = RequestWords(
        request: file, key: key, whose: "this device's key", next: "Then sync here, at the hub, and here once more.")
      return Answer(words.text, ["request": .string(file), "fingerprint": .string(key.fingerprint)])
    }
  }
}
