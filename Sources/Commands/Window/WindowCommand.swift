import SatchelPlatform

/// `window`: the page of a device for people who do not use a terminal.
extension DeviceTool {
  static var window: Command {
    Command(
      ["window"], summary: "show this device's work in a browser, and sync sticks",
      discussion: """
        Shows in plain words what is not at the office yet, when this device last exchanged bundles, which changes met \
        others, and what needs attention. It has one button for each stick that is plugged in. The languages are \
        English, French, Spanish, Portuguese, Arabic and German. The browser's own language is used, unless --language \
        names another one.

        \(LocalPages.words)
        """,
      options: [LocalPages.port, WindowLanguage.option],
      examples: [Example("satchel window", "Then open the address that it prints.")], changesData: false
    ) { command, context in
      let port = try LocalPages.port(of: command)
      // If there is no workspace, the error appears here and not in the browser. Faults of the database appear in the
      // browser.
      _ = try open(command, context)
      let gate = PageGate(random: context.platform.random, refuse: { WindowSite.refused($0, $1) })
      let site = try WindowSite(command: command, context: context, gate: gate)
      return try LocalPages.serve(site, named: "window", port: port, command, context)
    }
  }
}
