import Foundation
import Testing

/// A device is restored from its own backup. The tests look at its files.
@Suite("Files on late sticks")
struct RestoredFileTests: PhotoStory {
  let camp: CommandLineFixture

  init() throws { camp = try Self.openCamp() }

  private var kept: Set<String> {
    get throws {
      let files = try FileManager.default.subpathsOfDirectory(atPath: camp.path("hub/files"))
      return Set(files.compactMap { content($0, in: "hub") })
    }
  }

  @Test("a version on a former stick replaces no present version, and both are kept")
  func versions() throws {
    try photo("oak.jpg", in: "tablet", "first")
    try review("r1", "lake", "oak.jpg", in: "tablet/data.sqlite")
    try camp.carry("tablet", rounds: 2)
    try camp.copy("tablet", to: "backup")
    try photo("oak.jpg", in: "tablet", "on the stick")
    try camp.sql("tablet/data.sqlite", "INSERT INTO sites VALUES ('moor', 1)")
    try camp.copy("tablet", to: "former")
    let old = try camp.export("former")
    try camp.remove("tablet")
    try camp.copy("backup", to: "tablet")
    camp.awaitLaterTime()
    try photo("oak.jpg", in: "tablet", "present")
    try camp.sql("tablet/data.sqlite", "INSERT INTO sites VALUES ('hill', 1)")
    #expect(camp.hub("import", try camp.export("tablet")).code == 0)
    #expect(camp.hub("import", old).code == 3)
    #expect(camp.hub("device", "fork", "tablet", "--restored").code == 0)
    #expect(content("oak.jpg", in: "hub") == "present")
    #expect(try kept.isSuperset(of: ["present", "on the stick"]))
    try camp.carry("tablet", rounds: 2)
    #expect(content("oak.jpg", in: "tablet") == "present")
  }
}
