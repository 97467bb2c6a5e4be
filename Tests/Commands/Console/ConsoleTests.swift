import Foundation
import SatchelCommands
import SatchelPlatform
import SatchelWeb
import Synchronization
import TestSupport
import Testing

@Suite("The console in a browser", .serialized)
struct ConsoleTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  /// Both sides change the same row, and the hub imports the device's change.
  private func quarrel(_ words: String = "mine") throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = '\(words)', stars = 2 WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'loud' WHERE id = 'r1'")
    camp.deliver("tablet", 1)
  }

  private func inBrowser(
    of other: CommandLineFixture? = nil, on platform: Platform = .real, _ body: (Browser) throws -> Void
  ) throws {
    try (other ?? camp).inBrowser(on: platform, body)
  }

  @Test("the address admits one browser, once; no other browser gets an answer")
  func token() throws {
    try inBrowser { browser throws in
      #expect(browser.get("/").text.contains("Hub hub of the dataset camp"))
      #expect(browser.open().status == 403)
      #expect(browser.get("/", cookie: nil).status == 403)
      #expect(browser.get("/", cookie: "satchel-\(browser.port)=0000").status == 403)
      #expect(browser.get("/?token=0000", cookie: nil).status == 403)
    }
  }

  @Test("the overview of a hub that was set back says so, and what to do next")
  func setBack() throws {
    try camp.carry("tablet", rounds: 2)
    for (name, copy) in [("hub", "copy"), ("office.sqlite", "copy.sqlite")] { try camp.copy(name, to: copy) }
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'later'")
    try camp.carry("tablet")
    for (name, copy) in [("hub", "copy"), ("office.sqlite", "copy.sqlite")] {
      try camp.remove(name)
      try camp.copy(copy, to: name)
    }
    #expect(camp.hub("import", try camp.export("tablet")).code == 3)
    try inBrowser { browser throws in
      let page = browser.get("/").text
      #expect(page.contains("This hub was set back") && page.contains("satchel-hub restore --in-place"))
    }
  }

  @Test("Enter in the form of a unit decides nothing: its first button is disabled")
  func unitForm() throws {
    let fixture = try TwoDeviceFixture(
      """
      CREATE TABLE stock (id TEXT PRIMARY KEY, qty INTEGER CHECK (qty >= 0));
      INSERT INTO stock VALUES ('a', 10), ('b', 0);
      """,
      #""stock": { "unit": "transaction", "columns": { "qty": "sum" } }"#)
    let camp = fixture.camp
    try camp.answer("tablet")
    try camp.sql(
      "tablet/data.sqlite",
      """
      BEGIN; UPDATE stock SET qty = qty - 8 WHERE id = 'a'; UPDATE stock SET qty = qty + 8 WHERE id = 'b'; COMMIT
      """)
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty - 5 WHERE id = 'a'")
    try camp.deliver("tablet")
    let id = try #require(try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.first?["id"]?.stringValue)
    try inBrowser(of: camp) { browser throws in
      let page = browser.get("/conflict?id=\(id)").text
      let first = try #require(page.firstRange(of: "<button"))
      #expect(page[first.lowerBound...].hasPrefix("<button disabled"))
    }
  }

  @Test("a session has two secrets, and the cookie is for the folder of the session alone")
  func folder() throws {
    try inBrowser { browser throws in
      #expect(browser.folder.count == 49 && browser.folder.dropFirst().allSatisfy(\.isHexDigit))
      let cookie = try #require(browser.cookie)
      let scope = "; HttpOnly; SameSite=Strict; Path=\(browser.folder)/"
      #expect(browser.entry.header("Set-Cookie")?.hasSuffix(scope) == true)
      for path in ["/", "/conflicts", "/\(String(repeating: "0", count: 48))/", browser.folder] {
        #expect(browser.get(outside: path, cookie: cookie).status == 403, "\(path)")
      }
      #expect(browser.get(outside: "\(browser.folder)/", cookie: nil).status == 403)
      #expect(browser.post("/../conflicts", ["policy": "hub"]).status != 303)
      // All links on the pages stay inside the session's folder.
      for page in ["/", "/conflicts", "/bundles", "/scopes", "/history"] {
        #expect(!browser.get(page).text.contains("=\"/"), "\(page)")
      }
    }
  }

  @Test("no body is read from a browser without a session, and the body of a page request is not kept")
  func bodies() throws {
    try inBrowser { browser throws in
      let strangers = (0..<8).map { _ in browser.begin("GET", "/", cookie: nil, bytes: 64 << 20) }
      for line in strangers { #expect(String(decoding: line.rest().prefix(12), as: UTF8.self) == "HTTP/1.1 403") }
      let form = Array("note=".utf8) + [UInt8](repeating: 0x61, count: 100 << 20)
      let page = browser.send(
        "GET", outside: "\(browser.folder)/", cookie: browser.cookie, more: Browser.form, body: form)
      #expect(page.status == 200)
    }
  }

  @Test(
    "connections that send nothing, or never end their first lines, do not block other browsers",
    arguments: ["", "GET / HTTP/1.1\r\nHost: "])
  func silence(beginning: String) throws {
    try inBrowser { browser throws in
      let upload = browser.begin([UInt8](repeating: 1, count: 300_000), of: 1_000_000)
      try ask(browser) { try !inbox().isEmpty }
      let silent = (0..<300).map { _ in
        let line = Line(port: browser.port)
        line.send(Array(beginning.utf8))
        return line
      }
      // If the server waited until it closes the silent connections, its answer would take longer.
      let time = ContinuousClock().measure { #expect(browser.get("/").status == 200) }
      #expect(time < .seconds(8))
      // The server does not close the upload's connection, because its browser is admitted.
      #expect(try inbox().count == 1)
      for line in silent.prefix(200) { #expect(line.rest().isEmpty) }
      #expect(browser.get("/conflicts").status == 200)
      upload.hangUp()
      try ask(browser) { try inbox().isEmpty }
    }
  }

  @Test("another name for this machine, and forms of other sites, are refused")
  func strangers() throws {
    try quarrel()
    try inBrowser { browser throws in
      for host in ["evil.example", "evil.example:\(browser.port)", "127.0.0.1", "127.0.0.1:1"] {
        #expect(browser.get("/", host: host).status == 403, "\(host)")
      }
      #expect(browser.get("/", host: "localhost:\(browser.port)").status == 200)
      for origin in [nil, "null", "http://evil.example", "https://127.0.0.1:\(browser.port)"] {
        #expect(browser.post("/conflicts", ["policy": "hub"], origin: origin).status == 403)
      }
      #expect(browser.send("DELETE", "/").status == 405)
      #expect(camp.hub("conflicts").out.contains("update/update"))
    }
  }

  @Test("every page has its content, forbids foreign scripts and frames, and keeps nothing")
  func pages() throws {
    try quarrel("<b>mine</b>")
    try camp.writeDamagedBundle("broken.satchel")
    camp.hub("import", camp.path("broken.satchel"))
    try inBrowser { browser throws in
      let id = try #require(
        try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.first?["id"]?.stringValue)
      for (path, words) in [
        (
          "/",
          ["those with trouble first", "device?name=tablet\">tablet", "type=\"file\"", "href=\"conflicts?state=open\""]
        ),
        ("/conflicts", ["reviews [r1]", "1 in all, page 1 of 1", "Decide for all 1 ...", "loud", "&lt;b&gt;mine"]),
        (
          "/conflict?id=\(id)",
          ["&lt;b&gt;mine&lt;/b&gt;", "class=\"differs\"", "words, Hub: </span>loud", "Another value for words"]
        ),
        ("/history?table=reviews&key=r1", ["words: quiet -&gt; loud", "The row now"]),
        ("/history", ["<select id=\"table\""]), ("/scopes", ["ann", "tier=1", "tablet: just now", "phone: never"]),
        ("/scopes?user=ann", ["Rows to be seen", "Why does ann see a row"]),
        ("/scopes?user=ann&table=sites&key=cave", ["not to be seen by ann", "tier &lt;= :tier"]),
        ("/bundles", ["Refused files", "broken.satchel", "The newest bundles"]),
      ] {
        let page = browser.get(path)
        #expect(page.status == 200)
        for words in words { #expect(page.text.contains(words), "\(path): \(words) in \(page.text)") }
        #expect(
          page.headers.contains("frame-ancestors 'none'")
            && page.headers.lowercased().contains("cache-control: no-store"))
        #expect(page.headers.contains("script-src 'self'; img-src 'self';") && !page.headers.contains("unsafe"))
        #expect(page.text.components(separatedBy: "<script").count == 2)
        #expect(!page.text.contains("<style") && !page.text.contains(" style=") && !page.text.contains(" onclick"))
        #expect(!page.text.contains("&lt;td") && !page.text.contains("Markup("))
      }
      #expect(browser.get("/nowhere").status == 404)
      #expect(browser.get("/conflict?id=zz").text.contains("There is no conflict"))
      #expect(browser.get("/scopes?user=nobody").status == 409)
    }
  }

  @Test(
    """
    a conflict of geometries is shown in words and in full; well-known text decides it, and no file of the machine \
    does
    """
  )
  func geometries() throws {
    func point(_ x: String, _ y: String) -> String { "x'47500001797f00000101000000\(x)\(y)'" }
    let (one, seven, eight) = ("000000000000f03f", "0000000000001c40", "0000000000002040")
    let quarrel = try TwoDeviceFixture(
      """
      CREATE TABLE gpkg_spatial_ref_sys (srs_id INTEGER, organization_coordsys_id INTEGER, definition TEXT);
      CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER, z, m);
      INSERT INTO gpkg_spatial_ref_sys VALUES (32633, 32633, 'PROJCS["x",GEOGCS["y"],UNIT["metre",1]]');
      INSERT INTO gpkg_geometry_columns VALUES ('trees', 'geom', 'POINT', 32633, 0, 0);
      CREATE TABLE trees (id TEXT PRIMARY KEY, geom POINT);
      INSERT INTO trees VALUES ('t', \(point(one, one)));
      """, #""trees": { "conflict": "manual" }"#)
    try quarrel.sql("tablet", "UPDATE trees SET geom = \(point(one, eight))")
    try quarrel.sql("phone", "UPDATE trees SET geom = \(point(eight, one))")
    for name in ["tablet", "phone"] { quarrel.hear(try quarrel.export(name)) }
    try inBrowser(of: quarrel.camp) { browser throws in
      let list = browser.get("/conflicts").text
      #expect(list.contains("trees [t]") && list.contains(": moved, 7.0 m"), "\(list)")
      let id = try #require(
        try quarrel.camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.first?["id"]?.stringValue)
      let page = browser.get("/conflict?id=\(id)").text
      #expect(
        page.contains("geom at the hub (full line): Point (1 8); moved, 7.0 m")
          && page.contains("POINT (8 1)</details>"))
      let mark = try #require(page.components(separatedBy: "name=\"row\" value=\"").last?.prefix { $0 != "\"" })
      let fields = ["id": id, "row": String(mark), "keep": "columns", "pick0": "own"]
      try Data("POINT (7 7)".utf8).write(to: URL(fileURLWithPath: quarrel.camp.path("hub/tree.wkt")))
      for words in ["@tree.wkt", "@\(quarrel.camp.path("hub/tree.wkt"))", "somewhere"] {
        let refused = browser.post("/conflict", fields.merging(["own0": words]) { $1 })
        #expect(refused.status == 409 && refused.text.contains("is no geometry"), "\(refused.text)")
      }
      #expect(browser.post("/conflict", fields.merging(["own0": "POINT (7 7)"]) { $1 }).status == 303)
      #expect(try quarrel.rows("office", "SELECT lower(quote(geom)) FROM trees") == point(seven, seven))
    }
  }

  @Test("a conflict is decided column by column; a page that does not show the present row decides nothing")
  func deciding() throws {
    try quarrel()
    try inBrowser { browser throws in
      let id = try #require(
        try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.first?["id"]?.stringValue)
      let mark = try #require(
        browser.get("/conflict?id=\(id)").text.components(separatedBy: "name=\"row\" value=\"").last?.prefix {
          $0 != "\""
        })
      let fields = ["id": id, "row": String(mark), "keep": "columns", "note": "asked them"]
      #expect(browser.post("/conflict", fields).text.contains("nothing was chosen"))
      let words = (0..<3).first { place in
        browser.get("/conflict?id=\(id)").text.contains(
          "words</th><td data-label=\"Before\"><label class=\"pick\"><input type=\"radio\" name=\"pick\(place)\"")
      }
      let place = try #require(words)
      let chosen = fields.merging(["pick\(place)": "own", "own\(place)": "so & so, ä=1"]) { $1 }
      try camp.sql("office.sqlite", "UPDATE reviews SET words = 'again' WHERE id = 'r1'")
      #expect(browser.post("/conflict", chosen).status == 409)
      #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "again")
      let now = browser.get("/conflict?id=\(id)").text.components(separatedBy: "name=\"row\" value=\"").last?.prefix {
        $0 != "\""
      }
      #expect(browser.post("/conflict", chosen.merging(["row": String(try #require(now))]) { $1 }).status == 303)
      #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "so & so, ä=1")
      #expect(browser.get("/conflict?id=\(id)").text.contains("asked them"))
      #expect(browser.post("/conflict", chosen).text.contains("was decided already"))
    }
  }

  @Test("a value of a megabyte and a row with a thousand changes make pages that browsers can load")
  func large() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'a' || printf('%.*c', 1000000, 'x') WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'b' || printf('%.*c', 1000000, 'x') WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    for stars in 1...510 {
      try camp.sql("office.sqlite", "UPDATE reviews SET stars = \(stars) WHERE id = 'r2'")
      camp.hub("scope", "show", "ben")
    }
    try inBrowser { browser throws in
      let id = try #require(
        try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.first?["id"]?.stringValue)
      let page = browser.get("/conflict?id=\(id)")
      #expect(page.text.contains("(1000001 bytes in all)") && page.text.utf8.count < 20_000)
      let history = browser.get("/history?table=reviews&key=r2")
      #expect(history.text.contains("510 changes, the newest first") && history.text.utf8.count < 20_000)
    }
  }

  @Test("ten thousand conflicts are shown in pages, and decided by a rule")
  func many() throws {
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'x' WHERE id = 'r1'")
    try camp.sql(
      "tablet/data.sqlite",
      """
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
      INSERT INTO reviews SELECT 'm' || i, 'lake', 'ann', 1, 'mine' FROM n
      """)
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'tablet' WHERE id LIKE 'm%'")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'office' WHERE id LIKE 'm%'")
    camp.deliver("tablet", 2)
    try inBrowser { browser throws in
      let first = browser.get("/conflicts")
      #expect(first.text.contains("10000 in all, page 1 of 500") && first.text.utf8.count < 20_000)
      #expect(first.text.contains("rel=\"next\"") && !first.text.contains("rel=\"prev\""))
      let last = browser.get("/conflicts?page=500")
      #expect(last.text.contains("rel=\"prev\"") && !last.text.contains("rel=\"next\""))
      #expect(browser.get("/conflicts?page=99999999999999999999").status == 200)
      #expect(browser.get("/conflicts?page=-1&table=sites").text.contains("No conflict waits"))
      for path in ["/", "/conflicts?text=tablet&user=ann", "/decide?all=1&policy=hub", "/bundles", "/rows?text=mine"] {
        let page = browser.get(path)
        #expect(page.status == 200 && page.text.utf8.count <= 20_000, "\(path): \(page.text.utf8.count)")
      }
      let all = ["policy": "device", "table": "reviews", "note": "all theirs", "all": "1"]
      #expect(browser.post("/conflicts", all).text.contains("the field seen is empty"))
      #expect(browser.post("/conflicts", all.merging(["seen": "0"]) { $1 }).text.contains("there are 10000 now"))
      let seen = browser.get("/decide?all=1&policy=device&table=reviews").setMark
      let done = browser.post("/conflicts", all.merging(["seen": seen]) { $1 })
      #expect(done.text.contains("10000 conflicts decided by the rule device"))
      #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM reviews WHERE words = 'tablet'") == "10000")
    }
  }

  @Test("a browser imports bundles; other files are refused, and so is an upload without room for it")
  func upload() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.device("tablet", "export")
    let bundle = try camp.read("tablet/bundles/outbox/camp-tablet-hub-1.satchel")
    try inBrowser { browser throws in
      let done = browser.upload([("camp-tablet-hub-1.satchel", bundle), ("../../evil name", Array("no bundle".utf8))])
      #expect(done.text.contains("Bundle 1 of tablet: 1 change taken") && done.text.contains("2-evilname.satchel"))
      #expect(try camp.rows("office.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'") == "1")
      #expect(browser.upload([]).text.contains("no file was chosen"))
      // A form field without a file is never written to the disk.
      let field = [UInt8](repeating: 0x61, count: (64 << 20) + 1)
      #expect(browser.post("/conflicts", ["note": String(decoding: field, as: UTF8.self)]).status == 413)
      #expect(try inbox().isEmpty)
    }
    let cramped = Platform(files: TroubledFiles(free: 2 << 20), clock: SystemClock(), random: SystemRandom())
    try inBrowser(on: cramped) { browser throws in
      let refused = browser.upload([("large.satchel", [UInt8](repeating: 0, count: 3 << 20))])
      #expect(
        refused.status == 409 && refused.text.contains("There is no room for 3 MiB: 2 MiB are free"), "\(refused)")
      #expect(try inbox().isEmpty)
      #expect(browser.upload([("small.satchel", [UInt8](repeating: 0, count: 1 << 20))]).status == 200)
    }
  }

  /// The names of the files in the hub's inbox.
  private func inbox() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: camp.path("hub/bundles/inbox"))
  }

  /// Requests pages from the console until a condition holds. The console serves one request after another. Between two
  /// requests it notices closed connections.
  private func ask(_ browser: Browser, until isSo: () throws -> Bool) throws {
    for _ in 0..<10_000 { if try isSo() { return } else { _ = browser.get("/nowhere") } }
    Issue.record("it never came to be so")
  }

  @Test("half an upload leaves nothing, and the next command removes the rest of a killed console")
  func halfUpload() throws {
    try inBrowser { browser throws in
      let line = browser.begin([UInt8](repeating: 1, count: 300_000), of: 1_000_000)
      try ask(browser) { try !inbox().isEmpty }
      // While the file arrives, another command can work, and does not remove the incomplete file.
      #expect(camp.hub("emit", "--all").code == 0)
      #expect(try inbox().count == 1)
      line.hangUp()
      try ask(browser) { try inbox().isEmpty }
      // Without admission, a browser cannot even begin an upload.
      #expect(browser.post("/import", ["files": "x"], origin: "http://evil.example").status == 403)
    }
    try camp.makeFolder("hub/bundles/inbox/.satchel-arriving-0123456789abcdef")
    try camp.write("hub/bundles/inbox/.satchel-arriving-0123456789abcdef/1-half.satchel", "half")
    camp.hub("emit", "--all")
    #expect(try inbox().isEmpty)
  }

  @Test("a bundle of more than 64 MiB comes by a browser, piece by piece, and is never in the console's memory")
  func largeUpload() throws {
    let camp = try CommandLineFixture()
    try camp.open(
      "CREATE TABLE films (id TEXT PRIMARY KEY, film TEXT)",
      #"{ "dataset": "camp", "version": 1, "attributes": { "tier": "integer" }, "tables": { "films": { "attachments": ["film"] } } }"#
    )
    try camp.makeFolder("tablet/files")
    let film = try #require(try FileHandle(forReadingAtPath: "/dev/urandom")?.read(upToCount: 66 << 20))
    try film.write(to: URL(filePath: camp.path("tablet/files/oak.mpg")))
    try camp.sql("tablet/data.sqlite", "INSERT INTO films VALUES ('f1', 'oak.mpg')")
    camp.device("tablet", "export")
    let console = try ChildProcess(builtProgram("satchel-hub"), ["-C", camp.path("hub"), "console", "--json"])
    defer {
      console.terminate()
      console.wait()
    }
    var said: [UInt8] = []
    while !said.contains(UInt8(ascii: "}")) {
      let more = console.read()
      if more.isEmpty { break }
      said += more
    }
    let address = try CommandLineFixture.Outcome(code: 0, out: String(decoding: said, as: UTF8.self), error: "").json[
      "address"]
    let browser = try Browser(try #require(address?.stringValue))
    let done = try browser.upload(fileAt: camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel"))
    #expect(done.text.contains("Bundle 1 of tablet: 1 change taken.\n1 file came with it."), "\(done)")
    #expect(
      FileManager.default.contentsEqual(
        atPath: camp.path("hub/files/oak.mpg"), andPath: camp.path("tablet/files/oak.mpg")))
    let status = try String(contentsOfFile: "/proc/\(console.identifier)/status", encoding: .utf8)
    let peak = status.components(separatedBy: "\n").first { $0.hasPrefix("VmHWM:") }?.split(whereSeparator: {
      !$0.isNumber
    })
    .first
    let kibibytes = try #require(peak.flatMap { Int($0) })
    #expect(kibibytes < mebibytesAllowed(usually: 48) << 10, "\(kibibytes) KiB")
  }

  @Test("a missing hub, a wrong port and a used port are reported; a tool without a server says so")
  func refusals() throws {
    #expect(camp.hub("console", "--port", "x").code == 2)
    #expect(camp.hub("console").error.contains("without the console"))
    try inBrowser { browser throws in
      let console = CollectingConsole()
      let code = runHubTool(
        ["-C", camp.path("hub"), "console", "--port", "\(browser.port)"], console: console, endRequest: EndOfTest(),
        webServer: LoopbackServer())
      #expect(code == 1 && console.errorText.contains("127.0.0.1:\(browser.port)"))
    }
  }
}
