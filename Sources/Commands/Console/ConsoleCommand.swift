import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension HubTool {
  static var console: Command {
    Command(
      ["console"], summary: "show this hub in a browser on this machine",
      discussion: """
        Shows devices, conflicts, bundles, and who sees what. Conflicts can be decided there, sticks synced, bundles \
        imported and made, and the hub backed up and examined. \
        The pages are for browsers on this machine alone. The address that is printed works once, in one browser, and \
        nothing is loaded from elsewhere. Ctrl-C ends it.
        """,
      options: [OptionSpec("port", kind: .value("NUMBER"), help: "listen there (any port that is free)")],
      examples: [Example("satchel-hub console", "Then open the address that it prints.")], changesData: false
    ) { command, context in
      guard let port = UInt16(command.value("port") ?? "0") else {
        throw UsageError("--port takes a number up to 65535")
      }
      // If the hub cannot be opened, the error appears here and not in the browser.
      _ = try open(command, context).status()
      guard let server = context.webServer else {
        throw WorkspaceError(.noConsole, "This program was built without the console.")
      }
      let gate = ConsoleGate(random: context.platform.random)
      let site = ConsoleSite(command: command, context: context, gate: gate)
      let (console, isJSON) = (context.console, command.json)
      try server.serve(
        port: port, until: context.endRequest,
        ready: { port in
          gate.open(port: port)
          let address = "http://127.0.0.1:\(port)/?token=\(gate.token)"
          let document: JSONValue = [
            "ok": true, "command": "console", "address": .string(address), "port": .integer(Int64(port)),
          ]
          console.show(
            isJSON
              ? TerminalText(document: document)
              : "Open this in a browser on this machine; it works once:\n\n  \(address)\n\nCtrl-C ends it.\n")
        }, receive: { site.receive($0) }, answer: { site.answer($0) })
      return .done
    }
  }
}
