import Foundation
import Testing

@Suite("Places for a new device's folder")
struct ProvisioningPlaceTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.makeFolder("elsewhere")
    try FileManager.default.createSymbolicLink(
      atPath: camp.path("elsewhere/link"), withDestinationPath: camp.path("hub/bundles"))
  }

  @Test(
    "a folder inside a workspace is refused before anything is written, whatever way leads there",
    arguments: [
      "hub/second", "hub/bundles/outbox/second", "hub/not/there/yet", "tablet/second", "elsewhere/link/second",
    ])
  func inside(place: String) throws {
    let before = try camp.everything()
    for more in [[], ["--dry-run"]] {
      let outcome = camp.hubAnywhere(
        ["-C", camp.path("hub"), "device", "provision", "second", "--user", "ann", "--into", camp.path(place)] + more)
      #expect(outcome.code == 1)
      #expect(outcome.error.contains("\(camp.path(place)) would lie inside the workspace "), "\(outcome.error)")
      #expect(outcome.error.contains("Choose a folder outside of it"))
      #expect(try camp.everything() == before)
    }
    let workspace = camp.path(place.hasPrefix("tablet") ? "tablet" : "hub")
    if !place.hasPrefix("elsewhere") {
      let outcome = camp.hub("device", "provision", "second", "--user", "ann", "--into", camp.path(place), "--json")
      #expect(try outcome.json["error"]?["reason"] == "inside-workspace")
      #expect(outcome.out.contains("\(workspace).\""), "\(outcome.out)")
    }
  }

  @Test(
    "a folder beside the hub's folder is not inside it, however it is written, nor is a folder behind a link")
  func beside() throws {
    try FileManager.default.createSymbolicLink(
      atPath: camp.path("hub/out"), withDestinationPath: camp.path("elsewhere"))
    for (number, place) in ["hub/../beside", "hub/bundles/../../also", "hub/out/third"].enumerated() {
      let outcome = camp.hub("device", "provision", "device-\(number)", "--user", "ann", "--into", camp.path(place))
      #expect(outcome.code == 0, "\(outcome.error)")
    }
    for place in ["beside", "also", "elsewhere/third"] { #expect(camp.device(place, "status").code == 0) }
  }

  @Test("provision names the file that the app must open, in words and in JSON", arguments: [nil, "template.db"])
  func appsFile(template: String?) throws {
    var words = ["device", "provision", "second", "--user", "ann", "--into", camp.path("second")]
    if let template {
      try camp.makeOffice(template)
      try camp.sql(template, "DELETE FROM reviews; DELETE FROM sites")
      words += ["--template", camp.path(template)]
    }
    let file = template == nil ? "data.sqlite" : "data.db"
    func run(_ more: String...) -> CommandLineFixture.Outcome {
      camp.hubAnywhere(["-C", camp.path("hub")] + words + more)
    }
    #expect(try run("--json", "--dry-run").json["database"]?.stringValue == camp.path("second/\(file)"))
    let made = run()
    #expect(made.code == 0 && made.out.contains("the app must open the file \(file) in this folder."), "\(made)")
    #expect(FileManager.default.fileExists(atPath: camp.path("second/\(file)")))
  }

  @Test("init names the file that the app must open, in words and in JSON", arguments: [nil, "../apps/field.sqlite"])
  func appsFileOfInit(database: String?) throws {
    func run(_ more: String...) -> CommandLineFixture.Outcome {
      camp.deviceAnywhere(
        ["init", camp.path("new"), "--dataset", "camp", "--name", "new", "--request", camp.path("new.satchel")]
          + (database.map { ["--database", $0] } ?? []) + more)
    }
    let file = camp.path("new/\(database ?? "data.sqlite")")
    let made = run()
    #expect(made.code == 0 && made.out.contains("The app must open the file \(file)."), "\(made)")
    #expect(try run("--json").json["database"]?.stringValue == file)
  }
}
