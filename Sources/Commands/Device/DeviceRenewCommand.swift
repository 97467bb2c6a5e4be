import SatchelDevice
import SatchelPlatform
import SatchelWorkspace

extension DeviceTool {
  static var renew: Command {
    Command(
      ["renew"], summary: "go on as another device, and ask the hub to let it in",
      discussion: """
        For a folder that was copied, and both copies work: one keeps the name, and this one goes on under another. It gets a new id, \
        a new key and a new name, and writes a request as `init` does. All rows stay, and all that the hub does not have yet is delivered once it \
        has let the device in: where both copies wrote something else into one row, that is a conflict, and nothing is lost. Work may go on meanwhile.

        So does a device whose key was revoked and that was found again.
        """,
      options: [
        OptionSpec(
          "name", kind: .value("NAME"), help: "the new name: a-z, 0-9, - and _; left out to write the request once more"),
        OptionSpec("request", kind: .value("FILE"), help: "where to write the request", required: true),
      ],
      examples: [Example("satchel renew --name tablet-2 --request tablet-2.satchel", "The copy goes on as tablet-2.")],
      changesData: true
    ) { command, context in
      let request = command.path(command.value("request") ?? "")
      let renewed = try open(command, context).renew(name: command.value("name"))
      if command.dryRun {
        let name = command.value("name") ?? renewed.configuration.name
        return Answer(
          "This device would go on as \(name), and \(request) be written.\n",
          ["device": .string(name), "request": .string(request)])
      }
      let key = try renewed.writeRequest(to: request)
      let name = renewed.configuration.name
      let text = """
        This device goes on as \(name). The request is in \(request): carry it to the hub.

        The fingerprint of its new key is

            \(key.fingerprint)

        The hub's operator types it there, as you read it out: satchel-hub device enrol FILE --user USER
        Then import the hub's bundle, and export.

        """ + (context.console.traits.showsOutput ? KeyCommands.picture(key, colour: context.console.traits.colour) : "")
      return Answer(
        text,
        [
          "device": .string(name), "id": .string(renewed.configuration.id.text), "request": .string(request),
          "fingerprint": .string(key.fingerprint),
        ])
    }
  }
}
