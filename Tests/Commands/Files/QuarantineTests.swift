import Foundation
import SatchelPlatform
import SatchelWorkspace
import TestSupport
import Testing

/// Which files the quarantine keeps, and for how long.
@Suite("The room of the quarantine")
struct QuarantineTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  func kept() throws -> [String] {
    try HostFileSystem().list(camp.path("hub/bundles/quarantine")).filter { $0.hasSuffix(".satchel") }
  }

  /// An export of a device. One byte behind its manifest is changed.
  func damaged(_ device: String) throws -> String {
    let row = device == "tablet" ? "'t', 'lake', 'ann'" : "'p', 'lake', 'bob'"
    try camp.sql("\(device)/data.sqlite", "INSERT INTO reviews VALUES (\(row), 1, hex(randomblob(300000)))")
    let path = try camp.export(device)
    try flip(path)
    return path
  }

  /// Changes one byte of the file. A second call changes it back.
  func flip(_ path: String) throws {
    var bytes = try Data(contentsOf: URL(filePath: path))
    bytes[bytes.count - 100_000] ^= 1
    try bytes.write(to: URL(filePath: path))
  }

  @Test("the refused files of one signer leave room for those of another")
  func room() throws {
    for number in 1...205 {
      try camp.writeDamagedBundle("junk.satchel", "\(number)")
      #expect(camp.hub("import", camp.path("junk.satchel")).code == 3)
    }
    #expect(try kept().count == 200)
    #expect(camp.hub("import", try damaged("tablet")).code == 3)
    #expect(try kept().count == 201)
    #expect(camp.hub("import", camp.path("junk.satchel")).code == 3)
    #expect(try kept().count == 201)
  }

  @Test("the quarantine keeps a file that fills its last bytes, and no more files after that")
  func bytes() throws {
    let large = camp.path("hub/bundles/quarantine/large.satchel")
    #expect(FileManager.default.createFile(atPath: large, contents: nil))
    let file = try #require(FileHandle(forWritingAtPath: large))
    // The file is sparse, so it needs no room on the disk.
    try file.truncate(atOffset: UInt64(Quarantine.mostBytes) - 4)
    for (junk, isKept) in [("junk", true), ("more", false)] {
      let place = camp.path("hub/bundles/inbox/\(junk).satchel")
      try camp.write("hub/bundles/inbox/\(junk).satchel", junk)
      #expect(camp.hub("import", place).code == 3)
      #expect(FileManager.default.fileExists(atPath: place) != isKept)
    }
    #expect(try kept().count == 2)
    #expect(camp.hub("status").out.contains("bundles/quarantine is full"))
  }

  @Test("a file that is no bundle by its first bytes stays where the person has it, and is not copied")
  func film() throws {
    try camp.write("film.mp4", "ftypisom: a film")
    let outcome = camp.hub("import", camp.path("film.mp4"))
    #expect(outcome.code == 3 && outcome.error.contains("This is not a Satchel bundle"), "\(outcome)")
    #expect(FileManager.default.fileExists(atPath: camp.path("film.mp4")))
    #expect(try HostFileSystem().list(camp.path("hub/bundles/quarantine")).isEmpty)
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_ledger WHERE verdict = 'refused'") == "1")
    // A damaged bundle is kept as evidence, even if no signature in it can be read.
    try camp.writeDamagedBundle("damaged.satchel")
    #expect(camp.hub("import", camp.path("damaged.satchel")).code == 3)
    #expect(try kept().count == 1)
    // A refused file in the inbox is moved to the quarantine, although it is no bundle.
    try camp.write("hub/bundles/inbox/film.satchel", "ftypisom: a film")
    #expect(camp.hub("import", camp.path("hub/bundles/inbox/film.satchel")).code == 3)
    #expect(try kept().count == 2)
    #expect(try HostFileSystem().list(camp.path("hub/bundles/inbox")).isEmpty)
  }

  enum End: CaseIterable { case revoke, revokeFromLater, revokeOfCopies, age, ageOfCopies }

  @Test(
    """
    refused files go after 90 days, and when their device is revoked, but for those that still count and those of \
    copies
    """,
    arguments: End.allCases)
  func end(_ end: End) throws {
    if end == .revokeOfCopies || end == .ageOfCopies { try fork() }
    #expect(camp.hub("import", try damaged("phone")).code == 3)
    if end == .revoke || end == .revokeFromLater || end == .age {
      #expect(camp.hub("import", try damaged("tablet")).code == 3)
    }
    let before = try kept()
    #expect(before.count == 2, "\(before)")
    let copies = before.filter { $0.contains("tablet") }
    switch end {
    case .revoke:
      #expect(camp.hub("device", "revoke", "tablet").code == 0)
      #expect(try kept() == before.filter { $0.contains("phone") })
    case .revokeFromLater:
      #expect(camp.hub("device", "revoke", "tablet", "--from", "2").code == 0)
      #expect(try kept() == before)
    case .revokeOfCopies:
      #expect(camp.hub("device", "revoke", "tablet").code == 0)
      #expect(try kept() == before)
    case .age:
      later { #expect(camp.hub("compact").code == 0) }
      #expect(try kept() == [])
    case .ageOfCopies:
      later { #expect(camp.hub("compact").code == 0) }
      #expect(try kept() == copies && copies.count == 1)
    }
  }

  /// The tablet and a copy of the tablet both deliver. The hub refuses the second bundle of the copy.
  func fork() throws {
    try camp.copy("tablet", to: "copy")
    try camp.sql("copy/data.sqlite", "UPDATE reviews SET stars = 5 WHERE id = 'r1'")
    _ = try camp.export("copy")
    for (place, name) in ["tablet", "copy"].enumerated() {
      try camp.sql("\(name)/data.sqlite", "UPDATE reviews SET stars = \(place + 1) WHERE id = 'r1'")
      let outcome = camp.hub("import", try camp.export(name))
      #expect(outcome.code == (place == 0 ? 0 : 3), "\(outcome)")
    }
  }

  /// Runs `body` while the tools' clock is 91 days ahead.
  private func later(_ body: () -> Void) { camp.by(LaterClock(), body) }

  @Test("the name of a refused file has no character that commands a terminal, and is not too long")
  func safeNames() throws {
    let long = String(repeating: "x", count: 240)
    for (number, name) in ["a\u{1b}[2J\n\u{202e}b", long].enumerated() {
      try camp.writeDamagedBundle("\(name).satchel", "\(number)")
      #expect(camp.hub("import", camp.path("\(name).satchel")).code == 3)
    }
    let names = try kept()
    #expect(names.count == 2 && names.contains { $0.hasSuffix("a_[2J__b.satchel") }, "\(names)")
  }
}

private struct LaterClock: WallClock {
  func milliseconds() -> Int64 { SystemClock().milliseconds() + 91 * 86_400_000 }
  func pause(milliseconds: Int64) {}
}
