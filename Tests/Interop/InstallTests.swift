import Foundation
import TestSupport
import Testing

@Suite("What is installed")
struct InstallTests {
  private static let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  private func install(into folder: TemporaryFolder) throws {
    let tools = URL(filePath: builtProgram("satchel")).deletingLastPathComponent().path
    let done = try runProgram(
      at: "/usr/bin/env", ["DESTDIR=\(folder.path)", "\(Self.top)/scripts/install.sh", tools, "/opt/satchel"], in: folder.path)
    #expect(done.status == 0, "\(done.complaint)")
  }

  @Test("tools, manual pages, completion, units and the rule for sticks lie where they belong, and units name the tools")
  func everything() throws {
    let folder = try TemporaryFolder()
    try install(into: folder)
    let root = "\(folder.path)/opt/satchel"
    for tool in ["satchel", "satchel-hub"] {
      #expect(try runProgram(at: "\(root)/bin/\(tool)", ["--version"], in: root).text.hasPrefix("\(tool) "))
      for file in ["share/man/man1/\(tool).1", "share/bash-completion/completions/\(tool)"] {
        #expect(try !String(contentsOfFile: "\(root)/\(file)", encoding: .utf8).isEmpty)
      }
      for (kind, sticks) in [("user", "/media/%u"), ("system", "/run/satchel/sticks")] {
        let unit = try String(contentsOfFile: "\(root)/lib/systemd/\(kind)/\(tool)-watch@.service", encoding: .utf8)
        #expect(unit.contains("ExecStart=\"/opt/satchel/bin/\(tool)\" -C \"%f\" watch "), "\(unit)")
        #expect(unit.contains(sticks) && !unit.contains("@TOOL@"))
      }
    }
    // The device's tool has no web server in it.
    #expect(try !runProgram(at: "/usr/bin/ldd", ["\(root)/bin/satchel"], in: root).text.contains("microhttpd"))
    #expect(
      try String(contentsOfFile: "\(root)/lib/udev/rules.d/90-satchel.rules", encoding: .utf8).contains(
        "satchel-stick@%k.service"))
  }

  @Test(
    "systemd finds nothing wrong with the units",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze")))
  func units() throws {
    let folder = try TemporaryFolder()
    try install(into: folder)
    let units = "\(folder.path)/units"
    try FileManager.default.createDirectory(atPath: units, withIntermediateDirectories: true)
    for name in ["satchel-watch@", "satchel-hub-watch@", "satchel-stick@"] {
      // What is installed for later is looked at as if it were in its place.
      let unit = try String(contentsOfFile: "\(folder.path)/opt/satchel/lib/systemd/system/\(name).service", encoding: .utf8)
      try unit.replacingOccurrences(of: "/opt/satchel", with: "\(folder.path)/opt/satchel")
        .write(toFile: "\(units)/\(name)x.service", atomically: true, encoding: .utf8)
    }
    let done = try runProgram(
      at: "/usr/bin/systemd-analyze",
      ["verify", "--man=no"] + ["satchel-watch@", "satchel-hub-watch@", "satchel-stick@"].map { "\(units)/\($0)x.service" },
      in: folder.path)
    #expect(done.status == 0 && !done.complaint.contains("satchel"), "\(done.complaint)")
  }
}
