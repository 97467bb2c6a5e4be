import SatchelPlatform

extension HubTool {
  static var console: Command {
    Command(
      ["console"], summary: "show this hub in a browser on this machine",
      discussion: """
        Shows devices, conflicts, bundles, and who sees what. Conflicts can be decided there, sticks synced, bundles \
        imported and made, and the hub backed up and examined. \
        \(LocalPages.words)
        """,
      options: [LocalPages.port, OperatorOptions.who],
      examples: [Example("satchel-hub console", "Then open the address that it prints.")], changesData: false
    ) { command, context in
      let port = try LocalPages.port(of: command)
      // If the hub cannot be opened, the error appears here and not in the browser.
      _ = try open(command, context).status()
      let gate = PageGate(random: context.platform.random, refuse: { ConsoleSite.refused($0, $1) })
      let site = ConsoleSite(command: command, context: context, gate: gate)
      return try LocalPages.serve(site, named: "console", port: port, command, context)
    }
  }
}
