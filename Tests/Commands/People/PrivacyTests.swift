import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// Other users of the same machine must not read or write Satchel's files.
@Suite("Files that others on the machine can read and write")
struct PrivacyTests {
  let camp: CommandLineFixture
  private let files = HostFileSystem()

  init() throws { camp = try CommandLineFixture() }

  /// The files and folders below a folder to which other users have any rights.
  private func open(_ folder: String) throws -> [String] {
    try StockTool.bash("-c", "find \(folder) -perm /077", in: camp.root).lines
  }

  private func chmod(_ mode: UInt32, _ path: String) throws { try files.restrict(camp.path(path), to: mode) }

  /// Runs commands until files of every kind exist.
  private func work() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1, words = 'mine' WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'theirs' WHERE id = 'r1'")
    try camp.carry("tablet", rounds: 2)
    try camp.writeDamagedBundle("junk.satchel")
    camp.hub("import", camp.path("junk.satchel"))
    #expect(camp.hub("emit", "--device", "phone", "--full", "--volume-size", "64K").code == 0)
    #expect(camp.hub("compact").code == 0)
    #expect(camp.hub("restore", "--in-place").code == 0)
    #expect(camp.hub("backup", camp.path("monday.satchel")).code == 0)
    try camp.makeFolder("card")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    #expect(camp.device("tablet", "export", "--to", camp.path("card"), "--snapshot").code == 0)
  }

  @Test("nothing below bundles/, and no backup, is open to others who may not read the database, from the start on")
  func closed() throws {
    try camp.makeOffice()
    try chmod(0o600, "office.sqlite")
    try camp.write("camp.json", CommandLineFixture.definition)
    camp.makeHub("hub", over: "office.sqlite")
    for words in [["ann", "tier=1"], ["ben", "tier=2"]] { camp.hub("user", "add", words[0], words[1]) }
    camp.provision("tablet")
    camp.provision("phone", for: "ben")
    try chmod(0o600, "tablet/data.sqlite")
    try work()
    #expect(try open("hub/bundles") == [])
    #expect(try open("tablet/bundles") == [])
    #expect(try open("monday.satchel") == [])
    // Other users may read the bundles on a card, because people carry these.
    #expect(try open("card").count == 2)
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("the next command closes what an earlier release left open, and leaves open what the database is")
  func corrected() throws {
    try camp.open()
    try work()
    #expect(try !open("hub/bundles").isEmpty && !open("tablet/bundles").isEmpty)
    try chmod(0o640, "office.sqlite")
    #expect(camp.hub("status").code == 0)
    #expect(try files.permissions(camp.path("hub/bundles")) == 0o750)
    #expect(try StockTool.bash("-c", "find hub/bundles -perm /027", in: camp.root).lines == [])
    try chmod(0o600, "office.sqlite")
    try chmod(0o600, "tablet/data.sqlite")
    #expect(camp.hub("doctor").code == 0)
    #expect(camp.device("tablet", "export").code == 0)
    #expect(try open("hub/bundles") == [] && open("tablet/bundles") == [])
  }

  @Test("a database that is created again has the same access rights as the lost database")
  func rebuilt() throws {
    try camp.open()
    try camp.carry("tablet")
    try chmod(0o600, "tablet/data.sqlite")
    #expect(camp.device("tablet", "export").code == 0)
    try camp.remove("tablet/data.sqlite")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(try files.permissions(camp.path("tablet/data.sqlite")) == 0o600)
    #expect(try open("tablet/bundles") == [])
  }

  @Test("a hub that is restored is as closed as the file of its backup")
  func restored() throws {
    try camp.open()
    try chmod(0o600, "office.sqlite")
    try camp.backUp()
    try camp.restore()
    #expect(try files.permissions(camp.path("hub/office.sqlite")) == 0o600)
    #expect(try open("hub/bundles") == [])
  }

  @Test("keys in a folder into which others can write are not used, on either side, and the way out is said")
  func openKeys() throws {
    try camp.open()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    #expect(camp.device("tablet", "export").code == 0)
    let export = camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel")
    for mode in [0o777, 0o720] as [UInt32] {
      for place in ["tablet", "hub"] { try chmod(mode, "\(place)/keys") }
      for outcome in [
        camp.device("tablet", "export"), camp.hub("emit", "--all"), camp.hub("import", export),
        camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-1.satchel")),
      ] {
        #expect(outcome.code != 0 && outcome.error.contains("Others can put keys into the folder"), "\(outcome)")
        #expect(outcome.error.contains("chmod 700"), "\(outcome)")
      }
    }
    for place in ["tablet", "hub"] { try chmod(0o700, "\(place)/keys") }
    #expect(camp.hub("import", export).code == 0)
  }
}
