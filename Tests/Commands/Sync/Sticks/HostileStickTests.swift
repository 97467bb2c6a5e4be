import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// A stick's file system may have links, pipes and devices. A courier can put any of them on the stick.
@Suite("Sticks that hold links and other things that are no files")
struct HostileStickTests {
  let camp: CommandLineFixture
  private let stick: String

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    stick = camp.path("stick")
    try camp.makeFolder("stick")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try camp.sql("phone/data.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'r2'")
    for name in ["tablet", "phone"] { #expect(camp.device(name, "sync", stick).code == 0) }
    // Files of another person, to which links on the stick lead.
    for place in ["precious", "precious/tablet", "precious/hub"] { try camp.makeFolder(place) }
    for place in ["precious", "precious/tablet", "precious/hub"] {
      try camp.write("\(place)/camp-hub-tablet-1.satchel", "precious")
      try camp.makeFolder("\(place)/.satchel-0123456789abcdef")
      try camp.write("\(place)/.satchel-0123456789abcdef/notes", "precious")
    }
  }

  private func link(_ path: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: camp.path(path), withDestinationPath: camp.path(target))
  }

  private func precious() throws -> [String: Data] { try camp.everything().filter { $0.key.hasPrefix("precious") } }

  private func imported(_ id: String) throws -> String {
    try camp.rows("office.sqlite", "SELECT stars FROM reviews WHERE id = '\(id)'")
  }

  @Test("a link in the place of SATCHEL is refused by name on both sides, and nothing beyond it is touched")
  func atTheTop() throws {
    try camp.remove("stick/SATCHEL")
    try link("stick/SATCHEL", to: "precious")
    let before = try precious()
    for outcome in [camp.hub("sync", stick), camp.device("tablet", "sync", stick)] {
      #expect(outcome.code == 1, "\(outcome)")
      #expect(outcome.error.contains("stick/SATCHEL: this is a symbolic link"), "\(outcome.error)")
      #expect(outcome.error.contains("Remove it"))
    }
    #expect(try precious() == before)
    #expect(try imported("r1") == "4")
  }

  @Test(
    """
    a link in the place of a folder on the stick is refused by name, nothing is written, removed or imported through \
    it, and all the rest is done
    """,
    arguments: ["camp/hub", "camp/hub/tablet", "camp/tablet", "camp/tablet/hub"])
  func folders(place: String) throws {
    try camp.removeIfThere("stick/SATCHEL/\(place)")
    try camp.makeFolder(Paths.parent(of: "stick/SATCHEL/\(place)"))
    try link("stick/SATCHEL/\(place)", to: "precious")
    let before = try precious()
    let outcome = camp.hub("sync", stick)
    #expect(outcome.code == (place.hasPrefix("camp/hub") ? 3 : 5), "\(outcome)")
    #expect(outcome.error.contains("stick/SATCHEL/\(place): this is a symbolic link"), "\(outcome.error)")
    #expect(try precious() == before)
    #expect(try imported("r2") == (place == "camp/hub" ? "5" : "2"))
    let end = place.hasPrefix("camp/hub") ? "Not everything was done" : "Not everything is on the stick"
    #expect(outcome.out.contains(end), "\(outcome.out)")
    #expect(
      FileManager.default.fileExists(atPath: camp.path("stick/SATCHEL/camp/phone/hub/camp-hub-phone-2.satchel"))
        == (place != "camp/hub"), "\(outcome)")
  }

  @Test("a link, a pipe and a folder that are called like bundles are refused by name, and never opened")
  func files() throws {
    let folder = "stick/SATCHEL/camp/hub/tablet"
    try FileManager.default.moveItem(
      atPath: camp.path("\(folder)/camp-tablet-hub-1.satchel"), toPath: camp.path("real.satchel"))
    try link("\(folder)/camp-tablet-hub-1.satchel", to: "real.satchel")
    #expect(mkfifo(camp.path("\(folder)/camp-tablet-hub-2.satchel"), 0o600) == 0)
    try camp.makeFolder("\(folder)/camp-tablet-hub-3.satchel")
    let outcome = camp.hub("sync", stick)
    #expect(outcome.code == 3, "\(outcome)")
    for (number, words) in [
      (1, "this is a symbolic link"), (2, "this is a device, pipe or socket"), (3, "this is a folder"),
    ] {
      #expect(outcome.error.contains("camp-tablet-hub-\(number).satchel: \(words)"), "\(outcome.error)")
    }
    #expect(try imported("r1") == "4" && imported("r2") == "2")
    let document = try camp.hub("sync", stick, "--json").json
    #expect(document["refused"]?.arrayValue?.count == 3)
    #expect(try HostFileSystem().kind(camp.path("real.satchel")) == .file)
  }

  @Test("a link in the place of a bundle that goes onto the stick is replaced, and not written through")
  func outgoing() throws {
    try camp.makeFolder("stick/SATCHEL/camp/tablet/hub")
    try link("stick/SATCHEL/camp/tablet/hub/camp-hub-tablet-2.satchel", to: "precious/tablet/camp-hub-tablet-1.satchel")
    try link("stick/SATCHEL/camp/tablet/hub/camp-hub-tablet-1.satchel", to: "precious/hub/camp-hub-tablet-1.satchel")
    try link("stick/SATCHEL/camp/tablet/hub/.satchel-0123456789abcdef", to: "precious")
    try camp.removeIfThere("stick/SATCHEL/README.txt")
    try link("stick/SATCHEL/README.txt", to: "precious/tablet/camp-hub-tablet-1.satchel")
    let before = try precious()
    #expect(camp.hub("sync", stick).code == 0)
    #expect(try precious() == before)
    #expect(camp.device("tablet", "sync", stick).code == 0)
    #expect(try HostFileSystem().kind(camp.path("stick/SATCHEL/README.txt")) == .file)
  }

  @Test("only files that are called like a bundle of the dataset are removed from a stick")
  func others() throws {
    try camp.makeFolder("stick/SATCHEL/camp/tablet/hub")
    for name in ["precious.satchel", "other-hub-tablet-1.satchel", "camp-hub-tablet-x.satchel", "camp-notes.satchel"] {
      try camp.write("stick/SATCHEL/camp/tablet/hub/\(name)", "another person's")
    }
    #expect(camp.hub("sync", stick).code == 0)
    let left = try HostFileSystem().list(camp.path("stick/SATCHEL/camp/tablet/hub"))
    #expect(left.count == 5 && left.contains("camp-hub-tablet-2.satchel"), "\(left)")
    let outcome = camp.device("tablet", "sync", stick)
    #expect(outcome.code == 0 && outcome.out.contains("4 files for tablet have no bundle's name"), "\(outcome)")
  }

  @Test("a link among watched sticks is no stick, and a link in the place of SATCHEL is reported")
  func watch() throws {
    try camp.makeFolder("media/bad")
    try camp.makeFolder("elsewhere/SATCHEL")
    try link("media/linked", to: "elsewhere")
    try link("media/bad/SATCHEL", to: "precious")
    let before = try precious()
    let outcome = camp.hub("watch", "--once", camp.path("media"), "--json")
    #expect(outcome.code == 1 && outcome.error.contains("media/bad/SATCHEL: this is a symbolic link"), "\(outcome)")
    #expect(try outcome.json["visits"] == 1)
    #expect(try precious() == before)
    #expect(try HostFileSystem().list(camp.path("elsewhere/SATCHEL")).isEmpty)
  }

  @Test(
    """
    a link in the place of one of a workspace's folders for bundles is refused by name, and nothing is written beyond \
    it
    """,
    arguments: ["bundles", "bundles/inbox", "bundles/quarantine", "bundles/archive", "bundles/outbox", "bundles/sent"])
  func workspace(place: String) throws {
    try FileManager.default.moveItem(atPath: camp.path("hub/\(place)"), toPath: camp.path("moved"))
    try link("hub/\(place)", to: "precious")
    let before = try precious()
    let outcome = camp.hub("import", camp.path("stick/SATCHEL/camp/hub/tablet/camp-tablet-hub-1.satchel"))
    #expect(outcome.code == 1 && outcome.error.contains("hub/\(place): this is a symbolic link"), "\(outcome)")
    #expect(camp.hub("emit", "--all").code == 1)
    #expect(try precious() == before)
  }

  @Test("a link that a person names is followed, but not one in the workspace's own folders")
  func named() throws {
    let real = camp.path("stick/SATCHEL/camp/hub/tablet/camp-tablet-hub-1.satchel")
    try FileManager.default.createSymbolicLink(
      atPath: camp.path("hub/bundles/inbox/linked.satchel"), withDestinationPath: real)
    let inside = camp.hub("import", camp.path("hub/bundles/inbox/linked.satchel"))
    #expect(inside.code == 1 && inside.error.contains("linked.satchel: this is a symbolic link"), "\(inside)")
    try FileManager.default.createSymbolicLink(atPath: camp.path("named.satchel"), withDestinationPath: real)
    #expect(camp.hub("import", camp.path("named.satchel")).code == 0)
    #expect(try imported("r1") == "1")
  }
}
