import Foundation
import SatchelPlatform
import Testing

@Suite("The hub's own limits for files")
struct AttachmentLimitTests: PhotoStory {
  let camp: CommandLineFixture

  init() throws {
    camp = try Self.openCamp()
    // The device forges its definition, so that it ignores the limit of the dataset. Any device could do this.
    try camp.sql(
      "tablet/data.sqlite",
      "UPDATE satchel_device SET definition = replace(replace(definition, '4000', '9000'), '10000', '90000')")
    try camp.write("camp-2.json", Self.definition.replacingOccurrences(of: "\"version\": 1", with: "\"version\": 2"))
    #expect(camp.hub("dataset", "apply", camp.path("camp-2.json")).code == 0)
  }

  private func refusal() throws -> String {
    #expect(camp.device("tablet", "export").code == 0)
    let outcome = camp.hub("import", camp.path(export(1)))
    #expect(outcome.code == 3, "\(outcome)")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") == "0")
    #expect(!FileManager.default.fileExists(atPath: camp.path("hub/files")))
    return outcome.error
  }

  @Test("a file is held to the limit of the hub's version of the dataset, whatever version its bundle names")
  func file() throws {
    try photo("oak.jpg", in: "tablet", String(repeating: "x", count: 5000))
    try review("r1", "lake", "oak.jpg", in: "tablet/data.sqlite")
    #expect(try refusal().contains("the file oak.jpg of 5000 bytes, which the dataset does not allow"))
  }

  @Test("the files of a bundle are held to the limit for all of them")
  func bundle() throws {
    for number in 1...4 {
      try photo("oak-\(number).jpg", in: "tablet", String(repeating: "\(number)", count: 3000))
      try review("r\(number)", "lake", "oak-\(number).jpg", in: "tablet/data.sqlite")
    }
    #expect(try refusal().contains("files of 12000 bytes together, which the dataset does not allow"))
  }

  @Test("a content counts as often as the bundle names it, because each name becomes a file")
  func oneContent() throws {
    for number in 1...4 {
      try photo("oak-\(number).jpg", in: "tablet", String(repeating: "x", count: 3000))
      try review("r\(number)", "lake", "oak-\(number).jpg", in: "tablet/data.sqlite")
    }
    #expect(try refusal().contains("files of 12000 bytes together, which the dataset does not allow"))
  }
}
