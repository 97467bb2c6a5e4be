import SatchelCrypto
import SatchelDevice
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension DeviceTool {
  static var initialize: Command {
    Command(
      ["init"], summary: "make a workspace for this device and a request for the hub",
      discussion: """
        Makes the folder DIR with this device's own keys, and a request file. Carry the request to the hub. Its \
        operator compares the fingerprint with the one shown here. The hub's first bundle then brings the data, into \
        the app's own file if there is one. Until then the same command writes the request again, if it is lost.
        """,
      arguments: [ArgumentSpec("DIR", help: "the folder to make")],
      options: [
        OptionSpec(
          "dataset", kind: .value("NAME"), help: "the dataset's name, as the hub's operator says", required: true),
        OptionSpec("name", kind: .value("NAME"), help: "this device's name: a-z, 0-9, - and _", required: true),
        OptionSpec(
          "request", kind: .value("FILE"), help: "where to write the request; - for standard output", required: true),
        OptionSpec("database", kind: .value("PATH"), help: "path of the app's database (data.sqlite in DIR)"),
      ],
      examples: [
        Example(
          "satchel init tablet-1 --dataset survey --name tablet-1 --request tablet-1.satchel",
          "A new device asks to join.")
      ], changesData: true
    ) { command, context in
      let root = command.path(command.argument("DIR"))
      let isStreamed = command.value("request") == Streams.word
      if isStreamed { try Streams.checkOutput(context) }
      let request = isStreamed ? Paths.join(root, "request.satchel") : command.path(command.value("request") ?? "")
      let isThere = try context.platform.files.kind(WorkspaceFolder(root).configuration) != nil
      let workspace = try DeviceWorkspace.create(
        root, dataset: command.value("dataset") ?? "", name: command.value("name") ?? "",
        database: command.value("database") ?? "data.sqlite", platform: context.platform, runMode: command.runMode)
      let name = workspace.configuration.name
      if let docked = workspace.configuration.docks {
        throw WorkspaceError(
          .exists, "The workspace \(root) is there already, and its database \(docked) is on a tablet.",
          hint: "Exchange with the tablet: satchel dock FOLDER")
      }
      if command.dryRun {
        return Answer(
          "\(root) would be made for the device \(name), and \(request) written.\n", ["workspace": .string(root)])
      }
      let key: PublicKey
      do { key = try workspace.writeRequest(to: request) } catch {
        if !isThere { try workspace.folder.undoCreation(context.platform.files) }
        throw error
      }
      let database = workspace.configuration.databasePath(workspace.folder)
      let begun: TerminalText =
        isThere
        ? "The workspace \(root) waits for the hub's first bundle; its request is written once more."
        : "Made the workspace \(root) for the device \(name)."
      let text: TerminalText = """
        \(begun)
        The request is in \(isStreamed ? "standard output" : request): carry it to the hub.
        The app must open the file \(database).

        The fingerprint of this device's key is

            \(key.fingerprint)

        The hub's operator types it there, as you read it out.

        """
      let traits = context.console.traits
      let picture = traits.showsOutput ? KeyCommands.picture(key, colour: traits.colour) : ""
      var answer = Answer(
        text + picture,
        [
          "workspace": .string(root), "device": .string(name), "id": .string(workspace.configuration.id.text),
          "request": .string(request), "fingerprint": .string(key.fingerprint), "database": .string(database),
        ])
      if isStreamed { answer.output = request }
      return answer
    }
  }
}
