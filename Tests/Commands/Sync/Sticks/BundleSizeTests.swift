import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import Testing

/// Bundles with a limited size, for a slow line. Rows come first, and then as many photos as fit.
@Suite("Rows first")
struct BundleSizeTests: PhotoStory {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE reviews (id TEXT PRIMARY KEY, photo TEXT, words TEXT);
      """, CommandLineFixture.definition(#"{ "reviews": { "attachments": ["photo"] } }"#), devices: ["tablet"])
  }

  /// Makes reviews, each with a photo of 40,000 bytes. Compression cannot make these photos smaller.
  private func takePhotos(_ names: String..., in place: String, database: String) throws {
    for name in names {
      try takePhoto(name, in: place)
      try camp.sql(database, "INSERT INTO reviews (id, photo) VALUES ('\(name)', '\(name).jpg')")
    }
  }

  private func takePhoto(_ name: String, in place: String) throws {
    try camp.makeFolder("\(place)/files")
    let bytes = (0..<40_000).map { _ in UInt8.random(in: 0...255) }
    try Data(bytes).write(to: URL(filePath: camp.path("\(place)/files/\(name).jpg")))
  }

  /// A size with room for the rows and two photos.
  private static let forTwo = "110K"
  private static let bytesForTwo: Int64 = 110 << 10

  @Test("an export for a size has all rows and the photos that fit, and the next one takes the others")
  func export() throws {
    try takePhotos("r1", "r2", "r3", in: "tablet", database: "tablet/data.sqlite")
    let first = try camp.device("tablet", "export", "--size", Self.forTwo, "--json").json
    #expect(first["new"] == true && first["changes"]?["reviews"] == 3, "\(first)")
    #expect(first["files"] == 2 && first["files_left"] == 1, "\(first)")
    #expect(try HostFileSystem().size(camp.path(export(1))) <= Self.bytesForTwo)
    let left = try files("tablet")
    #expect(left["not_sent"] == 1 && left["not_sent_bytes"] == 40_000, "\(left)")
    #expect(camp.device("tablet", "status").out.contains("1 in no export yet (40 KiB)"))
    #expect(camp.hub("import", camp.path(export(1))).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") == "3")
    let second = try camp.device("tablet", "export", "--size", Self.forTwo, "--json").json
    #expect(second["new"] == true, "\(second)")
    #expect(try files("tablet")["not_sent"] == 0)
    #expect(camp.hub("import", camp.path(export(2))).code == 0)
    for name in ["r1", "r2", "r3"] {
      #expect(try camp.read("hub/files/\(name).jpg") == camp.read("tablet/files/\(name).jpg"))
    }
  }

  @Test("a finished export that is too large gives way to a smaller one, and stays if it fits")
  func otherSize() throws {
    try takePhotos("r1", "r2", "r3", in: "tablet", database: "tablet/data.sqlite")
    #expect(try camp.device("tablet", "export", "--json").json["files"] == 3)
    #expect(try camp.device("tablet", "export", "--size", "1M", "--json").json["new"] == false)
    let smaller = try camp.device("tablet", "export", "--size", Self.forTwo, "--json").json
    #expect(smaller["new"] == true && smaller["sequence"] == 2 && smaller["files"] == 2, "\(smaller)")
    #expect(try HostFileSystem().size(camp.path(export(2))) <= Self.bytesForTwo)
    // No export that can be carried contains the photo that was left out.
    #expect(try files("tablet")["not_sent"] == 1)
    #expect(try camp.device("tablet", "export", "--json").json["files"] == 3)
    #expect(try camp.device("tablet", "export", "--json").json["new"] == false)
  }

  @Test("if the rows alone are too large, the command says so with the way out, and makes no further export")
  func rowsTooLarge() throws {
    try takePhotos("r1", in: "tablet", database: "tablet/data.sqlite")
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews (id, words) VALUES ('big', hex(randomblob(200000)))")
    for _ in 1...2 {
      let outcome = camp.device("tablet", "export", "--size", "100K", "--to", camp.path("mail.satchel"), "--json")
      let error = try outcome.json["error"]
      #expect(outcome.code == 1 && error?["reason"] == "too-large", "\(outcome)")
      #expect(error?["message"]?.stringValue?.contains("--size allows 100 KiB") == true, "\(outcome)")
      #expect(error?["hint"]?.stringValue?.contains("satchel export --volume-size 100K") == true, "\(outcome)")
      #expect(!FileManager.default.fileExists(atPath: camp.path("mail.satchel")))
      #expect(try camp.device("tablet", "status", "--json").json["sequence"] == 1)
    }
    try camp.makeFolder("stick")
    let synced = camp.device("tablet", "sync", "--size", "100K", camp.path("stick"))
    #expect(synced.code != 0 && synced.error.contains("satchel export --volume-size 100K"), "\(synced)")
    #expect(camp.device("tablet", "export", "--volume-size", "100K", "--to", camp.path("stick")).code == 0)
    #expect(camp.hub("sync", camp.path("stick")).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") == "2")
  }

  @Test("an emission for a size has all rows and the photos that fit, and the next one takes the others")
  func emission() throws {
    try takePhotos("r1", "r2", "r3", in: "hub", database: "office.sqlite")
    let first = try camp.hub("emit", "--device", "tablet", "--size", Self.forTwo, "--json").json
    let made = try #require(first["emissions"]?.arrayValue?.first)
    #expect(made["new"] == true && made["rows"] == 3 && made["files"] == 2 && made["files_left"] == 1, "\(first)")
    #expect(try HostFileSystem().size(try #require(made["file"]?.stringValue)) <= Self.bytesForTwo)
    let waiting = try files("hub")["waiting"]?.arrayValue?.first
    #expect(waiting?["not_sent"] == 1 && waiting?["not_sent_bytes"] == 40_000, "\(String(describing: waiting))")
    #expect(camp.hub("status").out.contains("1 in no bundle yet (40 KiB)"))
    #expect(camp.device("tablet", "import", try #require(made["file"]?.stringValue)).code == 0)
    try camp.carry("tablet", rounds: 2)
    for name in ["r1", "r2", "r3"] {
      #expect(try camp.read("tablet/files/\(name).jpg") == camp.read("hub/files/\(name).jpg"))
    }
  }

  @Test("a finished emission that is too large gives way to a smaller one, and to the rows alone if no photo fits")
  func otherSizeOfEmission() throws {
    try takePhotos("r1", "r2", "r3", in: "hub", database: "office.sqlite")
    func emit(_ words: String...) throws -> JSONValue {
      let outcome = camp.hubAnywhere(["-C", camp.path("hub"), "emit", "--device", "tablet", "--json"] + words)
      return try #require(try outcome.json["emissions"]?.arrayValue?.first)
    }
    #expect(try emit()["files"] == 3)
    #expect(try emit("--size", "1M")["new"] == false)
    let smaller = try emit("--size", Self.forTwo)
    #expect(smaller["new"] == true && smaller["rows"] == 3 && smaller["files"] == 2, "\(smaller)")
    #expect(try files("hub")["waiting"]?.arrayValue?.first?["not_sent"] == 1)
    let rowsAlone = try emit("--size", "35K")
    #expect(rowsAlone["new"] == true && rowsAlone["rows"] == 3 && rowsAlone["files"] == 0, "\(rowsAlone)")
    #expect(try HostFileSystem().size(try #require(rowsAlone["file"]?.stringValue)) <= 35 << 10)
    #expect(try files("hub")["waiting"]?.arrayValue?.first?["not_sent"] == 3)
  }

  @Test("an emission whose rows alone are too large is named, with the way out")
  func emissionTooLarge() throws {
    try camp.sql("office.sqlite", "INSERT INTO reviews (id, words) VALUES ('big', hex(randomblob(200000)))")
    let outcome = camp.hub("emit", "--all", "--size", "100K", "--to", camp.root, "--json")
    #expect(try outcome.code == 1 && outcome.json["error"]?["reason"] == "too-large", "\(outcome)")
    #expect(outcome.out.contains("satchel-hub emit --device tablet --volume-size 100K"), "\(outcome)")
    #expect(try outcome.json["emissions"]?.arrayValue?.first?["copy"] == .null)
  }

  @Test("sizes that mean nothing are refused before anything is done", arguments: ["10", "0", "x", "3K", "-5M", ""])
  func sizes(size: String) throws {
    let before = try camp.everything()
    #expect(camp.device("tablet", "export", "--size=\(size)").code == 2)
    #expect(camp.hub("emit", "--all", "--size=\(size)").code == 2)
    #expect(try camp.everything() == before)
  }

  @Test("sync makes the bundle for the free space of the stick")
  func freeSpace() throws {
    try takePhotos("r1", "r2", "r3", in: "tablet", database: "tablet/data.sqlite")
    let stick = camp.path("stick")
    try camp.makeFolder("stick")
    var files = TroubledFiles()
    files.sticks[stick] = Self.bytesForTwo + 66 << 10
    camp.platform = Platform(files: files, clock: SystemClock(), random: SystemRandom())
    let first = camp.device("tablet", "sync", stick)
    #expect(first.code == 0 && first.out.contains("bundle 1, 3 changes. 1 file stays behind"), "\(first)")
    #expect(first.out.hasSuffix("Done: everything is in the folder.\n"), "\(first)")
    // The bundle is already on the stick. It stays there, although the stick's free space is now too small for it.
    let again = camp.device("tablet", "sync", stick)
    #expect(again.code == 0 && again.out.contains("bundle 1, 3 changes."), "\(again)")
    #expect(again.out.contains("It is on the stick already."), "\(again)")
    #expect(camp.hub("sync", stick).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") == "3")
    #expect(content("r3.jpg", in: "hub") == nil)
    try camp.carry("tablet")
    #expect(try camp.read("hub/files/r3.jpg") == camp.read("tablet/files/r3.jpg"))
  }
}
