import Foundation
import SatchelJSON
import Testing

@Suite("Files that are written again under their names")
struct RewrittenFileTests: PhotoStory {
  let camp: CommandLineFixture

  init() throws { camp = try Self.openCamp() }

  /// All files of a workspace, each as `name: content`. A name with a digest is shortened to `name~`.
  private func all(_ place: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: camp.path("\(place)/files")).sorted().map {
      let mark = $0.components(separatedBy: "~")
      return "\(mark.count > 1 ? "\(mark[0])~" : $0): \(content($0, in: place) ?? "")"
    }
  }

  /// Sets the modification time of a file.
  private func date(_ name: String, in place: String, _ seconds: TimeInterval) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: camp.path("\(place)/files/\(name)"))
  }

  /// Makes one photo of Ann that all replicas have.
  private func share() throws {
    try photo("oak.jpg", in: "tablet", "version 1")
    try review("r1", "lake", "oak.jpg", in: "tablet/data.sqlite")
    for _ in 0..<2 {
      try camp.carry("tablet")
      try camp.carry("phone")
    }
    for place in ["tablet", "hub", "phone"] { #expect(try all(place) == ["oak.jpg: version 1"]) }
  }

  @Test("a photo that is edited in place is sent again, replaces the old version everywhere, and then rests")
  func edited() throws {
    try share()
    // The new version has the same size and is written in the same second.
    try photo("oak.jpg", in: "tablet", "version 2")
    let made = camp.device("tablet", "export")
    #expect(made.out.contains("0 changes.\n1 file along with it.\n"), "\(made.out)")
    let file = try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-")
    #expect(camp.hub("import", file).out.contains("1 file came with it, in place of earlier versions.\n"))
    let taken = try camp.hub("emit", "--all", "--json").json["emissions"]?.arrayValue?.map { $0["files"] }
    #expect(taken == [1, 0])
    for _ in 0..<2 {
      try camp.carry("phone")
      try camp.carry("tablet")
    }
    for place in ["tablet", "hub", "phone"] { #expect(try all(place) == ["oak.jpg: version 2"]) }
    for place in ["tablet", "phone"] { #expect(try camp.device(place, "export", "--json").json["new"] == false) }
    let idle = try camp.hub("emit", "--all", "--json").json["emissions"]?.arrayValue?.map { $0["new"] }
    #expect(idle == [false, false])
    // Ben only received the photo, but he may edit it too.
    try photo("oak.jpg", in: "phone", "version 3, by Ben")
    for _ in 0..<2 {
      try camp.carry("phone")
      try camp.carry("tablet")
    }
    for place in ["tablet", "hub", "phone"] { #expect(try all(place) == ["oak.jpg: version 3, by Ben"]) }
    #expect(try files("hub")["waiting"]?.arrayValue?.isEmpty == true)
  }

  @Test("a photo that the office edits in its folder goes to all who have it")
  func byTheHub() throws {
    try share()
    try photo("oak.jpg", in: "hub", "by the office")
    let taken = try camp.hub("emit", "--all", "--json").json["emissions"]?.arrayValue?.map { $0["files"] }
    #expect(taken == [1, 1])
    for place in ["tablet", "phone"] {
      try camp.carry(place, rounds: 2)
      #expect(try all(place) == ["oak.jpg: by the office"])
    }
    // The tablet edits the office's version, and the hub receives the edit.
    try photo("oak.jpg", in: "tablet", "by Ann again")
    try camp.carry("tablet")
    #expect(try all("hub") == ["oak.jpg: by Ann again"])
  }

  @Test("two people edit one photo: both versions are kept, on each side, and the report names them")
  func twice() throws {
    try share()
    try photo("oak.jpg", in: "tablet", "Ann's")
    try photo("oak.jpg", in: "phone", "Ben's")
    for place in ["tablet", "phone"] { camp.device(place, "export") }
    camp.hub("import", try camp.newestBundle(in: "phone/bundles/outbox", "camp-phone-hub-"))
    let second = camp.hub("import", try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-"))
    #expect(second.out.contains("A different file oak.jpg came. The file here stays; the new one is kept as oak~"))
    #expect(try all("hub") == ["oak.jpg: Ben's", "oak~: Ann's"])
    #expect(try files("hub")["beside"]?.arrayValue?.first?["device"] == "tablet")
    for _ in 0..<3 {
      try camp.carry("tablet")
      try camp.carry("phone")
    }
    #expect(try all("tablet") == ["oak.jpg: Ann's", "oak~: Ben's"])
    #expect(try all("phone") == ["oak.jpg: Ben's"])
    // Ann and Ben edit the photo again. Neither of the new versions replaces the other.
    try photo("oak.jpg", in: "tablet", "Ann's second")
    try photo("oak.jpg", in: "phone", "Ben's second")
    for _ in 0..<3 {
      try camp.carry("tablet")
      try camp.carry("phone")
    }
    #expect(try Set(all("hub")) == ["oak.jpg: Ben's second", "oak~: Ann's", "oak~: Ann's second"])
    #expect(content("oak.jpg", in: "hub") == "Ben's second")
    #expect(content("oak.jpg", in: "tablet") == "Ann's second")
    // A person decides by changing the name in the row.
    let kept = try FileManager.default.contentsOfDirectory(atPath: camp.path("hub/files")).first {
      content($0, in: "hub") == "Ann's second"
    }
    try camp.sql("office.sqlite", "UPDATE reviews SET photo = '\(try #require(kept))'")
    for place in ["phone", "tablet"] {
      try camp.carry(place, rounds: 2)
      #expect(content(try #require(kept), in: place) == "Ann's second")
    }
  }

  @Test("versions that were lost on the way, or that come late, do no harm")
  func lostAndLate() throws {
    try share()
    for version in 2...4 {
      try photo("oak.jpg", in: "tablet", "version \(version)")
      #expect(try camp.device("tablet", "export", "--json").json["files"] == 1)
    }
    let exports = try FileManager.default.contentsOfDirectory(atPath: camp.path("tablet/bundles/sent")).sorted()
    camp.hub("import", try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-"))
    #expect(try all("hub") == ["oak.jpg: version 4"])
    for file in exports { camp.hub("import", camp.path("tablet/bundles/sent/\(file)")) }
    #expect(try all("hub") == ["oak.jpg: version 4"])
    // The tablet sends two versions one after the other, and imports nothing in between.
    for version in 5...6 {
      try photo("oak.jpg", in: "tablet", "version \(version)")
      camp.device("tablet", "export")
      camp.hub("import", try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-"))
      #expect(try all("hub") == ["oak.jpg: version \(version)"])
    }
    // The phone does not receive this emission, which has version 6.
    camp.hub("emit", "--device", "phone")
    try photo("oak.jpg", in: "hub", "version 7")
    camp.hub("emit", "--device", "phone")
    camp.device("phone", "import", try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-phone-"))
    #expect(try all("phone") == ["oak.jpg: version 7"])
  }

  @Test("a version that arrives at a side with its own edit leaves the edit alone")
  func meanwhile() throws {
    try share()
    try photo("oak.jpg", in: "phone", "Ben's")
    try camp.carry("phone")
    try photo("oak.jpg", in: "tablet", "not exported yet")
    try camp.carry("tablet")
    #expect(try all("tablet") == ["oak.jpg: not exported yet", "oak~: Ben's"])
    #expect(try all("hub") == ["oak.jpg: Ben's", "oak~: not exported yet"])
  }

  @Test("a file that looks unchanged is not read again, and a file whose time alone changed is not sent")
  func looks() throws {
    try share()
    try date("oak.jpg", in: "tablet", 1_700_000_000)
    #expect(try camp.device("tablet", "export", "--json").json["new"] == false)
    // Size and time are the same as before, so Satchel does not read the file.
    try photo("oak.jpg", in: "tablet", "version 2")
    try date("oak.jpg", in: "tablet", 1_700_000_000)
    #expect(try camp.device("tablet", "export", "--json").json["new"] == false)
    #expect(try files("tablet")["not_sent"] == 0)
    try date("oak.jpg", in: "tablet", 1_700_000_001)
    #expect(try files("tablet")["not_sent"] == 1)
    #expect(try camp.device("tablet", "export", "--json").json["files"] == 1)
  }

  @Test("a photo that was edited after its row left the user's sight goes to the hub before it goes")
  func leaving() throws {
    try share()
    try photo("oak.jpg", in: "tablet", "edited")
    try camp.sql("office.sqlite", "UPDATE reviews SET site = 'cave'")
    try camp.carry("tablet", rounds: 3)
    #expect(content("oak.jpg", in: "tablet") == nil)
    #expect(try all("hub") == ["oak.jpg: version 1", "oak~: edited"])
  }

  @Test("a user who may not change a row cannot replace its photo, not even by a row of the user's own")
  func rights() throws {
    let camp = try CommandLineFixture()
    try camp.open(
      Self.schema,
      Self.definition.replacingOccurrences(
        of: #""attachments": ["photo"] }"#, with: #""attachments": ["photo"], "write": "id LIKE 'own%'" }"#))
    try camp.makeFolder("hub/files")
    try camp.write("hub/files/map.jpg", "the office's")
    try camp.sql("office.sqlite", "INSERT INTO reviews VALUES ('r1', 'lake', 'map.jpg')")
    try camp.carry("tablet", rounds: 2)
    func rewrite(_ name: String, _ text: String) throws {
      try camp.write("tablet/files/\(name)", text)
      try camp.carry("tablet", rounds: 2)
    }
    try rewrite("map.jpg", "a prank")
    #expect(try camp.read("hub/files/map.jpg") == Array("the office's".utf8))
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('own1', 'lake', 'map.jpg')")
    try camp.carry("tablet", rounds: 2)
    try rewrite("map.jpg", "another prank")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM reviews WHERE photo = 'map.jpg'") == "2")
    #expect(try camp.read("hub/files/map.jpg") == Array("the office's".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("hub/files")).count == 3)
    // A user may edit a photo of the user's own row. But a device without the right to change rows may not.
    try camp.write("tablet/files/own.jpg", "mine")
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('own2', 'lake', 'own.jpg')")
    try camp.carry("tablet", rounds: 2)
    try rewrite("own.jpg", "mine, edited")
    #expect(try camp.read("hub/files/own.jpg") == Array("mine, edited".utf8))
    camp.hub("device", "set", "tablet", "--edits", "no")
    try rewrite("own.jpg", "mine, edited again")
    #expect(try camp.read("hub/files/own.jpg") == Array("mine, edited".utf8))
  }

  @Test("two rows in disagreement about which photo: the policy decides the row, and the hub keeps both files")
  func disagreement() throws {
    try share()
    try photo("ann.jpg", in: "tablet", "Ann's")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET photo = 'ann.jpg'")
    try photo("office.jpg", in: "hub", "the office's")
    try camp.sql("office.sqlite", "UPDATE reviews SET photo = 'office.jpg'")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT photo FROM reviews") == "office.jpg")
    #expect((content("ann.jpg", in: "hub"), content("office.jpg", in: "hub")) == ("Ann's", "the office's"))
    #expect((content("ann.jpg", in: "tablet"), content("office.jpg", in: "tablet")) == (nil, "the office's"))
  }
}
