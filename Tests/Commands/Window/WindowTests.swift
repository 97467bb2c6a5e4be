import Foundation
import SatchelPlatform
import SatchelWeb
import TestSupport
import Testing

@testable import SatchelCommands

/// The pages of a device for people who do not use a terminal.
@Suite("The window of a device", .serialized)
struct WindowTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.plug(["blue", "red"])
    try camp.mount([])
  }

  private static let everything = "Everything is at the office."

  private func change(_ words: String = "mine") throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = '\(words)' WHERE id = 'r1'")
  }

  /// The fields of the form with the stick's button, read from the page.
  private func form(_ name: String, _ browser: Browser) throws -> [String: String] {
    let page = browser.get("/").text
    let part = try #require(page.components(separatedBy: "value=\"\(camp.path(name))\"").dropFirst().first, "\(page)")
    let mark = try #require(part.components(separatedBy: "name=\"mark\" value=\"").dropFirst().first)
    return ["stick": camp.path(name), "mark": String(mark.prefix { $0 != "\"" })]
  }

  /// Presses the stick's button. Returns the page with the result.
  private func sync(_ name: String, _ browser: Browser) throws -> String {
    browser.work("/sync", try form(name, browser)).text
  }

  // MARK: Protection

  @Test("the address admits one browser, once; foreign hosts and forms are refused, in the language of the browser")
  func gate() throws {
    try camp.mount(["blue"])
    try change()
    try camp.inWindow { browser throws in
      #expect(browser.get("/").status == 200)
      #expect(browser.open().status == 403)
      #expect(browser.get("/", cookie: nil).status == 403)
      #expect(browser.get(outside: "/", cookie: browser.cookie).status == 403)
      #expect(browser.get("/", host: "evil.example").status == 403)
      let fields = try form("blue", browser)
      for origin in [nil, "null", "http://evil.example"] {
        #expect(browser.post("/sync", fields, origin: origin).status == 403)
      }
      #expect(browser.send("DELETE", "/").status == 405)
      let refused = browser.send(
        "GET", outside: "/", cookie: nil, more: ["Accept-Language: de"])
      #expect(refused.status == 403 && refused.text.contains("<html lang=\"de\">"), "\(refused)")
      #expect(refused.text.contains("Starten Sie satchel window neu.") == false)
      #expect(refused.text.contains("Öffnen Sie die Adresse, die satchel window zeigt."), "\(refused)")
      // None of the refused forms has begun any work.
      #expect(browser.get("/work").text.contains("No synchronisation was started here yet."))
    }
  }

  @Test("a form must come from the address that it goes to: another server may have the other name of this machine")
  func otherName() throws {
    try camp.mount(["blue"])
    try change()
    try camp.inWindow { browser throws in
      let fields = try form("blue", browser)
      #expect(browser.post("/sync", fields, origin: "http://localhost:\(browser.port)").status == 403)
      #expect(browser.get("/work").text.contains("No synchronisation was started here yet."))
    }
  }

  @Test("each page is small, has no script and nothing from elsewhere, and keeps nothing")
  func pages() throws {
    try camp.mount(["blue"])
    try change("<b>mine</b>")
    try camp.inWindow { browser throws in
      for path in ["/", "/work", "/nowhere"] {
        let page = browser.get(path)
        #expect(page.status == (path == "/nowhere" ? 404 : 200) && page.text.utf8.count < 20_000, "\(path)")
        let rules = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        #expect(page.header("Content-Security-Policy") == rules, "\(page.headers)")
        #expect(page.header("X-Frame-Options") == "DENY" && page.header("Cache-Control") == "no-store")
        // All buttons are large enough for a finger, so no link looks like a button.
        #expect(!page.text.contains("class=\"button\""), "\(page.text)")
        for part in ["<script", "<style", " style=", " onclick", "&lt;p", "Markup(", "=\"/\"", "=\"http"] {
          #expect(!page.text.contains(part), "\(path): \(part) in \(page.text)")
        }
      }
      #expect(browser.get("/style.css").header("Content-Type") == "text/css; charset=utf-8")
      #expect(browser.post("/language", ["to": "fr"]).status == 404)
    }
  }

  @Test("a missing workspace and a program without a server are reported before any page is shown")
  func refusals() throws {
    #expect(camp.device("tablet", "window").error.contains("without the window"))
    #expect(camp.device("tablet", "window", "--port", "x").code == 2)
    let console = CollectingConsole()
    let code = runDeviceTool(["-C", camp.path("none"), "window"], console: console, webServer: LoopbackServer())
    #expect(code == 1 && !console.errorText.isEmpty)
  }

  // MARK: Sticks

  @Test("without a stick the page says so, and looks again by itself")
  func noStick() throws {
    try camp.inWindow { browser throws in
      let page = browser.get("/")
      #expect(page.text.contains("No stick is plugged in.") && !page.text.contains("<form"), "\(page.text)")
      #expect(page.header("Refresh") == "10")
      try camp.mount(["blue"])
      let later = browser.get("/").text
      #expect(later.contains("Synchronise with stick blue") && !later.contains("No stick is plugged in."), "\(later)")
    }
  }

  @Test("a stick whose place another stick took since the page was made is not used")
  func otherStick() throws {
    try camp.mount(["blue", "red"])
    try change()
    try camp.inWindow { browser throws in
      let page = browser.get("/").text
      #expect(page.contains("Synchronise with stick blue") && page.contains("Synchronise with stick red"), "\(page)")
      let fields = try form("red", browser)
      // Another medium is now mounted at the path of the red stick.
      try camp.mount(["blue", "red"], from: 40)
      let refused = browser.post("/sync", fields)
      #expect(refused.status == 409 && refused.text.contains("or another stick is in its place"), "\(refused.text)")
      try camp.mount(["blue"])
      #expect(browser.post("/sync", fields).status == 409)
      #expect(browser.post("/sync", ["stick": camp.path("red")]).status == 400)
      for name in ["red", "blue"] { #expect(!FileManager.default.fileExists(atPath: camp.path("\(name)/SATCHEL"))) }
      // A form can only choose a plugged-in stick. It cannot choose another folder.
      try camp.makeFolder("plain")
      #expect(browser.post("/sync", ["stick": camp.path("plain"), "mark": fields["mark"] ?? ""]).status == 409)
    }
  }

  @Test("while a sync runs, its page says with which stick, and no other sync begins")
  func meanwhile() throws {
    try camp.mount(["blue", "red"])
    try change()
    try camp.makeFolder("tablet/hooks")
    try camp.write("tablet/hooks/after-sync", "#!/bin/sh\ncat \(camp.path("gate")) > \(camp.path("passed"))\n")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: camp.path("tablet/hooks/after-sync"))
    #expect(mkfifo(camp.path("gate"), 0o600) == 0)
    try camp.inWindow { browser throws in
      let red = try form("red", browser)
      let begun = browser.post("/sync", try form("blue", browser))
      #expect(begun.status == 303 && begun.header("Location") == "work")
      // The work runs a hook, and the hook waits for a file that this test writes later.
      let page = browser.get("/work")
      #expect(page.header("Refresh") == "1" && page.text.contains("Synchronising with stick blue"), "\(page)")
      let second = browser.post("/sync", red)
      #expect(second.status == 409 && second.text.contains("Satchel still works with the stick blue."), "\(second)")
      let home = browser.get("/").text
      #expect(home.contains("Satchel still works with the stick blue.") && !home.contains("<form"), "\(home)")
      let gate = try #require(FileHandle(forWritingAtPath: camp.path("gate")))
      try gate.write(contentsOf: Data("open".utf8))
      try gate.close()
      #expect(browser.result(after: begun).text.contains("You can remove the stick blue."))
      #expect(!FileManager.default.fileExists(atPath: camp.path("red/SATCHEL")))
    }
  }

  @Test("a sync that fails says what to do, and never that the stick can be removed as if all was done")
  func failure() throws {
    try camp.mount(["blue"])
    try change()
    try camp.inWindow { browser throws in
      let fields = try form("blue", browser)
      // The app's table is missing, so the device cannot export.
      try camp.sql("tablet/data.sqlite", "DROP TABLE reviews")
      let result = browser.work("/sync", fields).text
      #expect(result.contains("The synchronisation with stick blue is not complete"), "\(result)")
      #expect(!result.contains("You can remove the stick"), "\(result)")
      #expect(result.contains("<details lang=\"en\" open>"), "\(result)")
      let home = browser.get("/").text
      #expect(home.contains("satchel doctor --repair records it") && !home.contains(Self.everything), "\(home)")
    }
  }

  // MARK: Whether everything is at the office

  @Test("the window says that everything is at the office only after the office has confirmed it")
  func confirmed() throws {
    try camp.mount(["blue"])
    try change()
    try camp.inWindow { browser throws in
      var page = browser.get("/").text
      #expect(page.contains("Some of your work is not at the office yet."), "\(page)")
      #expect(page.contains("1 change waits for a stick.") && !page.contains(Self.everything), "\(page)")
      let first = try sync("blue", browser)
      for words in [
        "Synchronised with stick blue", "Your work is on the stick.", "It has 1 change of yours.",
        "You can remove the stick blue.",
      ] {
        #expect(first.contains(words), "\(words) in \(first)")
      }
      page = browser.get("/").text
      #expect(page.contains("Your work is under way.") && page.contains("1 change is packed"), "\(page)")
      #expect(!page.contains(Self.everything), "\(page)")
      #expect(camp.hub("sync", camp.path("blue")).code == 0)
      // The office has the changes, but this device does not know it yet.
      #expect(!browser.get("/").text.contains(Self.everything))
      #expect(try sync("blue", browser).contains("You can remove the stick blue."))
      page = browser.get("/").text
      #expect(page.contains(Self.everything) && page.contains("card good"), "\(page)")
      #expect(page.contains("Last synchronised</dt>") && page.contains("(just now)"), "\(page)")
      #expect(!page.contains("<h2>Not at the office</h2>"), "\(page)")
    }
  }

  @Test("changes that were exported and undone since are still under way until the office confirms the export")
  func undone() throws {
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r9', 'lake', 'ann', 1, 'new')")
    #expect(camp.device("tablet", "export").code == 0)
    try camp.sql("tablet/data.sqlite", "DELETE FROM reviews WHERE id = 'r9'")
    try camp.inWindow { browser throws in #expect(!browser.get("/").text.contains(Self.everything)) }
    try camp.carry("tablet", rounds: 2)
    try camp.inWindow { browser throws in
      let page = browser.get("/").text
      #expect(page.contains(Self.everything), "\(page)")
    }
  }

  @Test("an open conflict is shown side by side, and a decision counts as missing until the office has it")
  func decision() throws {
    try change("<i>mine</i>")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'loud' WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    try camp.inWindow { browser throws in
      let page = browser.get("/").text
      for words in [
        "Changes that met others: 1", "Both sides changed the same value.", "At the office\">loud<",
        "On this device\">&lt;i&gt;mine&lt;/i&gt;<", "Before\">quiet<", "reviews [r1]",
      ] {
        #expect(page.contains(words), "\(words) in \(page)")
      }
      #expect(camp.device("tablet", "conflicts", "resolve", "--all", "--policy", "hub").code == 0)
      let decided = browser.get("/").text
      #expect(decided.contains("1 decision of yours is not known to be at the office."), "\(decided)")
      #expect(!decided.contains(Self.everything) && !decided.contains("Changes that met others"), "\(decided)")
      try camp.carry("tablet", rounds: 2)
      #expect(browser.get("/").text.contains(Self.everything))
    }
  }

  @Test("an empty value of a conflict is in the language of the page")
  func emptyValue() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = NULL WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'loud' WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    try camp.inWindow { browser throws in
      let page = browser.get("/", language: "fr").text
      #expect(page.contains(">(vide)<") && !page.contains(">NULL<"), "\(page)")
    }
  }

  @Test("a conflict that this device found counts as missing until the office has its report")
  func unreported() throws {
    try change()
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'loud' WHERE id = 'r1'")
    camp.answer("tablet", 2)
    try camp.inWindow { browser throws in
      let page = browser.get("/").text
      #expect(page.contains("The office does not know yet of 1 change that met another one."), "\(page)")
      #expect(!page.contains(Self.everything), "\(page)")
    }
  }

  @Test("a row without a key, which cannot be carried, counts as missing")
  func namelessRow() throws {
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES (NULL, 'lake', 'ann', 1, 'new')")
    try camp.carry("tablet", rounds: 2)
    try camp.inWindow { browser throws in
      let page = browser.get("/").text
      #expect(page.contains("1 row has no key and cannot be carried.") && !page.contains(Self.everything), "\(page)")
    }
  }

  @Test("writes that no trigger saw make the answer uncertain, and the way out is named")
  func damage() throws {
    try camp.sql("tablet/data.sqlite", CommandLineFixture.dropTriggers)
    try camp.inWindow { browser throws in
      let page = browser.get("/").text
      #expect(page.contains("Something is wrong here.") && !page.contains(Self.everything), "\(page)")
      #expect(page.contains("satchel doctor --repair records it"), "\(page)")
    }
  }

  @Test("a damaged database leaves the page and its buttons usable, and everything is not said to be at the office")
  func damagedFile() throws {
    try camp.mount(["blue"])
    try camp.loseDatabase(of: "tablet", leaving: "this is no database, but it has more than a hundred bytes of text")
    try camp.inWindow { browser throws in
      let page = browser.get("/")
      #expect(page.status == 200 && page.text.contains("Synchronise with stick blue"), "\(page.text)")
      #expect(!page.text.contains(Self.everything) && page.text.contains("Attention"), "\(page.text)")
    }
  }
}

/// Files that rows name, in the window.
@Suite("Files in the window of a device", .serialized)
struct WindowFileTests: PhotoStory {
  let camp: CommandLineFixture

  init() throws { camp = try Self.openCamp() }

  @Test(
    "a file that cannot be carried is named, with what to do",
    arguments: [(5000, "oak.jpg: it is too large to be carried."), (0, "oak.jpg: it is not on this device.")])
  func names(bytes: Int, words: String) throws {
    if bytes > 0 { try photo("oak.jpg", in: "tablet", String(repeating: "x", count: bytes)) }
    try review("r1", "lake", "oak.jpg", in: "tablet/data.sqlite")
    try camp.inWindow { browser throws in
      let page = browser.get("/").text
      #expect(page.contains("Files and photos that need you") && page.contains(words), "\(page)")
    }
  }

  @Test(
    "a file that cannot be carried, or has not been carried, counts as missing", arguments: [5000, 3000, 0])
  func files(bytes: Int) throws {
    if bytes > 0 { try photo("oak.jpg", in: "tablet", String(repeating: "x", count: bytes)) }
    try review("r1", "lake", "oak.jpg", in: "tablet/data.sqlite")
    // This size leaves no room for any file.
    #expect(camp.device("tablet", "export", "--files-size", "1K").code == 0)
    #expect(camp.hub("import", camp.path(export(1))).code == 0)
    camp.answer("tablet", 2)
    try camp.inWindow { browser throws in
      let page = browser.get("/").text
      let lack = bytes == 3000 ? "1 file or photo waits for a stick." : "1 file or photo cannot be carried:"
      #expect(page.contains(lack) && !page.contains("Everything is at the office."), "\(page)")
      if bytes == 3000 {
        try camp.carry("tablet", rounds: 2)
        #expect(browser.get("/").text.contains("Everything is at the office."))
      }
    }
  }
}
