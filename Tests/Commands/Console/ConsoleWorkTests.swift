import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// The pages for an office's daily work, and the long work that these pages begin.
@Suite("The day's work in the console", .serialized)
struct ConsoleWorkTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.openBesideStick()
  }

  // MARK: Long work

  @Test("while long work runs, its page says how far it is, other pages answer, and other work is refused")
  func meanwhile() throws {
    try camp.makeFolder("hub/hooks")
    try camp.write("hub/hooks/after-import", "#!/bin/sh\ncat \(camp.path("gate")) > \(camp.path("passed"))\n")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: camp.path("hub/hooks/after-import"))
    #expect(mkfifo(camp.path("gate"), 0o600) == 0)
    #expect(camp.device("tablet", "sync", camp.path("stick")).code == 0)
    try camp.inBrowser { browser throws in
      #expect(browser.get("/work").text.contains("Nothing was begun here yet"))
      let begun = browser.post("/sync", ["stick": camp.path("stick")])
      #expect(begun.status == 303 && begun.header("Location") == "work")
      // The work runs a hook, and the hook waits for a file that this test writes later.
      let page = browser.get("/work")
      #expect(page.header("Refresh") == "1" && page.text.contains("This goes on since "), "\(page)")
      #expect(browser.get("/").status == 200 && browser.get("/log").status == 200)
      let second = browser.post("/doctor", [:])
      #expect(second.status == 409 && second.text.contains("The console still works: Sync stick."), "\(second)")
      let gate = try #require(FileHandle(forWritingAtPath: camp.path("gate")))
      try gate.write(contentsOf: Data("open".utf8))
      try gate.close()
      let done = browser.result(after: begun)
      #expect(done.text.contains("Bundle 1 of tablet: 1 change taken"), "\(done.text)")
      #expect(try camp.read("passed") == Array("open".utf8))
      #expect(browser.work("/doctor", [:]).text.contains("All is well."))
    }
  }

  // MARK: Sticks

  @Test("a stick that is plugged in is listed with its label and its free space")
  func plugged() throws {
    try camp.write("mounts", "20 1 8:0 / / rw - ext4 /dev/sda rw\n21 1 8:1 / /media/ann/BLUE rw - vfat /dev/sdb rw\n")
    var files = TroubledFiles(free: 3 << 30)
    files.instead = ["/proc/self/mountinfo": camp.path("mounts")]
    let platform = Platform(files: files, clock: SystemClock(), random: SystemRandom())
    try camp.inBrowser(on: platform) { browser throws in
      let page = browser.get("/sticks").text
      for words in [
        "<h3>BLUE</h3>", "3.0 GB free, not used by Satchel yet", "name=\"stick\" value=\"/media/ann/BLUE\"",
      ] {
        #expect(page.contains(words), "\(words) in \(page)")
      }
      #expect(!page.contains("No stick is plugged in"))
      #expect(browser.get("/upkeep").text.contains("<option value=\"/media/ann/BLUE/hub-"))
      let missing = browser.work("/sync", ["stick": "/media/satchel-test/none"])
      #expect(missing.status == 200 && missing.text.contains("No medium is mounted for"), "\(missing.text)")
      #expect(missing.text.contains("It was not done."))
    }
  }

  @Test("a sync by the browser exchanges bundles as the command does, and says so in the command's words")
  func synced() throws {
    #expect(camp.device("tablet", "sync", camp.path("stick")).code == 0)
    try camp.inBrowser { browser throws in
      #expect(browser.post("/sync", ["stick": "stick"]).status == 400)
      #expect(browser.post("/sync", ["stick": "--help"]).status == 400)
      let done = browser.work("/sync", ["stick": camp.path("stick")]).text
      for words in ["Bundle 1 of tablet: 1 change taken", "For tablet: bundle", "Done: everything is in the folder."] {
        #expect(done.contains(words), "\(words) in \(done)")
      }
      #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "mine")
    }
    #expect(camp.device("tablet", "sync", camp.path("stick")).code == 0)
  }

  // MARK: Bundles

  /// Makes a hub with 100 visits, and a bundle from the tablet that waits because it deletes 21 of them.
  private func braked() throws -> TwoDeviceFixture {
    let world = try TwoDeviceFixture(
      "CREATE TABLE visits (id TEXT PRIMARY KEY, words TEXT)", #""visits": {}"#)
    try world.sql(
      "office",
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO visits SELECT printf('v%03d', i), 'first' FROM n
      """)
    try world.answer("tablet")
    try world.sql("tablet", "DELETE FROM visits WHERE id <= 'v021'")
    #expect(world.camp.hub("import", try world.export("tablet")).code == 3)
    return world
  }

  @Test("the page of a braked bundle shows what it would delete, and changes nothing")
  func shown() throws {
    let world = try braked()
    try world.camp.inBrowser { browser throws in
      #expect(browser.get("/bundles").text.contains("href=\"braked?bundle=tablet%2F1\""))
      let page = browser.get("/braked?bundle=tablet%2F1").text
      for words in [
        "deletes 21 of the 100 rows of visits", "the user ann of tablet", "Rows at the hub, if you accept",
        "data-label=\"Deleted\">21<", "v001", "words: first",
      ] {
        #expect(page.contains(words), "\(words) in \(page)")
      }
      let tried = browser.work("/try-braked", ["bundle": "tablet/1"]).text
      #expect(tried.contains("A dry run: nothing was changed.") && tried.contains("DELETED"), "\(tried)")
      #expect(try world.rows("office", "SELECT count(*) FROM visits") == "100")
      #expect(browser.get("/braked?bundle=tablet%2F2").text.contains("waits for a decision"))
    }
  }

  @Test(
    "a braked bundle is merged or rejected only after a person says that the user was asked", arguments: [true, false])
  func decided(isAccepted: Bool) throws {
    let world = try braked()
    let form = ["bundle": "tablet/1", "decision": isAccepted ? "accept" : "reject"]
    try world.camp.inBrowser { browser throws in
      #expect(browser.post("/braked", form).status == 400)
      #expect(browser.post("/braked", ["bundle": "tablet/1", "asked": "1", "decision": "full"]).status == 400)
      #expect(try world.rows("office", "SELECT count(*) FROM visits") == "100")
      let done = browser.work("/braked", form.merging(["asked": "1"]) { $1 }).text
      #expect(done.contains(isAccepted ? "Bundle 1 of tablet: 21 changes taken" : "Rejected: 21 changes"), "\(done)")
      #expect(try world.rows("office", "SELECT count(*) FROM visits") == (isAccepted ? "79" : "100"))
      #expect(browser.post("/braked", form.merging(["asked": "1"]) { $1 }).status == 409)
    }
  }

  @Test("bundles are made for one device or for all, and only bundles of the outbox can be downloaded")
  func emitted() throws {
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Long lake' WHERE id = 'lake'")
    try camp.inBrowser { browser throws in
      #expect(browser.post("/emit", [:]).text.contains("the field device is empty"))
      let one = browser.work("/emit", ["device": "tablet"]).text
      #expect(one.contains("tablet (ann): bundle") && !one.contains("phone"), "\(one)")
      #expect(browser.work("/emit", ["device": "--all"]).text.contains("--all"))
      #expect(browser.work("/emit", ["all": "1"]).text.contains("phone (ben): bundle"))
      let page = browser.get("/emit").text
      let link = try #require(page.components(separatedBy: "download?file=camp-hub-tablet").dropFirst().first)
      let name = "camp-hub-tablet" + link.prefix { $0 != "\"" }
      let file = browser.get("/download?file=\(name)")
      #expect(file.text == String(decoding: try camp.read("hub/bundles/outbox/\(name)"), as: UTF8.self))
      #expect(file.header("Content-Disposition") == "attachment; filename=\"\(name)\"")
      try camp.write("hub/bundles/outbox/notes.txt", "private")
      for path in ["notes.txt", "../../satchel.json", "..%2F..%2Fsatchel.json", camp.path("hub/satchel.json"), "."] {
        let refused = browser.get("/download?file=\(path)")
        #expect(refused.status == 409 && refused.text.contains("The outbox has no bundle"), "\(path): \(refused)")
      }
    }
  }

  @Test("a file that was dropped is imported beside the pages, and the result is in words")
  func imported() throws {
    camp.device("tablet", "export")
    let bundle = try camp.read("tablet/bundles/outbox/camp-tablet-hub-1.satchel")
    try camp.inBrowser { browser throws in
      let done = browser.upload([("camp-tablet-hub-1.satchel", bundle)]).text
      #expect(done.contains("<h1>Import 1 file</h1>") && done.contains("1 change taken"), "\(done)")
      #expect(browser.upload([("x.satchel", Array("junk".utf8))]).text.contains("It was not done."))
      #expect(browser.get("/console.js").text.contains("form[data-drop]"))
    }
  }

  // MARK: Log and dataset

  @Test("the log is searched, filtered, and given as CSV")
  func log() throws {
    camp.deliver("tablet", 1)
    try camp.write("broken.satchel", "no bundle")
    camp.hub("import", camp.path("broken.satchel"))
    let merged = "data-label=\"Verdict\">imported<"
    try camp.inBrowser { browser throws in
      for (query, here, absent) in [
        ("", "broken.satchel", "nothing at all"), ("verdict=refused", "broken.satchel", merged),
        ("device=TABLET&way=in", merged, "broken.satchel"), ("text=BROKEN", "broken.satchel", merged),
        ("until=2020-01-01", "No bundle fits this filter", "<tbody>"),
        ("from=2020-01-01&until=2099-12-31&verdict=imported", merged, "broken.satchel"),
      ] {
        let page = browser.get("/log?\(query)").text
        #expect(page.contains(here) && !page.contains(absent), "\(query): \(page)")
      }
      for query in ["way=up", "verdict=good", "from=monday"] { #expect(browser.get("/log?\(query)").status == 400) }
      let file = browser.get("/log.csv?device=tablet")
      #expect(file.text.hasPrefix("Time,Way,Kind,Peer,Number,Verdict,Changes,Conflicts,Detail\r\n"), "\(file.text)")
      #expect(file.text.contains(",in,changes,tablet,1,imported,1,0,") && !file.text.contains("broken"))
      #expect(file.header("Content-Type") == "text/csv; charset=utf-8")
    }
  }

  @Test("the page of the dataset has the rules in words, the versions, and who has which")
  func dataset() throws {
    try camp.inBrowser { browser throws in
      let page = browser.get("/dataset").text
      for words in [
        "A user sees", "rows with tier &lt;= :tier", "Versions of the definition", "scope=\"row\">tablet",
        "data-label=\"User\">ann",
      ] {
        #expect(page.contains(words), "\(words) in \(page)")
      }
      #expect(browser.get("/dataset.json").text.contains("\"dataset\""))
    }
  }

  // MARK: Upkeep

  @Test("a backup is made at once, and its age is shown")
  func backup() throws {
    try camp.inBrowser { browser throws in
      #expect(browser.get("/upkeep").text.contains("There is no backup yet."))
      #expect(browser.post("/backup", ["file": "monday.satchel"]).status == 400)
      let done = browser.work("/backup", ["file": camp.path("monday.satchel")]).text
      #expect(done.contains("Wrote \(camp.path("monday.satchel"))."), "\(done)")
      #expect(browser.get("/upkeep").text.contains("The last backup was made just now"))
      #expect(!browser.get("/").text.contains("There is none yet."))
    }
    #expect(camp.hub("backup", "--verify", camp.path("monday.satchel")).code == 0)
  }

  @Test("the doctor's findings come with their way out, and the repair is one button")
  func doctor() throws {
    try camp.writeUnseen("office.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r2'")
    try camp.inBrowser { browser throws in
      let found = browser.work("/doctor", [:]).text
      for words in ["The doctor found this:", "reviews: 0 inserted, 1 updated, 0 deleted unseen.", "name=\"repair\""] {
        #expect(found.contains(words), "\(words) in \(found)")
      }
      let repaired = browser.work("/doctor", ["repair": "1"]).text
      #expect(repaired.contains("Taken up."), "\(repaired)")
      let well = browser.work("/doctor", [:]).text
      #expect(well.contains("All is well.") && !well.contains("name=\"repair\""), "\(well)")
    }
  }

  @Test("the pages of the day's work keep the rules of all pages: small, one script, nothing inline")
  func pages() throws {
    try camp.inBrowser { browser throws in
      for path in ["/sticks", "/emit", "/log", "/dataset", "/upkeep", "/work"] {
        let page = browser.get(path)
        #expect(page.status == 200 && page.text.utf8.count < 20_000, "\(path)")
        #expect(page.text.components(separatedBy: "<script").count == 2, "\(path)")
        #expect(!page.text.contains("<style") && !page.text.contains(" style=") && !page.text.contains(" onclick"))
        #expect(page.text.components(separatedBy: "class=\"main\"").count <= 2, "\(path)")
        #expect(!page.text.contains("&lt;td") && !page.text.contains("Markup("))
        #expect(browser.post(path, [:], origin: "http://evil.example").status == 403, "\(path)")
      }
    }
  }
}
