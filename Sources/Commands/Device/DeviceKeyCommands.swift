import SatchelDevice

extension DeviceTool {
  static var keys: [Command] {
    KeyCommands(
      tool: name, telling: "The next export tells the hub of them, and once the hub is known to have that one, they are used.",
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
    ).all
  }
}
