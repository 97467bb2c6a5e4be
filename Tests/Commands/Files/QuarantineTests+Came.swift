import Foundation
import SatchelJSON
import Testing

/// Refused files whose changes came later in another bundle. `status` asks for nothing about them.
extension QuarantineTests {
  private static let step = "quarantine list shows why files were refused"

  /// For each file in the quarantine: whether its changes have come since.
  private func came() throws -> [JSONValue?]? {
    try camp.hub("quarantine", "list", "--json").json["refused"]?.arrayValue?.map { $0["came"] }
  }

  @Test("a refused file whose changes have come since asks for nothing", arguments: [true, false])
  func changesCame(inSameBundle: Bool) throws {
    let file = try damaged("tablet")
    #expect(camp.hub("import", file).code == 3)
    #expect(camp.hub("import", try damaged("phone")).code == 3)
    #expect(camp.hub("status").out.contains("2 refused files; the newest"))
    if inSameBundle {
      try flip(file)
      #expect(camp.hub("import", file).code == 0)
    } else {
      try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'r1'")
      #expect(camp.hub("import", try camp.export("tablet")).code == 0)
    }
    let status = camp.hub("status").out
    #expect(status.contains("1 refused file; the newest"), "\(status)")
    #expect(status.contains("1 refused file whose changes have come since"), "\(status)")
    #expect(status.contains(Self.step), "The phone's changes have not come: \(status)")
    try camp.sql("phone/data.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'p'")
    #expect(camp.hub("import", try camp.export("phone")).code == 0)
    let both = camp.hub("status").out
    #expect(both.contains("2 refused files whose changes have come since") && !both.contains(Self.step), "\(both)")
    #expect(try kept().count == 2)
    #expect(try came() == [true, true])
  }

  @Test("status looks into encrypted refused files if it can, and needs no secret for that")
  func withoutIdentity() throws {
    let sealed = try #require(
      try camp.device("tablet", "export", "--encrypt", "--json").json["file"]?.stringValue)
    #expect(camp.hub("import", sealed).code == 0)
    try FileManager.default.copyItem(
      atPath: sealed, toPath: camp.path("hub/bundles/quarantine/20260101T000000Z-sealed.satchel"))
    #expect(camp.hub("status").out.contains("1 refused file whose changes have come since"))
    try camp.remove("hub/keys/own.identity")
    let status = camp.hub("status")
    #expect(status.code == 0 && status.out.contains("1 refused file; the newest"), "\(status)")
  }

  @Test("the work of a copy does not count as come because its device delivered bundles with later numbers")
  func workOfCopy() throws {
    try fork()
    #expect(camp.hub("device", "fork", "tablet", "--keep", "1").code == 0)
    for stars in 3...4 {
      try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = \(stars) WHERE id = 'r1'")
      #expect(camp.hub("import", try camp.export("tablet")).code == 0)
    }
    #expect(try came() == [false])
    #expect(camp.hub("status").out.contains(Self.step))
  }
}
