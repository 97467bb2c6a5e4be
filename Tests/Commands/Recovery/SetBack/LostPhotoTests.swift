import Foundation
import Testing

/// The office added photos in the time that the hub lost. Only the devices' bundles have these photos.
@Suite("Photos of a lost time")
struct LostPhotoTests: PhotoStory {
  let camp: CommandLineFixture
  private let office = "office.sqlite"

  init() throws {
    camp = try Self.openCamp()
    try photo("oak.jpg", in: "hub", "first")
    try photo("elm.jpg", in: "hub", "elm")
    for (id, name) in [("r1", "oak.jpg"), ("r2", "elm.jpg")] { try review(id, "lake", name, in: office) }
    try round(times: 2)
    try camp.keepHub()
  }

  private func round(times: Int) throws {
    for _ in 0..<times { for device in ["tablet", "phone"] { try camp.carry(device) } }
  }

  private func loseTime() throws {
    try camp.putBackHub()
    try camp.remove("stick")
    try camp.carry("tablet")
    let begun = camp.hub("restore", "--in-place", "--yes")
    #expect(begun.code == 0, "\(begun.error)")
  }

  @Test("photos that the office added come back with their rows, and a changed photo stays beside the present one")
  func addedByTheOffice() throws {
    try photo("map.jpg", in: "hub", "map")
    try review("r3", "lake", "map.jpg", in: office)
    try photo("oak.jpg", in: "hub", "second")
    try camp.sql(office, "UPDATE sites SET tier = 1 WHERE id = 'lake'")
    try round(times: 3)
    for device in ["tablet", "phone"] {
      for (name, words) in [("map.jpg", "map"), ("oak.jpg", "second")] {
        #expect(content(name, in: device) == words, "\(device) \(name)")
      }
    }
    try loseTime()
    #expect(content("map.jpg", in: "hub") == nil)
    try round(times: 5)
    for place in ["hub", "tablet", "phone"] {
      for (name, words) in [("map.jpg", "map"), ("oak.jpg", "first"), ("elm.jpg", "elm")] {
        #expect(content(name, in: place) == words, "\(place) \(name)")
      }
    }
    // The hub cannot know whether its present photo is older, so it keeps both.
    let names = try FileManager.default.contentsOfDirectory(atPath: camp.path("hub/files"))
    #expect(Set(names.compactMap { content($0, in: "hub") }) == ["map", "first", "second", "elm"])
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("a photo whose row is not back stays in the bundle of the lost time")
  func rowDeletedSince() throws {
    try photo("map.jpg", in: "hub", "map")
    try review("r3", "lake", "map.jpg", in: office)
    try round(times: 2)
    try camp.sql("tablet/data.sqlite", "DELETE FROM reviews WHERE id = 'r3'")
    try loseTime()
    try round(times: 5)
    #expect(try camp.rows(office, "SELECT count(*) FROM reviews WHERE id = 'r3'") == "0")
    #expect(content("map.jpg", in: "hub") == nil)
  }
}
