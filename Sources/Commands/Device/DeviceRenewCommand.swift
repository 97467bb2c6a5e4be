import SatchelDevice
import SatchelPlatform
import SatchelWorkspace

extension DeviceTool {
  static var renew: Command {
    Command(
      ["renew"], summary: "go on as another device, and ask the hub to let it in",
      discussion: """
        For a folder that was copied, and both copies work: one keeps the name, and this one goes on under another. It \
        gets a new id, \
        a new key and a new name, and writes a request as `init` does. All rows stay, and all that the hub does not \
        have yet is delivered once it \
        has let the device in: where both copies wrote something else into one row, that is a conflict, and nothing is \
        lost. Work may go on meanwhile.

        So does a device whose key was revoked and that was found again.

        With --hub the device leaves its hub, which is lost and has no backup, and asks another hub to let it in. It \
        keeps its rows, and capture \
        goes on. The next hub's first bundle brings both together: what that hub lacks goes out with the next export, \
        and where a row differs, that \
        is a conflict. At that bundle a person compares the fingerprint of the next hub. Nothing from the lost hub is \
        taken any more. Its bundles \
        and a copy of the database lie in bundles/archive/former.
        """,
      options: [
        OptionSpec(
          "name", kind: .value("NAME"), help: "the new name: a-z, 0-9, - and _; left out to write the request once more"
        ),
        OptionSpec("hub", help: "leave the hub, which is lost for good, and ask another one; the name may stay"),
        Confirmation.yes,
        OptionSpec("request", kind: .value("FILE"), help: "where to write the request", required: true),
      ],
      examples: [
        Example("satchel renew --name tablet-2 --request tablet-2.satchel", "The copy goes on as tablet-2."),
        Example("satchel renew --hub --request tablet-1.satchel", "The hub is lost, and a new one takes its place."),
      ],
      changesData: true
    ) { command, context in
      let request = command.path(command.value("request") ?? "")
      if command.flag("hub") { return try changeHub(command, context, request) }
      let renewed = try open(command, context).renew(name: command.value("name"))
      if command.dryRun {
        let name = command.value("name") ?? renewed.configuration.name
        return Answer(
          "This device would go on as \(name), and \(request) be written.\n",
          ["device": .string(name), "request": .string(request)])
      }
      let key = try renewed.writeRequest(to: request)
      let name = renewed.configuration.name
      let words = RequestWords(
        request: request, key: key, whose: "its new key", next: "Then import the hub's bundle, and export.")
      return Answer(
        "This device goes on as \(name). " + words.text(pictureFor: context),
        [
          "device": .string(name), "id": .string(renewed.configuration.id.text), "request": .string(request),
          "fingerprint": .string(key.fingerprint),
        ])
    }
  }

  private static func changeHub(_ command: ParsedCommand, _ context: CommandContext, _ request: String) throws -> Answer
  {
    let workspace = try open(command, context)
    if workspace.configuration.leaves == nil {
      try Confirmation.ask(
        "This device leaves its hub for good: nothing from it is taken any more. Is that hub lost, with no backup of it?",
        command,
        context)
    }
    let left = try workspace.leaveHub(name: command.value("name"))
    let name = left.workspace.configuration.name
    if command.dryRun {
      return Answer(
        "This device would leave its hub and ask for another one, and \(request) be written.\n",
        ["device": .string(command.value("name") ?? name), "request": .string(request)])
    }
    let key = try left.workspace.writeRequest(to: request)
    let kept: TerminalText = left.copy.map { "The database as it was is kept in \($0).\n" } ?? ""
    let words = RequestWords(
      request: request, key: key, hub: "new hub", whose: "this device's new key",
      next: "Then import the new hub's first bundle, and export.")
    return Answer(
      "This device has left its hub. It keeps all its rows, and work goes on.\n\(kept)"
        + words.text(pictureFor: context),
      [
        "device": .string(name), "id": .string(left.workspace.configuration.id.text), "request": .string(request),
        "fingerprint": .string(key.fingerprint), "copy": .optional(left.copy),
      ])
  }
}
