import SatchelHub
import SatchelPlatform
import SatchelWorkspace

extension ConsoleSite {
  /// Begins to import the uploaded files, as the command does.
  func take(_ request: WebRequest) throws -> WebResponse {
    guard let upload = request.files as? ConsoleUpload, !upload.paths.isEmpty else {
      throw UsageError("no file was chosen")
    }
    let (names, command) = (upload.paths.keys.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }, command)
    return try begin(
      ConsoleTask(
        title: "Import \(Words.count(names.count, "file"))", place: .overview,
        next: { _ in "<p><a href=\"conflicts?state=open\">Conflicts that wait</a></p>" }
      ) { context in
        defer { upload.discard() }
        let hub = try HubTool.open(command, context)
        let (taken, _) = try HubTool.take(names, into: hub, command) { name, body in
          try body(upload.paths[name] ?? name)
        }
        let answer = Hooks.run(after: taken, command, context)
        context.console.show(answer.text)
        context.console.warn(answer.warnings)
        context.console.show(answer.closing)
        return answer.code
      })
  }
}
