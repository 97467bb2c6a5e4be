import Foundation
import SatchelJSON
import TestSupport
import Testing

@Suite("Words for who took a wrong turn")
struct WayfindingTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  @Test("an export to a folder that is not there makes no bundle: the next one still calls its changes new")
  func noStick() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    let before = try camp.everything()
    for place in ["nowhere", "nowhere/mine.satchel"] {
      let outcome = camp.device("tablet", "export", "--to", camp.path(place))
      #expect(
        outcome.code == 1
          && outcome.error.contains("There is no folder \(camp.path("nowhere")).\nIs the stick mounted?"))
    }
    let volumes = camp.device("tablet", "export", "--to", camp.path("mine.satchel"), "--volume-size", "64K")
    #expect(
      volumes.code == 1
        && volumes.error.contains("There is no folder \(camp.path("mine.satchel")).\nIs the stick mounted? Volumes"))
    let emission = camp.hub("emit", "--all", "--to", camp.path("nowhere"))
    #expect(
      emission.code == 1
        && emission.error.hasSuffix("There is no folder \(camp.path("nowhere")).\nIs the stick mounted?\n"))
    #expect(try camp.everything() == before)
    try camp.makeFolder("stick")
    #expect(
      camp.device("tablet", "export", "--to", camp.path("stick/mine.satchel")).out.hasPrefix("Export 1: 1 change"))
    #expect(camp.hub("import", camp.path("stick/mine.satchel")).code == 0)
  }

  @Test("a path with a name that is not UTF-8 is refused in words that say so")
  func nameThatIsNoText() throws {
    // Swift shows a byte that is not UTF-8 as this character.
    let path = camp.path("ST\u{FFFD}CK")
    for outcome in [
      camp.device("tablet", "sync", path), camp.hub("sync", path), camp.device("tablet", "export", "--to", path),
      camp.hub("import", "\(path)/a.satchel"),
    ] { #expect(outcome.code == 1 && outcome.error.contains("is not UTF-8, and Satchel cannot use it"), "\(outcome)") }
  }

  @Test("a word of the command line that is not UTF-8 is refused, and nothing is made by another name")
  func wordThatIsNoText() throws {
    let script = """
      cd "$1"; stick=$'ST\\xffCK'; mkdir "$stick"
      "$2" init "$stick/new" --dataset camp --name new --request request --json; code=$?
      rmdir "$stick"; exit $code
      """
    for tool in ["satchel", "satchel-hub"] {
      let process = try ChildProcess("/bin/bash", ["-c", script, "bash", camp.root, builtProgram(tool)])
      let answer = try JSONValue.parse(process.readToEnd())
      #expect(process.wait() == 2)
      let words = #""ST\#u{FFFD}CK/new" is not UTF-8, and Satchel cannot use it"#
      #expect(answer["error"]?["message"] == .string(words), "\(answer)")
    }
    #expect(!FileManager.default.fileExists(atPath: camp.path("ST\u{FFFD}CK")))
  }

  @Test("init that was killed while it wrote its request leaves nothing once it is given again")
  func initAgain() throws {
    let words = ["init", camp.path("new"), "--dataset", "camp", "--name", "new", "--request", camp.path("new.satchel")]
    #expect(camp.deviceAnywhere(words).code == 0)
    try camp.makeFolder("new/bundles/outbox/.satchel-0123456789abcdef")
    #expect(camp.deviceAnywhere(words).out.contains("its request is written once more"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("new/bundles/outbox")).isEmpty)
  }

  @Test("a person who imports a stick's folder is pointed to sync, on both sides")
  func folder() throws {
    try camp.makeFolder("stick")
    for outcome in [camp.hub("import", camp.path("stick")), camp.device("tablet", "import", camp.path("stick"))] {
      #expect(outcome.code == 1)
      #expect(
        outcome.error.contains("stick is a folder, and no bundle.\nA stick's folder: sync in place of import."),
        "\(outcome.error)")
    }
  }

  @Test(
    """
    who names a file from the wrong folder after -C learns from where paths are seen; who names no definition, where \
    one is shown
    """
  )
  func paths() throws {
    let outcome = camp.hub("import", "mine.satchel")
    #expect(
      outcome.code == 1 && outcome.error.contains("hub/mine.satchel")
        && outcome.error.contains("After -C DIR, paths are seen from DIR."))
    try camp.copy("office.sqlite", to: "other.sqlite")
    let made = camp.hubAnywhere(
      "init", camp.path("second"), "--dataset", camp.path("other.sqlite"), "--database", camp.path("other.sqlite"))
    #expect(made.code == 1 && made.error.contains("docs/DATASET.md"), "\(made.error)")
  }
}
