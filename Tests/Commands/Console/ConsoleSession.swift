import Foundation
import SatchelCommands
import SatchelPlatform
import SatchelWeb
import TestSupport
import Testing

extension CommandLineFixture {
  /// Starts the hub's console, and runs `body` with a browser that the console has admitted.
  /// - Parameter options: further arguments of the command.
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

  /// Starts a device's window, and runs `body` with a browser that the window has admitted.
  /// - Parameter options: further arguments of the command.
  func inWindow(of device: String = "tablet", options: [String] = [], _ body: (Browser) throws -> Void) throws {
    let (folder, platform) = (path(device), platform)
    try browse(body) { console, end in
      runDeviceTool(
        ["-C", folder, "window", "--json"] + options, platform: platform, console: console, endRequest: end,
        webServer: LoopbackServer())
    }
  }

  /// Runs a command that serves pages. Meanwhile runs `body` with a browser that the command has admitted.
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
}

extension Browser.Answer {
  /// The hidden field of a conflict's page that identifies the shown state of the row.
  var rowMark: String { hidden("row") }

  /// The hidden field of a page about many conflicts that identifies the shown set of conflicts.
  var setMark: String { hidden("seen") }

  /// The value of this hidden form field in the page.
  func hidden(_ field: String) -> String {
    String(text.components(separatedBy: "name=\"\(field)\" value=\"").last?.prefix { $0 != "\"" } ?? "")
  }
}
