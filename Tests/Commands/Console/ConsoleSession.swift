import Foundation
import SatchelCommands
import SatchelPlatform
import SatchelWeb
import TestSupport
import Testing

extension CommandLineFixture {
  /// Runs `body` with a browser that the hub's console has admitted.
  /// - Parameter options: more words of the command line.
  func inBrowser(
    on platform: Platform = .real, options: [String] = [], _ body: (Browser) throws -> Void
  ) throws {
    let folder = path("hub")
    try browse(body) { console, end in
      runHubTool(
        ["-C", folder, "console", "--json"] + options, platform: platform, console: console, endRequest: end,
        webServer: LoopbackServer())
    }
  }

  /// Runs `body` with a browser that the window of a device has admitted.
  /// - Parameter options: more words of the command line.
  func inWindow(of device: String = "tablet", options: [String] = [], _ body: (Browser) throws -> Void) throws {
    let (folder, platform) = (path(device), platform)
    try browse(body) { console, end in
      runDeviceTool(
        ["-C", folder, "window", "--json"] + options, platform: platform, console: console, endRequest: end,
        webServer: LoopbackServer())
    }
  }

  /// Runs a command that serves pages, and `body` with a browser that it has admitted.
  private func browse(
    _ body: (Browser) throws -> Void, serving command: @escaping @Sendable (CollectingConsole, EndOfTest) -> Int32
  ) throws {
    let (console, end) = (CollectingConsole(), EndOfTest())
    let done = DispatchGroup()
    done.enter()
    Thread.detachNewThread {
      #expect(command(console, end) == 0)
      done.leave()
    }
    defer {
      end.come()
      done.wait()
    }
    end.waitUntilAsked()
    let address = try #require(try Outcome(code: 0, out: console.outText, error: "").json["address"]?.stringValue)
    try body(try Browser(address))
  }

  /// The ids of the conflicts that wait, in the order of the list.
  func conflictIDs() throws -> [String] {
    try hub("conflicts", "--json").json["conflicts"]?.arrayValue?.compactMap { $0["id"]?.stringValue } ?? []
  }
}

extension Browser.Answer {
  /// The mark of the row that the page of a conflict shows.
  var rowMark: String { hidden("row") }

  /// The mark of the conflicts that a page about many shows.
  var setMark: String { hidden("seen") }

  /// The value of a hidden field.
  func hidden(_ field: String) -> String {
    String(text.components(separatedBy: "name=\"\(field)\" value=\"").last?.prefix { $0 != "\"" } ?? "")
  }
}
