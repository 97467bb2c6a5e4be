import Foundation
import SatchelJSON
import SatchelPlatform
import Testing

@Suite("Files that rows name")
struct AttachmentTests: PhotoStory {
  let camp: CommandLineFixture

  init() throws { camp = try Self.openCamp() }

  private func missing(_ status: JSONValue) -> [String] {
    (status["files"]?["missing"]?.arrayValue ?? []).map {
      "\($0["path"]?.stringValue ?? "") \($0["why"]?.stringValue ?? "")"
    }
  }

  @Test("a photo that is taken on one device is on the other ones that see its row, byte for byte")
  func roundTrip() throws {
    try photo("trees/oak 1.jpg", in: "tablet", "an oak")
    try review("r1", "lake", "trees/oak 1.jpg", in: "tablet/data.sqlite")
    #expect(camp.device("tablet", "export").out.hasPrefix("Export 1: 1 change (reviews 1).\n1 file along with it.\n"))
    #expect(
      camp.hub("import", camp.path(export(1))).out.hasPrefix(
        "Bundle 1 of tablet: 1 change taken.\n1 file came with it.\n"))
    #expect(content("trees/oak 1.jpg", in: "hub") == "an oak")
    let made = try camp.hub("emit", "--all", "--json").json["emissions"]?.arrayValue ?? []
    #expect(made.map { $0["files"] } == [1, 0])
    let taken = camp.device("phone", "import", camp.path(emission(2, for: "phone")))
    #expect(taken.out == "Bundle 2 of the hub: 1 row written, 0 removed.\n1 file came with it.\n")
    #expect(content("trees/oak 1.jpg", in: "phone") == "an oak")
    try camp.carry("tablet")
    try camp.carry("phone", rounds: 2)
    for place in ["tablet", "phone"] {
      #expect(try camp.device(place, "status", "--json").json["files"]?["waiting"] == 0)
    }
    #expect(try camp.hub("status", "--json").json["files"]?["waiting"]?.arrayValue?.isEmpty == true)
    // Hub and devices do not acknowledge each other's acknowledgements for ever.
    for place in ["tablet", "phone"] { #expect(try camp.device(place, "export", "--json").json["new"] == false) }
    let idle = try camp.hub("emit", "--all", "--json").json["emissions"]?.arrayValue ?? []
    #expect(idle.map { $0["new"] } == [false, false])
    for tool in [camp.hub("doctor"), camp.device("tablet", "doctor"), camp.hub("audit")] {
      #expect(tool.code == 0, "\(tool.out)")
    }
  }

  @Test("a file is carried until the other side is known to have it, and never after that")
  func once() throws {
    try photo("oak.jpg", in: "tablet", "an oak")
    try review("r1", "lake", "oak.jpg", in: "tablet/data.sqlite")
    camp.device("tablet", "export")
    #expect(try blobs(export(1)) == 1)
    // Export 1 is lost, so export 2 contains the file again.
    try camp.sql("tablet/data.sqlite", "INSERT INTO sites VALUES ('moor', 1)")
    camp.device("tablet", "export")
    #expect(try blobs(export(2)) == 1)
    camp.hub("import", camp.path(export(2)))
    camp.answer("tablet", 2)
    camp.answer("phone", 2)
    #expect(try blobs(emission(2, for: "tablet")) == 0)
    #expect(try blobs(emission(2, for: "phone")) == 1)
    // Both devices' rows change, but the file does not. So no bundle carries the file again.
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET site = 'moor'")
    camp.deliver("tablet", 3)
    #expect(try blobs(export(3)) == 0)
    camp.deliver("phone", 1)
    #expect(try blobs(export(1, of: "phone")) == 0)
    camp.answer("phone", 3)
    #expect(try blobs(emission(3, for: "phone")) == 0)
    #expect(try camp.rows("phone/data.sqlite", "SELECT site FROM reviews") == "moor")
  }

  @Test("a bundle for a device that is lost with its files is made up for")
  func lostEmission() throws {
    try photo("oak.jpg", in: "hub", "an oak")
    try review("r1", "lake", "oak.jpg", in: "office.sqlite")
    camp.hub("emit", "--device", "tablet")
    try camp.sql("office.sqlite", "INSERT INTO sites VALUES ('moor', 1)")
    camp.answer("tablet", 3)
    #expect(content("oak.jpg", in: "tablet") == "an oak")
    // The file is lost on the device. After a full bundle, the device requests it again.
    try camp.remove("tablet/files/oak.jpg")
    #expect(try missing(camp.device("tablet", "status", "--json").json) == ["oak.jpg missing"])
    camp.hub("emit", "--device", "tablet", "--full")
    camp.device("tablet", "import", camp.path(emission(4, for: "tablet")))
    #expect(content("oak.jpg", in: "tablet") == "an oak")
  }

  @Test("a photo of a row that a user may not see is in none of the user's bundles, and leaves with its row")
  func scope() throws {
    try photo("cave.jpg", in: "hub", "a secret")
    try photo("lake.jpg", in: "hub", "a lake")
    try review("r1", "cave", "cave.jpg", in: "office.sqlite")
    try review("r2", "lake", "lake.jpg", in: "office.sqlite")
    try review("r3", "lake", "lake.jpg", in: "office.sqlite")
    camp.answer("tablet", 2)
    camp.answer("phone", 2)
    #expect(try (blobs(emission(2, for: "tablet")), blobs(emission(2, for: "phone"))) == (1, 2))
    #expect(content("cave.jpg", in: "tablet") == nil)
    #expect(content("cave.jpg", in: "phone") == "a secret")
    // Two rows name one photo. The photo leaves the tablet only when the user may see neither row any more.
    try camp.sql("office.sqlite", "UPDATE reviews SET site = 'cave' WHERE id = 'r2'")
    camp.answer("tablet", 3)
    #expect(content("lake.jpg", in: "tablet") == "a lake")
    try camp.sql("office.sqlite", "UPDATE reviews SET site = 'cave' WHERE id = 'r3'")
    camp.answer("tablet", 4)
    #expect(content("lake.jpg", in: "tablet") == nil)
    #expect(content("lake.jpg", in: "hub") == "a lake")
    // The photo comes back together with its rows.
    try camp.sql("office.sqlite", "UPDATE sites SET tier = 1")
    camp.answer("tablet", 5)
    #expect(content("lake.jpg", in: "tablet") == "a lake")
    #expect(content("cave.jpg", in: "tablet") == "a secret")
  }

  @Test("a photo that was taken here leaves with its row no sooner than the hub has it")
  func revokedBeforeDelivery() throws {
    try photo("oak.jpg", in: "tablet", "an oak")
    try review("r1", "lake", "oak.jpg", in: "tablet/data.sqlite")
    try camp.sql("office.sqlite", "UPDATE sites SET tier = 3 WHERE id = 'lake'")
    camp.answer("tablet", 2)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM reviews") == "0")
    camp.deliver("tablet", 1)
    #expect(content("oak.jpg", in: "hub") == "an oak")
    #expect(content("oak.jpg", in: "tablet") == "an oak")
    camp.answer("tablet", 3)
    #expect(content("oak.jpg", in: "tablet") == nil)
  }

  @Test(
    "a user who writes the name of a hidden file into a row does not get the file, and no other user gets it"
  )
  func guessing() throws {
    try photo("cave.jpg", in: "hub", "a secret")
    try review("r1", "cave", "cave.jpg", in: "office.sqlite")
    camp.hub("user", "add", "cid", "tier=1")
    camp.hub("device", "provision", "radio", "--user", "cid", "--into", camp.path("radio"))
    try review("r2", "lake", "cave.jpg", in: "tablet/data.sqlite")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    camp.answer("radio", 2)
    #expect(try camp.rows("radio/data.sqlite", "SELECT id FROM reviews") == "r2")
    for place in ["tablet", "radio"] { #expect(content("cave.jpg", in: place) == nil) }
    // The tablet exports another file under the same name.
    try photo("cave.jpg", in: "tablet", "a guess")
    let taken = try camp.device("tablet", "export", "--json").json
    #expect(taken["files"] == 1)
    let outcome = camp.hub("import", camp.path(export(2)))
    #expect(outcome.out.contains("A different file cave.jpg came. The file here stays; the new one is kept as cave~"))
    #expect(content("cave.jpg", in: "hub") == "a secret")
    let status = try camp.hub("status", "--json").json
    let kept = try #require(status["files"]?["beside"]?.arrayValue?.first?["kept"]?.stringValue)
    #expect(content(kept, in: "hub") == "a guess")
    camp.answer("radio", 3)
    #expect(content("cave.jpg", in: "radio") == nil)
    // The operator writes the kept file's name into the row. Then the hub sends this file.
    try camp.sql("office.sqlite", "UPDATE reviews SET photo = '\(kept)' WHERE id = 'r2'")
    camp.answer("radio", 3)
    #expect(content(kept, in: "radio") == "a guess")
  }

  @Test("what does not fit into a bundle goes with the next ones, and no row waits for it")
  func limits() throws {
    for number in 1...5 {
      try photo("\(number).jpg", in: "tablet", String(repeating: "\(number)", count: 4000))
      try review("r\(number)", "lake", "\(number).jpg", in: "tablet/data.sqlite")
    }
    try photo("film.mpg", in: "tablet", String(repeating: "x", count: 4001))
    try review("r6", "lake", "film.mpg", in: "tablet/data.sqlite")
    let first = try camp.device("tablet", "export", "--json").json
    #expect(first["files"] == 2)
    #expect(first["files_left"] == 3)
    #expect(first["changes"]?["reviews"] == 6)
    #expect(try missing(camp.device("tablet", "status", "--json").json) == ["film.mpg large"])
    #expect(camp.device("tablet", "status").out.contains("satchel sync DIR"))
    #expect(try camp.device("tablet", "export", "--json").json["files"] == 2)
    // The first two exports are lost, and the third arrives.
    #expect(try camp.device("tablet", "export", "--json").json["files_left"] == 3)
    #expect(try camp.device("tablet", "export", "--json").json["new"] == false)
    camp.hub("import", camp.path(export(3)))
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") == "6")
    // Export 1 arrives after export 3. The hub still keeps its files.
    let late = camp.hub("import", camp.path("tablet/bundles/sent/camp-tablet-hub-1.satchel"))
    #expect(late.out.contains("overtaken by a newer one: only its files are kept."))
    camp.answer("tablet", 2)
    try camp.carry("tablet", rounds: 2)
    for number in 1...5 { #expect(content("\(number).jpg", in: "hub") == String(repeating: "\(number)", count: 4000)) }
    #expect(content("film.mpg", in: "hub") == nil)
    #expect(try camp.device("tablet", "status", "--json").json["files"]?["waiting"] == 0)
    try camp.carry("phone", rounds: 4)
    for number in 1...5 { #expect(content("\(number).jpg", in: "phone")?.hasPrefix("\(number)") == true) }
  }

  @Test("a person may say how much of files a bundle carries, and nothing is sent twice on the way out either")
  func limitByHand() throws {
    for number in 1...5 {
      try photo("\(number).jpg", in: "hub", String(repeating: "\(number)", count: 4000))
      try review("r\(number)", "lake", "\(number).jpg", in: "office.sqlite")
    }
    // The new device's folder already contains two of the five files.
    #expect(camp.hub("device", "provision", "second", "--user", "ann", "--into", camp.path("second")).code == 0)
    var counts: [JSONValue] = []
    for (number, size) in [(2, "4000"), (3, "1M"), (4, "0"), (5, "1M")] {
      let made = try camp.hub("emit", "--device", "second", "--files-size", size, "--json").json
      counts.append(made["emissions"]?.arrayValue?.first?["files"] ?? .null)
      if number < 4 { camp.device("second", "import", camp.path(emission(number, for: "second"))) }
    }
    #expect(counts == [1, 2, 0, 0])
    for number in 1...5 { #expect(content("\(number).jpg", in: "second")?.hasPrefix("\(number)") == true) }
    #expect(camp.hub("emit", "--all", "--files-size", "much").code == 2)
    for (number, size) in [(1, "0"), (2, "4000")] {
      try photo("new \(number).jpg", in: "tablet", "new")
      try review("n\(number)", "lake", "new \(number).jpg", in: "tablet/data.sqlite")
      let made = try camp.device("tablet", "export", "--files-size", size, "--json").json
      #expect(made["files"] == .integer(size == "0" ? 0 : 2))
    }
  }

  @Test("status names every file that rows name and that cannot travel, with the reason")
  func missingFiles() throws {
    try camp.makeFolder("tablet/files/folder")
    try camp.write("outside.jpg", "not for anybody")
    for (name, target) in [("link.jpg", "outside.jpg"), ("linked", ".")] {
      try FileManager.default.createSymbolicLink(
        atPath: camp.path("tablet/files/\(name)"), withDestinationPath: camp.path(target))
    }
    try photo("empty.jpg", in: "tablet", "")
    for (number, path) in [
      "gone.jpg", "link.jpg", "linked/outside.jpg", "folder", "empty.jpg", "../outside.jpg", "/etc/passwd",
    ]
    .enumerated() { try review("r\(number)", "lake", path, in: "tablet/data.sqlite") }
    #expect(try camp.device("tablet", "export", "--json").json["files"] == 0)
    #expect(try blobs(export(1)) == 0)
    let status = try camp.device("tablet", "status", "--json").json
    #expect(
      Set(missing(status)) == [
        "gone.jpg missing", "link.jpg link", "linked/outside.jpg link", "folder link", "empty.jpg missing",
        "../outside.jpg path", "/etc/passwd path",
      ])
    let words = camp.device("tablet", "status").out
    #expect(words.contains("Missing         the file") || words.contains("the file"))
    #expect(words.contains("and 2 more files: status --json names all of them"))
    camp.hub("import", camp.path(export(1)))
    #expect(try missing(camp.hub("status", "--json").json).count == 7)
    // The missing file is found again. The next export carries it, although the row was exported long ago.
    try photo("gone.jpg", in: "tablet", "here it is")
    camp.answer("tablet", 2)
    camp.deliver("tablet", 2)
    #expect(content("gone.jpg", in: "hub") == "here it is")
  }

  @Test("a link in the way of a file that comes is not followed, and the file is kept elsewhere")
  func linkInPlace() throws {
    try camp.makeFolder("outside")
    try camp.makeFolder("hub/files")
    try FileManager.default.createSymbolicLink(
      atPath: camp.path("hub/files/trees"), withDestinationPath: camp.path("outside"))
    try photo("trees/oak.jpg", in: "tablet", "an oak")
    try review("r1", "lake", "trees/oak.jpg", in: "tablet/data.sqlite")
    camp.deliver("tablet", 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("outside")).isEmpty)
    let status = try camp.hub("status", "--json").json
    let kept = try #require(status["files"]?["beside"]?.arrayValue?.first?["kept"]?.stringValue)
    #expect(content(kept, in: "hub") == "an oak")
    #expect(missing(status) == ["trees/oak.jpg link"])
    // If `files/` itself is a link, nothing is imported until a person has repaired this.
    try camp.remove("hub/files/trees")
    try FileManager.default.moveItem(atPath: camp.path("hub/files"), toPath: camp.path("elsewhere"))
    try FileManager.default.createSymbolicLink(
      atPath: camp.path("hub/files"), withDestinationPath: camp.path("elsewhere"))
    try photo("elm.jpg", in: "tablet", "an elm")
    try review("r2", "lake", "elm.jpg", in: "tablet/data.sqlite")
    camp.device("tablet", "export")
    let refused = camp.hub("import", camp.path(export(2)))
    #expect(refused.code == 1)
    #expect(refused.error.contains("Satchel opens no symbolic link here"))
    try camp.remove("hub/files")
    #expect(camp.hub("import", camp.path(export(2))).code == 0)
    #expect(content("elm.jpg", in: "hub") == "an elm")
  }

  @Test("the same name for two photos on two devices: each device keeps its own, the hub keeps both")
  func sameName() throws {
    for (place, words) in [("tablet", "ann's"), ("phone", "ben's")] {
      try photo("IMG_1.jpg", in: place, words)
      try review("r-\(place)", "lake", "IMG_1.jpg", in: "\(place)/data.sqlite")
      camp.deliver(place, 1)
    }
    #expect(content("IMG_1.jpg", in: "hub") == "ann's")
    camp.answer("phone", 2)
    #expect(content("IMG_1.jpg", in: "phone") == "ben's")
    let beside = try FileManager.default.contentsOfDirectory(atPath: camp.path("phone/files")).filter {
      $0.hasPrefix("IMG_1~")
    }
    #expect(beside.map { content($0, in: "phone") } == ["ann's"])
    camp.answer("tablet", 2)
    #expect(content("IMG_1.jpg", in: "tablet") == "ann's")
    try camp.carry("phone", rounds: 2)
    #expect(try camp.device("phone", "status", "--json").json["files"]?["waiting"] == 0)
    #expect(try camp.hub("status", "--json").json["files"]?["waiting"]?.arrayValue?.isEmpty == true)
  }

  @Test("a photo whose row is gone before it was ever sent stays at home")
  func deletedBeforeExport() throws {
    for number in 1...4 {
      try photo("\(number).jpg", in: "tablet", String(repeating: "\(number)", count: 4000))
      try review("r\(number)", "lake", "\(number).jpg", in: "tablet/data.sqlite")
    }
    camp.device("tablet", "export")
    try camp.sql("tablet/data.sqlite", "DELETE FROM reviews WHERE id = 'r3'")
    camp.device("tablet", "export")
    camp.hub("import", camp.path(export(2)))
    camp.answer("tablet", 2)
    try camp.carry("tablet", rounds: 3)
    #expect([1, 2, 3, 4].filter { content("\($0).jpg", in: "hub") != nil } == [1, 2, 4])
  }

  @Test("a new device, provisioned or lost and replaced, gets the files of its rows")
  func newDevice() throws {
    try photo("lake.jpg", in: "hub", "a lake")
    try review("r1", "lake", "lake.jpg", in: "office.sqlite")
    #expect(camp.hub("device", "provision", "second", "--user", "ann", "--into", camp.path("second")).code == 0)
    #expect(content("lake.jpg", in: "second") == "a lake")
    try camp.sql("office.sqlite", "UPDATE reviews SET id = 'r2'")
    camp.hub("emit", "--device", "second")
    #expect(try blobs(emission(2, for: "second")) == 0)
  }

  @Test("a version of the dataset that marks a column brings the files that rows named before")
  func markedLater() throws {
    let camp = try CommandLineFixture()
    let plain = Self.definition.replacingOccurrences(of: #"{ "attachments": ["photo"] }"#, with: "{}")
    try camp.open(Self.schema, plain)
    for (place, name) in [("tablet", "mine"), ("hub", "ours")] {
      try camp.makeFolder("\(place)/files")
      try camp.write("\(place)/files/\(name).jpg", name)
      try camp.sql(
        place == "hub" ? "office.sqlite" : "tablet/data.sqlite",
        "INSERT INTO reviews VALUES ('\(name)', 'lake', '\(name).jpg')")
    }
    try camp.carry("tablet", rounds: 2)
    try camp.write("camp-2.json", Self.definition.replacingOccurrences(of: #""version": 1"#, with: #""version": 2"#))
    #expect(camp.hub("dataset", "apply", camp.path("camp-2.json")).code == 0)
    try camp.carry("tablet", rounds: 3)
    for place in ["tablet", "hub"] {
      for name in ["mine", "ours"] {
        #expect(try camp.read("\(place)/files/\(name).jpg") == Array(name.utf8), "\(place) \(name)")
      }
    }
  }

  @Test("a rehearsal counts the files, and leaves every byte as it is")
  func rehearsals() throws {
    try photo("oak.jpg", in: "tablet", "an oak")
    try photo("elm.jpg", in: "hub", "an elm")
    try review("r1", "lake", "oak.jpg", in: "tablet/data.sqlite")
    try review("r2", "lake", "elm.jpg", in: "office.sqlite")
    func rehearse(_ words: (CommandLineFixture) -> CommandLineFixture.Outcome) throws -> String {
      let before = try camp.everything()
      let outcome = words(camp)
      #expect(try camp.everything() == before)
      return outcome.out
    }
    #expect(try rehearse { $0.device("tablet", "export", "--dry-run") }.contains("1 file along with it."))
    #expect(try rehearse { $0.hub("emit", "--device", "tablet", "--dry-run") }.contains("1 file along with it."))
    camp.device("tablet", "export")
    let bundle = camp.path(export(1))
    #expect(try rehearse { $0.hub("import", "--dry-run", bundle) }.contains("1 file came with it."))
    camp.hub("import", bundle)
    camp.hub("emit", "--device", "tablet")
    let answer = camp.path(emission(2, for: "tablet"))
    #expect(try rehearse { $0.device("tablet", "import", "--dry-run", answer) }.contains("1 file came with it."))
  }

  @Test("a backup of the hub holds the files that rows name, and a restored hub has them")
  func backup() throws {
    try photo("trees/oak.jpg", in: "hub", "an oak")
    try camp.backUp()
    try camp.restore()
    #expect(content("trees/oak.jpg", in: "hub") == "an oak")
    try review("r1", "lake", "trees/oak.jpg", in: "office.sqlite")
    try camp.carry("tablet", rounds: 2)
    #expect(content("trees/oak.jpg", in: "tablet") == "an oak")
  }

  @Test("files that the dataset does not allow are refused at the hub, and nothing of the bundle is taken")
  func notAllowed() throws {
    let narrow = try CommandLineFixture(copyOf: camp)
    try camp.sql("tablet/data.sqlite", "UPDATE satchel_device SET definition = replace(definition, '4000', '9000')")
    try photo("oak.jpg", in: "tablet", String(repeating: "x", count: 5000))
    try review("r1", "lake", "oak.jpg", in: "tablet/data.sqlite")
    camp.device("tablet", "export")
    let outcome = camp.hub("import", camp.path(export(1)))
    #expect(outcome.code == 3)
    #expect(
      outcome.error.contains("the file oak.jpg of 5000 bytes, which the dataset does not allow"), "\(outcome.error)")
    #expect(content("oak.jpg", in: "hub") == nil)
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") == "0")
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("hub/bundles/quarantine")).count == 2)
    // If the dataset marks no column for attachments, a device may not send files either.
    try narrow.sql(
      "office.sqlite", #"UPDATE satchel_hub SET definition = replace(definition, '"attachments": ["photo"]', '')"#)
    try narrow.makeFolder("tablet/files")
    try narrow.write("tablet/files/oak.jpg", "an oak")
    try narrow.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r1', 'lake', 'oak.jpg')")
    narrow.device("tablet", "export")
    #expect(narrow.hub("import", narrow.path(export(1))).code == 3)
  }

  @Test("a definition that marks what cannot name files is refused with its place")
  func definitions() throws {
    let cases = [
      (#"["picture"]"#, "tables.reviews.attachments"), (#"["id"]"#, "tables.reviews.attachments"),
      (#"["photo", "photo"]"#, "tables.reviews.attachments"), (#""photo""#, "tables.reviews.attachments"),
    ]
    for (marks, place) in cases {
      let camp = try CommandLineFixture()
      try camp.sql("office.sqlite", Self.schema)
      try camp.write("camp.json", Self.definition.replacingOccurrences(of: #"["photo"]"#, with: marks))
      let outcome = camp.hubAnywhere(
        "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
      #expect(outcome.code == 1)
      #expect(outcome.error.contains(place), "\(outcome.error)")
    }
  }
}
