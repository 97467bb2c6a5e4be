import Foundation
import SatchelPlatform
import Testing

@Suite("A file that takes its name from another file")
struct NamedFileFaultTests {
  private struct Camp: PhotoStory {
    let camp: CommandLineFixture

    /// The contents of all files in a workspace.
    func contents(in place: String) throws -> Set<String> {
      let names = try FileManager.default.subpathsOfDirectory(atPath: camp.path("\(place)/files"))
      return Set(names.filter { !$0.hasPrefix(".") }.compactMap { content($0, in: place) })
    }
  }

  private let ready: CommandLineFixture

  /// Ann's file is at the hub, and no row names it. Then ben's device delivers another file with the same name, and a
  /// row that names it.
  init() throws {
    ready = try TwoDeviceFixture(
      "CREATE TABLE reviews (id TEXT PRIMARY KEY, author TEXT, photo TEXT)",
      #""reviews": { "visible": "author = :user", "write": "author = :user", "attachments": ["photo"] }"#
    ).camp
    let camp = Camp(camp: ready)
    try camp.photo("oak.jpg", in: "tablet", "Ann's")
    try ready.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('a1', 'ann', 'oak.jpg')")
    try ready.deliver("tablet")
    try ready.answer("tablet")
    try ready.sql("tablet/data.sqlite", "UPDATE reviews SET photo = NULL")
    try ready.deliver("tablet")
    try camp.photo("oak.jpg", in: "phone", "Ben's")
    try ready.sql("phone/data.sqlite", "INSERT INTO reviews VALUES ('b1', 'ben', 'oak.jpg')")
    #expect(ready.device("phone", "export").code == 0)
    #expect(camp.content("oak.jpg", in: "hub") == "Ann's")
  }

  @Test("whatever change to a file fails, no file is lost, and no device gets the file of another user")
  func eachCall() throws {
    var number = 0
    while true {
      number += 1
      let camp = Camp(camp: try CommandLineFixture(copyOf: ready))
      let (place, fault) = (camp.camp, TroubledFiles.Fault(at: number))
      let bundle = place.path(camp.export(1, of: "phone"))
      place.platform = Platform(files: TroubledFiles(fault: fault), clock: SystemClock(), random: SystemRandom())
      place.hub("import", bundle)
      place.platform = .real
      // Ann's row names the file, and her device requests it.
      try place.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('a2', 'ann', 'oak.jpg')")
      try? FileManager.default.removeItem(atPath: place.path("tablet/files/oak.jpg"))
      for round in 1...2 {
        try place.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('n\(round)', 'ann', NULL)")
        try place.deliver("tablet")
        try place.answer("tablet")
        #expect(try !camp.contents(in: "tablet").contains("Ben's"), "call \(number)")
        place.hub("import", bundle)
        #expect(try camp.contents(in: "hub").isSuperset(of: ["Ann's", "Ben's"]), "call \(number)")
      }
      if !fault.wasReached { break }
    }
    #expect(number > 10)
  }
}
