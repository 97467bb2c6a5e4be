import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The pages of one command, for one browser on this machine.
protocol LocalSite: Sendable {
  var gate: PageGate { get }
  /// Decides how the body of a form is read, before any byte of it is stored.
  func intake(_ page: String, _ request: WebRequest) -> WebIntake
  /// The answer to a request that the gate admits.
  func served(_ page: String, _ request: WebRequest) -> WebResponse
}

extension LocalSite {
  /// Decides about a request before any byte of its body is stored. Refuses a request that the gate does not admit, or
  /// that is too large. Only forms have a body.
  func receive(_ request: WebRequest) -> WebIntake {
    let verdict = gate.verdict(on: request)
    if case .refused(let answer) = verdict { return .refused(answer.sealed) }
    guard request.method == "POST", case .admitted(let page) = verdict else { return .nothing }
    return intake(page, request)
  }

  func answer(_ request: WebRequest) -> WebResponse {
    switch gate.verdict(on: request) {
    case .refused(let answer): answer.sealed
    case .enters(let token): gate.enter(token, request).sealed
    case .admitted(let page): served(page, request).sealed
    }
  }
}

/// A command that shows pages in a browser until it is asked to end.
enum LocalPages {
  static let port = OptionSpec("port", kind: .value("NUMBER"), help: "listen there (any port that is free)")

  /// The last paragraph in the help of each command that shows pages.
  static let words = """
    The pages are for browsers on this machine alone. The address that is printed works once, in one browser, and \
    nothing is loaded from elsewhere. Ctrl-C ends it.
    """

  /// The port that the command line names; 0: any free port.
  static func port(of command: ParsedCommand) throws -> UInt16 {
    guard let port = UInt16(command.value(Self.port.long) ?? "0") else {
      throw UsageError("--port takes a number up to 65535")
    }
    return port
  }

  /// Shows the pages until the command is asked to end. Prints the address for the browser first.
  /// - Parameter name: the pages as people call them, such as `console`.
  static func serve(
    _ site: some LocalSite, named name: String, port: UInt16, _ command: ParsedCommand, _ context: CommandContext
  ) throws -> ExitCode {
    guard let server = context.webServer else {
      throw WorkspaceError(.noConsole, "This program was built without the \(name).")
    }
    let (gate, console, isJSON) = (site.gate, context.console, command.json)
    let path = command.path.joined(separator: " ")
    try server.serve(
      port: port, until: context.endRequest,
      ready: { port in
        gate.open(port: port)
        let address = "http://127.0.0.1:\(port)/?token=\(gate.token)"
        let document: JSONValue = [
          "ok": true, "command": .string(path), "address": .string(address), "port": .integer(Int64(port)),
        ]
        console.show(
          isJSON
            ? TerminalText(document: document)
            : "Open this in a browser on this machine; it works once:\n\n  \(address)\n\nCtrl-C ends it.\n")
      }, receive: { site.receive($0) }, answer: { site.answer($0) })
    return .done
  }
}

extension ParsedCommand {
  /// The options of this command line that name its workspace and the password of its keys.
  var wordsOfWorkspace: [String] {
    let file = value(OptionSpec.passwordFile.long)
    return ["-C", directory] + (file.map { ["--\(OptionSpec.passwordFile.long)=\($0)"] } ?? [])
  }
}
