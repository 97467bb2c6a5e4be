import SatchelCrypto
import SatchelDevice
import SatchelJSON
import SatchelValues
import TestSupport
import Testing

@testable import SatchelHub

/// The hub keeps a limited number of versions of one file from one device beside the file's name.
@Suite("Limit of the versions beside a name")
struct VersionLimitTests {
  private let lab: AttackFixture
  private let hub: HubWorkspace
  /// The path of a file that a row of the victim's user names.
  private let path = AttackFixture.missing

  init() throws {
    lab = try AttackFixture()
    var hub = lab.hub
    hub.mostBeside = 2
    self.hub = hub
  }

  /// Imports a bundle with a version of the file.
  private func bring(_ text: String, by device: DeviceWorkspace, _ name: String) throws -> HubImportReport {
    let merged = try lab.atHub("SELECT merged FROM satchel_devices WHERE name = '\(name)'").first
    let blob = Array(text.utf8)
    let bytes = try Forger(device, lab.platform, sequence: merged.flatMap { Int64($0) }).bundle { content in
      content.attachments = [
        [
          "op": "file", "path": .string(path), "digest": .string(Digest.of(blob).hexadecimal),
          "bytes": .integer(Int64(blob.count)),
        ]
      ]
      content.blobs = [blob]
    }
    lab.tick()
    try lab.folder.write(bytes, to: "file.satchel")
    return try hub.importBundle(lab.folder("file.satchel"))
  }

  private func received(from name: String) throws -> [String] {
    try lab.atHub(
      """
      SELECT kept = path FROM satchel_received JOIN satchel_devices ON satchel_devices.id = device
      WHERE name = '\(name)' AND path = '\(path)'
      """)
  }

  @Test("beyond the limit a version is neither stored nor confirmed, and the rest of its bundle is taken")
  func beyondTheLimit() throws {
    for number in 1...2 { #expect(try bring("prank \(number)", by: lab.evil, "evil").attached == 1) }
    let report = try bring("prank 3", by: lab.evil, "evil")
    #expect(report.verdict == .imported && report.attached == 0 && report.beside.isEmpty)
    #expect(try received(from: "evil") == ["0", "0"])
    // The hub accepts a version again that it already has.
    #expect(try bring("prank 2", by: lab.evil, "evil").verdict == .imported)
    #expect(try received(from: "evil") == ["0", "0"])
  }

  @Test("the versions of one device do not count for another device")
  func otherDevice() throws {
    for number in 1...3 { _ = try bring("prank \(number)", by: lab.evil, "evil") }
    #expect(try bring("the true one", by: lab.victim, "victim").attached == 1)
    #expect(try lab.hubFile(path) == "the true one")
    #expect(try received(from: "victim") == ["1"])
  }
}
