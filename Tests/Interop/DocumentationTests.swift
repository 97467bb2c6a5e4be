import Foundation
import TestSupport
import Testing

/// Whether DocC is installed. It is a part of the toolchains from swift.org, but not of all others.
private let hasDocC: Bool = {
  let swift = try? runProgram(at: "/usr/bin/env", ["bash", "-c", "readlink -f \"$(command -v swift)\""], in: "/")
  let path = URL(filePath: swift?.lines.first ?? "/").deletingLastPathComponent().appending(path: "docc").path
  return FileManager.default.isExecutableFile(atPath: path)
}()

@Suite("The library's documentation", .enabled(if: hasDocC))
struct DocumentationTests {
  private static let top = PackageFolder.url.path
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func build(_ catalogue: String) throws -> ToolResult {
    let modules = URL(filePath: builtProgram("satchel")).deletingLastPathComponent().path
    return try runProgram(
      at: "/usr/bin/env", ["SATCHEL_BUILD=\(modules)", "\(Self.top)/scripts/docs.sh", folder("docs"), catalogue],
      in: folder.path)
  }

  @Test("it is built from what is there, with no warning, and has a page for each call that it names")
  func everything() throws {
    let built = try build("\(Self.top)/docs/SatchelDevice.docc")
    #expect(built.status == 0, "\(built.complaint)")
    for page in ["satchel/bringingsatchelalong", "satcheldevice/deviceworkspace", "satcheldevice/devicestatus"] {
      #expect(FileManager.default.fileExists(atPath: folder("docs/data/documentation/\(page).json")), "\(page)")
    }
  }

  @Test("a link that leads nowhere stops it, and is named with its place")
  func brokenLink() throws {
    let catalogue = folder("SatchelDevice.docc")
    try FileManager.default.copyItem(atPath: "\(Self.top)/docs/SatchelDevice.docc", toPath: catalogue)
    let page = URL(filePath: "\(catalogue)/BringingSatchelAlong.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    try Data(text.replacingOccurrences(of: "DeviceWorkspace/status()", with: "DeviceWorkspace/mood()").utf8).write(
      to: page)
    let built = try build(catalogue)
    #expect(built.status == 1)
    #expect(built.complaint.contains("BringingSatchelAlong.md:"), "\(built.complaint)")
    #expect(!FileManager.default.fileExists(atPath: folder("docs")))
  }
}
