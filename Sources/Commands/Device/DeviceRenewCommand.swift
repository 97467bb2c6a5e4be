import SatchelDevice
import SatchelPlatform
import SatchelWorkspace

extension DeviceTool {
  static var renew: Command {
    Command(
      ["renew"], summary: "continue as another device, and request to be enrolled at the hub",
      discussion: """
        For a folder that was copied, if both copies work. One copy keeps the name, and this one continues under \
        another name. It gets a new id, a new key and a new name, and writes a request as `init` does. All rows stay. \
        Everything that the hub lacks is delivered after the hub has enrolled the device. If both copies changed one \
        row differently, that is a conflict, and nothing is lost. Work may go on meanwhile.

        Use it too for a device whose key was revoked and that was found again.

        With --hub the device leaves its hub, which is lost and has no backup, and requests to join another hub. It \
        keeps its rows, and capture goes on. The next hub's first bundle merges both. Rows that the new hub lacks go \
        out with the next export, and rows that differ become conflicts. Work of a former user of this device that \
        the lost hub did not have goes out in that user's name. At that bundle a person compares the fingerprint of \
        the next hub. Bundles from the lost hub are not accepted any more. Its bundles and a copy of \
        the database are in bundles/archive/former.
        """,
      options: [
        OptionSpec(
          "name", kind: .value("NAME"), help: "the new name: a-z, 0-9, - and _; leave it out to write the request again"
        ),
        OptionSpec("hub", help: "leave the hub, which is lost for good, for another hub; the name may stay"),
        Confirmation.yes,
        OptionSpec("request", kind: .value("FILE"), help: "where to write the request", required: true),
      ],
      examples: [
        Example("satchel renew --name tablet-2 --request tablet-2.satchel", "The copy continues as tablet-2."),
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
          "This device would continue as \(name), and \(request) be written.\n",
          ["device": .string(name), "request": .string(request)])
      }
      let key = try renewed.writeRequest(to: request)
      let name = renewed.configuration.name
      let words = RequestWords(
        request: request, key: key, whose: "its new key", next: "Then import the hub's bundle, and export.")
      return Answer(
        "This device continues as \(name). " + words.text(pictureFor: context),
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
        """
        This device leaves its hub for good: nothing from it is accepted any more. Is that hub lost, without a \
        backup?
        """,
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
